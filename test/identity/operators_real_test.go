package identity

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

// operators is set by make test-operators, which builds them first: hack/build-operators.sh.
var operators = flag.Bool("operators", false, "play with operators that people run")

// What people run, from the release that is pinned in hack/operators: the pods of an application carry who submitted it, and the operator, which
// reads and writes its own objects, rolls nothing because of the stamps.
func TestOperatorsThatPeopleRunCarryStamps(t *testing.T) {
	if !*operators {
		t.Skip("for make test-operators")
	}
	w := startWorld(t, localcluster.Options{AccountPerController: true})
	t.Cleanup(func() { must(t, w.Stop()) })
	kinds, err := dynamic.NewForConfig(w.Cluster.RESTConfig())
	must(t, err)
	for _, name := range []string{"kuberay", "jobset", "training"} {
		must(t, localcluster.InstallCRDs(t.Context(), kinds, operatorFile(t, name+"-crds")))
	}
	install(t, w, "identity-operators")
	runOperator(t, w, customs[0], "kuberay", "--metrics-addr=0", "--health-probe-bind-address=0", "--enable-leader-election=false")
	runOperator(t, w, customs[3], "jobset", "--config="+jobSetConfig(t))
	runOperator(t, w, customs[4], "training")

	home := w.Namespace(t, "people")
	ann := w.Person(t, "ann", "analysts")
	w.Edit(t, home, ann)
	const container = `{metadata: {labels: {made: "yes"}}, spec: {schedulerName: fairway, containers: [{name: NAME, image: none, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]}}`
	named := func(name string) string { return strings.ReplaceAll(container, "NAME", name) }
	never := strings.Replace(named("main"), "{schedulerName", "{restartPolicy: Never, schedulerName", 1)
	rays := fmt.Sprintf("{rayVersion: 2.46.0, headGroupSpec: {rayStartParams: {}, template: %s}, workerGroupSpecs: [{groupName: small, replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: %s}]}",
		named("ray-head"), named("ray-worker"))
	t.Run("RayCluster of an older version", func(t *testing.T) {
		older := parse(t, home, "{apiVersion: ray.io/v1alpha1, kind: RayCluster, metadata: {name: older}, spec: "+rays+"}")
		grant(t, w, ann, home, older.GetAPIVersion())
		must(t, ann.Client.Create(t.Context(), older, client.DryRunAll))
		if got := customs[0].stamps(t, older); !slices.Equal(got, all(of(ann))) {
			t.Errorf("stamped %v", got)
		}
	})
	for _, tc := range []struct {
		text string
		pods int
	}{
		{"{apiVersion: ray.io/v1, kind: RayCluster, spec: " + rays + "}", 2},
		{"{apiVersion: ray.io/v1, kind: RayJob, spec: {entrypoint: python, rayClusterSpec: " + rays + "}}", 2},
		{fmt.Sprintf("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {suspend: false, successPolicy: {operator: All}, startupPolicy: {startupPolicyOrder: AnyOrder}, network: {enableDNSHostnames: false, publishNotReadyAddresses: false}, "+
			"replicatedJobs: [{name: a, replicas: 1, groupName: default, template: {spec: {completionMode: Indexed, template: %s}}}, {name: b, replicas: 1, groupName: default, template: {spec: {completionMode: Indexed, template: %s}}}]}}", never, never), 2},
		{fmt.Sprintf("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs: {Master: {replicas: 1, restartPolicy: Never, template: %[1]s}, Worker: {replicas: 2, restartPolicy: Never, template: %[1]s}}}}", named("pytorch")), 3},
	} {
		made := parse(t, home, tc.text)
		t.Run(made.GetKind(), func(t *testing.T) {
			made.SetName(strings.ToLower(made.GetKind()))
			grant(t, w, ann, home, made.GetAPIVersion())
			must(t, ann.Client.Create(t.Context(), made))
			pods := podsOfOperator(t, w, home, made.GetName(), tc.pods)
			generation := fetch(t, w, made).GetGeneration()
			time.Sleep(3 * time.Second)
			if now := fetch(t, w, made).GetGeneration(); now != generation {
				t.Errorf("generation %d became %d", generation, now)
			}
			still := podsOfOperator(t, w, home, made.GetName(), tc.pods)
			for name, pod := range still {
				if got := stampOf(pod.Annotations); got != of(ann) {
					t.Errorf("pod %s is stamped %v, want %v", name, got, of(ann))
				}
				if pods[name].UID != pod.UID {
					t.Errorf("pod %s is another one", name)
				}
			}
			t.Logf("%d pods of %v", len(still), of(ann))
		})
	}
	t.Run("RayCluster changed by another", func(t *testing.T) {
		cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ray.io/v1", "kind": "RayCluster"}}
		cluster.SetNamespace(home)
		cluster.SetName("raycluster")
		for patch, want := range map[string]stamp{
			`[{"op":"replace","path":"/spec/workerGroupSpecs/0/maxReplicas","value":5}]`: of(ann),
			`[{"op":"add","path":"/spec/autoscalerOptions","value":{"image":"others"}}]`: of(w.Admin),
		} {
			now := fetch(t, w, cluster)
			must(t, w.Admin.Client.Patch(t.Context(), now, client.RawPatch(types.JSONPatchType, []byte(patch)), client.DryRunAll))
			if got := customs[0].stamps(t, now); !slices.Equal(got, all(want)) {
				t.Errorf("%s: stamped %v, want %v", patch, got, want)
			}
		}
	})
}

func podsOfOperator(t *testing.T, w *people.World, namespace, prefix string, n int) map[string]*corev1.Pod {
	t.Helper()
	found := map[string]*corev1.Pod{}
	people.Until(t, "pods of "+prefix, func() error {
		list := &corev1.PodList{}
		if err := w.Admin.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		clear(found)
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, prefix+"-") {
				found[list.Items[i].Name] = &list.Items[i]
			}
		}
		if len(found) != n {
			return fmt.Errorf("%d pods of %d", len(found), n)
		}
		return nil
	})
	return found
}

func operatorFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", "tools", "operators", name))
	must(t, err)
	return path
}

// runOperator runs the program with the account that manifests/identity-operators trusts. It ends with the test; what it said is shown if the test
// fails.
func runOperator(t *testing.T, w *people.World, c custom, name string, args ...string) {
	t.Helper()
	account := c.operator(t, w)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: account.Config.Host, CertificateAuthorityData: account.Config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: account.Config.BearerToken}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	dir := t.TempDir()
	kubeconfig, log := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "log")
	must(t, clientcmd.WriteToFile(*config, kubeconfig))
	child, err := localcluster.StartChild(localcluster.ChildSpec{
		Name: name, Program: operatorFile(t, name), Args: args, Dir: dir, LogPath: log, Env: []string{"KUBECONFIG=" + kubeconfig},
	})
	must(t, err)
	t.Cleanup(func() {
		if child.Gone() {
			t.Errorf("%s ended: %v", name, child.State())
		}
		child.Stop(time.Second)
		if said, err := os.ReadFile(log); t.Failed() {
			t.Logf("%s: %s (%v)", name, said[max(0, len(said)-4000):], err)
		}
	})
}

// jobSetConfig is for a manager without the webhooks, which only fill in and check what the JobSets of this test state.
func jobSetConfig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	path := filepath.Join(dir, "config.yaml")
	must(t, os.WriteFile(path, []byte(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "0"}
webhook: {host: 127.0.0.1, port: 0, certDir: `+dir+`}
`), 0o600))
	return path
}
