package localcluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// patience bounds every wait for a condition; nothing takes nearly as long.
const patience = time.Minute

// start runs a cluster for one test. The cluster's own log goes to the test's.
func start(t *testing.T, options localcluster.Options) *localcluster.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a real control plane")
	}
	options.Log = t.Output()
	cluster, err := localcluster.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually repeats a check until it gives no error.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v, the last check said: %v", what, err, last)
	}
}

func TestAccessControl(t *testing.T) {
	t.Parallel()
	cluster := start(t, localcluster.Options{ControllerManager: true})
	admin := clientOf(t, cluster.RESTConfig())

	path, err := cluster.KubeconfigFor("ada", "analysts")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	ada := clientOf(t, config)

	t.Run("the identity is the one asked for", func(t *testing.T) {
		review, err := ada.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if user := review.Status.UserInfo; user.Username != "ada" || !strings.Contains(strings.Join(user.Groups, " "), "analysts") {
			t.Errorf("got %v", user)
		}
	})
	t.Run("nothing is allowed until a role is bound", func(t *testing.T) {
		list := func(ctx context.Context) error {
			_, err := ada.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			return err
		}
		if err := list(t.Context()); !apierrors.IsForbidden(err) {
			t.Fatalf("an unprivileged user lists pods: got %v, want a refusal", err)
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "analysts"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "analysts"}},
		}
		if _, err := admin.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the role is in force", list)
	})
	t.Run("the tokens of service accounts are accepted", func(t *testing.T) {
		token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		config := rest.AnonymousClientConfig(cluster.RESTConfig())
		config.BearerToken = token.Status.Token
		_, err = clientOf(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:default:default") {
			t.Errorf("got %v, want the refusal of a known service account", err)
		}
	})
	t.Run("secrets are for their owner only", func(t *testing.T) {
		dir := filepath.Dir(cluster.Kubeconfig())
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: mode %v", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutControllerManager(t *testing.T) {
	t.Parallel()
	cluster := start(t, localcluster.Options{})
	client := clientOf(t, cluster.RESTConfig())
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod("lonely", nil), metav1.CreateOptions{}); err != nil {
		t.Errorf("no controller makes service accounts, so pods must not need one: %v", err)
	}
	if err := cluster.AddNodes(t.Context(), "node", 1, nil); err == nil || !strings.Contains(err.Error(), "KWOK") {
		t.Errorf("nodes without KWOK: got %v", err)
	}
	if err := cluster.Kill(localcluster.KWOK); err == nil || !strings.Contains(err.Error(), "it has etcd, kube-apiserver") {
		t.Errorf("kill what does not run: got %v", err)
	}
}

func TestStopIsIdempotent(t *testing.T) {
	t.Parallel()
	cluster := start(t, localcluster.Options{})
	dir := filepath.Dir(cluster.Kubeconfig())
	pids := pidsIn(t, dir)
	for range 2 {
		if err := cluster.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if alive := living(pids); len(alive) > 0 {
		t.Errorf("still running after Stop: %v", alive)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary directory %s is still there (%v)", dir, err)
	}
	if err := cluster.Restart(localcluster.Etcd); err == nil {
		t.Error("restarted a component of a stopped cluster")
	}
}

func TestTwoClusters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs a real control plane")
	}
	var clusters [2]*localcluster.Cluster
	var both sync.WaitGroup
	for i := range clusters {
		both.Go(func() {
			cluster, err := localcluster.Start(t.Context(), localcluster.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = cluster.Stop() })
			clusters[i] = cluster
		})
	}
	both.Wait()
	if t.Failed() {
		return
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "only-here"}}
	first, second := clientOf(t, clusters[0].RESTConfig()), clientOf(t, clusters[1].RESTConfig())
	if _, err := first.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := second.CoreV1().Namespaces().Get(t.Context(), "only-here", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the second cluster has the first one's namespace: %v", err)
	}
	stranger := rest.CopyConfig(clusters[0].RESTConfig())
	stranger.Host = clusters[1].RESTConfig().Host
	stranger.Insecure, stranger.CAData = true, nil
	if _, err := clientOf(t, stranger).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("the second cluster takes the first one's administrator: %v", err)
	}
}

func TestKeptDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cluster := start(t, localcluster.Options{Dir: dir, ControllerManager: true})
	identity, err := cluster.KubeconfigFor("ada")
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := clientOf(t, cluster.RESTConfig()).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := localcluster.Start(t.Context(), localcluster.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second cluster in the same directory: got %v", err)
	}
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}

	cluster = start(t, localcluster.Options{Dir: dir, ControllerManager: true})
	if _, err := clientOf(t, cluster.RESTConfig()).CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("what the directory holds is lost: %v", err)
	}
	old, err := clientcmd.BuildConfigFromFlags("", identity)
	if err != nil {
		t.Fatal(err)
	}
	old.Host = cluster.RESTConfig().Host // the ports are new, the authority is not
	if _, err := clientOf(t, old).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("an identity from before: got %v, want it known and refused", err)
	}
}

func TestCancelledStart(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs a real control plane")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pids map[string]int
	log := &watcher{seen: func(line string) {
		if strings.Contains(line, localcluster.APIServer+": started") { // in the middle of the start
			pids = pidsIn(t, dir)
			cancel()
		}
	}}
	before := time.Now()
	_, err := localcluster.Start(ctx, localcluster.Options{Dir: dir, Log: log})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	if took := time.Since(before); took > patience {
		t.Errorf("took %s", took)
	}
	if len(pids) == 0 {
		t.Fatal("nothing was started before the cancellation")
	}
	if alive := living(pids); len(alive) > 0 {
		t.Errorf("left behind: %v", alive)
	}
}

func TestFailedStart(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	if _, err := localcluster.Start(t.Context(), localcluster.Options{ToolsDir: tools}); err == nil || !strings.Contains(err.Error(), "no etcd, kube-apiserver in "+tools) {
		t.Errorf("without binaries: got %v", err)
	}
	script := "#!/bin/sh\necho the disk is made of cheese\nexit 3\n"
	for _, name := range []string{localcluster.Etcd, localcluster.APIServer} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	_, err := localcluster.Start(t.Context(), localcluster.Options{ToolsDir: tools, Log: &log})
	if err == nil {
		t.Fatal("started without etcd")
	}
	_, after, _ := strings.Cut(err.Error(), "its log ")
	path, _, _ := strings.Cut(after, " ends:")
	for _, want := range []string{"etcd", "exit status 3", "the disk is made of cheese"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the log that the error names is not there: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "..", "*"))
	if len(left) != 1 {
		t.Errorf("more than the logs is left: %v", left)
	}
	_ = os.RemoveAll(filepath.Join(filepath.Dir(path), ".."))
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs a real control plane")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(root, "bin", "tools")
	if out, err := exec.Command(filepath.Join(root, "hack", "build-tools.sh"), localcluster.Etcd, localcluster.APIServer).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// An etcd that finds its port taken the first time.
	tools := t.TempDir()
	script := "#!/bin/sh\nif mkdir \"$HOME/tried\"; then echo 'bind: address already in use'; exit 1; fi\nexec " + filepath.Join(built, localcluster.Etcd) + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, localcluster.Etcd), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(built, localcluster.APIServer), filepath.Join(tools, localcluster.APIServer)); err != nil {
		t.Fatal(err)
	}
	var retried atomic.Bool
	log := &watcher{seen: func(line string) {
		if strings.Contains(line, "trying others") {
			retried.Store(true)
		}
	}}
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{ToolsDir: tools, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Stop(); err != nil || !retried.Load() {
		t.Errorf("tried other ports: %t; stop: %v", retried.Load(), err)
	}
}

// watcher calls back for every write to a log.
type watcher struct{ seen func(string) }

func (w *watcher) Write(line []byte) (int, error) {
	w.seen(string(line))
	return len(line), nil
}

func pod(name string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}
}

func phaseIs(client kubernetes.Interface, name string, want corev1.PodPhase) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err == nil && got.Status.Phase != want {
			err = fmt.Errorf("pod %s is %s, want %s", name, got.Status.Phase, want)
		}
		return err
	}
}
