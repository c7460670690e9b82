package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// plane is a control plane that serves one test after the other. A test finds it as it was after the start: what the test before it made is
// deleted. Where that is not certain, or takes longer than a start, the plane is stopped and the next test starts a new one.
type plane struct {
	cluster *localcluster.Cluster
	kinds   discovery.DiscoveryInterface
	objects metadata.Interface
	before  map[object]version // what was there before the first test; nil for a plane that has just started
}

// object names an object of any kind.
type object struct {
	schema.GroupVersionResource
	types.NamespacedName
}

// version changes with the spec of an object, for instance of a definition that a test edits.
type version struct {
	uid        types.UID
	generation int64
}

// idle are the planes that no test uses now, by the flags of their kube-apiserver.
var idle = struct {
	sync.Mutex
	planes map[string][]*plane
}{planes: map[string][]*plane{}}

// These kinds are deleted after a test. An object of another kind, for instance a PriorityClass or an admission policy, would still be in a cache of
// kube-apiserver for a moment.
var deleted = []string{"pods", "events", "reservations", "queues", "podgroups", "workloads", "nodes", "leases"}

// Of these kinds an object may have finalizers, for which nobody is there any more.
var finalized = []string{"pods", "queues", "podgroups", "workloads"}

// A start takes about as long as deleting so many objects.
const fewObjects = 400

func TestMain(m *testing.M) {
	if err := v1alpha1.AddToScheme(clientscheme.Scheme); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, planes := range idle.planes {
		for _, p := range planes {
			if err := p.cluster.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// takePlane returns a plane that this test has to itself until it ends.
func takePlane(t *testing.T, flags []string) *plane {
	t.Helper()
	key := strings.Join(flags, " ")
	idle.Lock()
	var p *plane
	if n := len(idle.planes[key]); n > 0 {
		p, idle.planes[key] = idle.planes[key][n-1], idle.planes[key][:n-1]
	}
	idle.Unlock()
	if p == nil {
		p = startPlane(t, flags)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			err := p.clean()
			if err == nil {
				idle.Lock()
				defer idle.Unlock()
				idle.planes[key] = append(idle.planes[key], p)
				return
			}
			t.Logf("the next test gets a new control plane: %v", err)
		}
		if err := p.cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func startPlane(t *testing.T, flags []string) *plane {
	t.Helper()
	c, err := localcluster.Start(t.Context(), localcluster.Options{KWOK: true, ControllerManager: true, APIServerFlags: flags})
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(c.RESTConfig())
	objects, err2 := metadata.NewForConfig(c.RESTConfig())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(errors.Join(err, c.Stop()))
	}
	return &plane{cluster: c, kinds: kinds, objects: objects}
}

// list returns all objects except those that the control plane keeps for itself.
func (p *plane) list(ctx context.Context) (map[object]version, error) {
	groups, err := p.kinds.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	all := map[object]version{}
	for _, group := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, groups) {
		served, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, kind := range group.APIResources {
			of := served.WithResource(kind.Name)
			if of.Group == "events.k8s.io" { // the events of the core group once more
				continue
			}
			found, err := p.objects.Resource(of).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", of, err)
			}
			for i := range found.Items {
				if o := &found.Items[i]; !strings.HasPrefix(o.Namespace, "kube-") || o.Namespace == "kube-node-lease" {
					all[object{of, types.NamespacedName{Namespace: o.Namespace, Name: o.Name}}] = version{o.UID, o.Generation}
				}
			}
		}
	}
	return all, nil
}

// clean deletes what was not there after the start. After an error the plane is not as it was.
func (p *plane) clean() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		now, err := p.list(ctx)
		if err != nil {
			return err
		}
		for o, was := range p.before {
			if now[o] != was {
				return fmt.Errorf("%s %s is no longer what it was", o.Resource, o.NamespacedName)
			}
			delete(now, o)
		}
		if len(now) == 0 {
			return nil
		}
		if len(now) > fewObjects {
			return fmt.Errorf("%d objects are left", len(now))
		}
		for o := range now {
			if !slices.Contains(deleted, o.Resource) {
				return fmt.Errorf("%s %s is left", o.Resource, o.NamespacedName)
			}
			if err := p.delete(ctx, o); err != nil {
				return err
			}
		}
	}
}

// delete deletes an object at once, whatever finalizers and grace periods it has.
func (p *plane) delete(ctx context.Context, o object) error {
	at := p.objects.Resource(o.GroupVersionResource).Namespace(o.Namespace)
	err := at.Delete(ctx, o.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	if err == nil && slices.Contains(finalized, o.Resource) {
		_, err = at.Patch(ctx, o.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	}
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	return err
}
