// Package identity proves manifests/identity on a real control plane with RBAC and real users: what the API server writes on pods and pod templates, what it refuses,
// and that nothing else changes. No scheduler of Fairway runs here.
package identity

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

var manifests = filepath.Join("..", "..", "manifests")

// A mode is how the controller manager proves who it is.
type mode string

const (
	perController mode = "an account per controller"
	oneAccount    mode = "one account"
	// With operators, whose kinds exist and whose accounts are trusted.
	withOperators mode = "operators"
)

// worlds are started by the first test that needs them and serve all of them; each test has a namespace of its own.
var worlds = struct {
	sync.Mutex
	started map[mode]*people.World
}{started: map[mode]*people.World{}}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, w := range worlds.started {
		if err := w.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// world is a control plane with the policies of manifests/identity in force.
func world(t *testing.T, how mode) *people.World {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	worlds.Lock()
	defer worlds.Unlock()
	if w := worlds.started[how]; w != nil {
		return w
	}
	options := localcluster.Options{AccountPerController: how == perController}
	if how == perController { // as before Kubernetes 1.35: bound pods may have a nomination
		options.APIServerFlags = []string{"--feature-gates=ClearingNominatedNodeNameAfterBinding=false"}
	}
	w := startWorld(t, options)
	worlds.started[how] = w
	if how == withOperators {
		installKinds(t, w)
		install(t, w, "identity-operators")
	} else {
		install(t, w, "identity")
	}
	return w
}

// startWorld runs a control plane without policies, with the namespace of the scheduler and a node for DaemonSets.
func startWorld(t testing.TB, options localcluster.Options) *people.World {
	t.Helper()
	w := startEmpty(t, options)
	must(t, w.Admin.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fairway-system"}}))
	return w
}

// startEmpty is startWorld without the namespace of the scheduler.
func startEmpty(t testing.TB, options localcluster.Options) *people.World {
	t.Helper()
	w, err := people.Start(context.Background(), options)
	must(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	must(t, w.Admin.Client.Create(t.Context(), node))
	const room = `{"cpu":"8","memory":"32Gi","pods":"100"}`
	must(t, w.Admin.Client.Status().Patch(t.Context(), node, merge(`{"status":{"capacity":`+room+`,"allocatable":`+room+`}}`)))
	return w
}

func install(t testing.TB, w *people.World, folder string) {
	t.Helper()
	_, err := w.Kubectl(t.Context(), "apply", "--validate=strict", "-k", filepath.Join(manifests, folder))
	must(t, err)
	must(t, w.PoliciesSettle(t.Context()))
}

// stamp is what a pod or template carries of its user.
type stamp struct{ user, groups string }

func (s stamp) String() string { return fmt.Sprintf("%q of %q", s.user, s.groups) }

// of is the stamp that a user's requests leave.
func of(u *people.User) stamp {
	var groups []string
	for _, g := range u.Groups {
		groups = append(groups, strings.NewReplacer("%", "%25", ",", "%2C").Replace(g))
	}
	return stamp{u.Name, strings.Join(groups, ",")}
}

const keyGroups = "fairway.dev/groups"

func stampOf(annotations map[string]string) stamp {
	return stamp{annotations[v1alpha1.KeyUser], annotations[keyGroups]}
}

// parse makes an object of YAML in a namespace.
func parse(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(text), &u.Object))
	u.SetNamespace(namespace)
	return u
}

// podsOf waits for the pods of a workload, as many as stated, and returns them.
func podsOf(t *testing.T, w *people.World, namespace, name string, n int) []corev1.Pod {
	t.Helper()
	var found []corev1.Pod
	people.Until(t, fmt.Sprintf("%d pods of %s", n, name), func() error {
		list := &corev1.PodList{}
		if err := w.Admin.Client.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"workload": name}); err != nil {
			return err
		}
		found = found[:0]
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp == nil {
				found = append(found, list.Items[i])
			}
		}
		if len(found) < n {
			return fmt.Errorf("%d of %d", len(found), n)
		}
		return nil
	})
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wait gives something that must not happen the time to happen.
func wait() { time.Sleep(1500 * time.Millisecond) }

var errNotYet = errors.New("not yet")
