// Package permissions proves manifests/rbac on a real control plane: fairway-scheduler, as its service account, goes through everything it does, is
// refused nothing, and uses every right that it has.
//
// In: the manifests, the scheduler (in processes that are this test's program again), pkg/localcluster, test/people. Out: what the audit log of the API
// server says of that account, compared with the roles that are bound to it. How the scheduler schedules is judged elsewhere.
package permissions

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/cli"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

const (
	namespace = "fairway-system"
	account   = "fairway-scheduler"
	// asScheduler in the environment makes this program the scheduler, so that nothing more is to be built and the scheduler may end its process.
	asScheduler = "FAIRWAY_TEST_AS_SCHEDULER"
	loopback    = "127.0.0.1"
)

var manifests = filepath.Join("..", "..", "manifests")

func TestMain(m *testing.M) {
	if os.Getenv(asScheduler) != "" {
		os.Exit(cli.Run(app.NewCommand()))
	}
	os.Exit(m.Run())
}

// replica is one of the two replicas of the scheduler.
type replica struct {
	*localcluster.Child
	url string
}

// configuration is the installed one, with checkAccess, for a scheduler outside of the cluster.
func configuration(t *testing.T, kubeconfig string) (path string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, "scheduler", "configuration.yaml"))
	must(t, err)
	var file corev1.ConfigMap
	must(t, yaml.UnmarshalStrict(text, &file))
	config := file.Data["config.yaml"]
	for from, to := range map[string]string{
		"clientConnection:": "clientConnection:\n  kubeconfig: " + kubeconfig, "checkAccess: false": "checkAccess: true",
	} {
		if !strings.Contains(config, from) {
			t.Fatalf("the configuration does not say %q", from)
		}
		config = strings.Replace(config, from, to, 1)
	}
	path = filepath.Join(t.TempDir(), "config.yaml")
	must(t, os.WriteFile(path, []byte(config), 0o600))
	return path
}

// startReplica runs the scheduler as installed, with checkAccess. It ends with the test.
func startReplica(t *testing.T, name, kubeconfig string, flags ...string) replica {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	must(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, errors.Join(err, listener.Close())) // another process could take it now; then the replica ends with an error
	dir := t.TempDir()
	child, err := localcluster.StartChild(localcluster.ChildSpec{
		Name: name, Program: program, Dir: dir, LogPath: filepath.Join(dir, name+".log"), Env: []string{asScheduler + "=yes"},
		Args: append(flags,
			"--config="+configuration(t, kubeconfig), "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
			"--bind-address="+loopback, "--secure-port="+port),
	})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s logged last:\n%s", name, child.Tail())
		}
		child.Kill()
	})
	return replica{child, "https://" + net.JoinHostPort(loopback, port)}
}

// scrape asks for the metrics as somebody whom the scheduler must ask the API server about. He may not read them.
func (r replica) scrape(t *testing.T, who *people.User) error {
	t.Helper()
	config := &rest.Config{BearerToken: who.Config.BearerToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	client, err := rest.HTTPClientFor(config)
	must(t, err)
	response, err := client.Get(r.url + "/metrics")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		return fmt.Errorf("the scheduler answers %s", response.Status)
	}
	return nil
}

// resign asks the replica to end. It must leave the lease to the other.
func (r replica) resign(t *testing.T) {
	t.Helper()
	r.Signal(syscall.SIGTERM)
	select {
	case <-r.Exited():
		if code := r.State().ExitCode(); code != 0 {
			t.Errorf("%s, asked to end, did so with %d", r.Name, code)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s does not end", r.Name)
	}
}

// install applies the manifests of the scheduler and of access, and waits until its rights are in force.
func install(t *testing.T, w *people.World) *people.User {
	t.Helper()
	ctx := t.Context()
	for _, part := range []string{"", "access"} {
		_, err := w.Kubectl(ctx, "apply", "--validate=strict", "-k", filepath.Join(manifests, part))
		must(t, err)
	}
	for _, crd := range []string{"queues.scheduling.fairway.dev", "placementpolicies.scheduling.fairway.dev", "reservations.scheduling.fairway.dev", "podgroups.scheduling.x-k8s.io"} {
		_, err := w.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd/"+crd)
		must(t, err)
	}
	scheduler := w.Account(t, namespace, account)
	for where, rule := range map[string]rbacv1.PolicyRule{
		"":            {Verbs: []string{"watch"}, APIGroups: []string{""}, Resources: []string{"nodes"}},
		namespace:     {Verbs: []string{"create"}, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
		"kube-system": {Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"extension-apiserver-authentication"}},
	} {
		w.AwaitRight(t, scheduler, where, rule)
	}
	return scheduler
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
