package optional

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

// cluster serves things, or answers with an error as long as there is one.
type cluster struct {
	t      *testing.T
	clock  *clocktesting.FakeClock
	client *dynamicfake.FakeDynamicClient
	*Informer

	mu   sync.Mutex
	err  error
	seen []string
}

func newCluster(t *testing.T, err error, names ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, clock: clocktesting.NewFakeClock(time.Unix(0, 0)), err: err}
	c.client = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"})
	c.client.PrependReactor("list", "things", func(clienttesting.Action) (bool, runtime.Object, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err != nil, nil, c.err
	})
	for _, name := range names {
		c.create(name)
	}
	i, err := New(c.client, things, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, obj.(*unstructured.Unstructured).GetName())
	}}, c.clock)
	if err != nil {
		t.Fatal(err)
	}
	c.Informer = i
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

func (c *cluster) create(name string) {
	c.t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing"}}
	u.SetName(name)
	u.SetNamespace("ns")
	if _, err := c.client.Resource(things).Namespace("ns").Create(c.t.Context(), u, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) answer(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *cluster) until(what string, done func() bool) {
	c.t.Helper()
	if wait.PollUntilContextTimeout(c.t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return done(), nil }) != nil {
		c.t.Fatal("not: " + what)
	}
}

func (c *cluster) heard() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// A server that refuses settles it; what passes by itself does not.
func TestNobodyWaitsForAKindThatIsRefused(t *testing.T) {
	of := things.GroupResource()
	for what, tc := range map[string]struct {
		err   error
		after time.Duration // the next try
		known bool
	}{
		"not there":       {apierrors.NewNotFound(of, ""), absentEvery, true},
		"not permitted":   {apierrors.NewForbidden(of, "", errors.New("no")), absentEvery, true},
		"cannot be read":  {apierrors.NewInternalError(errors.New("bad")), absentEvery, true},
		"no answer":       {errors.New("connection refused"), unknownEvery, false},
		"not yet serving": {apierrors.NewServiceUnavailable("wait"), unknownEvery, false},
		"too busy":        {apierrors.NewTooManyRequests("wait", 1), unknownEvery, false},
	} {
		t.Run(what, func(t *testing.T) {
			c := newCluster(t, tc.err, "a", "b")
			c.until("a pause after the answer", c.clock.HasWaiters)
			if c.HasSynced() != tc.known || c.heard() != 0 || len(c.GetStore().List()) != 0 {
				t.Errorf("synced: %v, with %d objects", c.HasSynced(), c.heard())
			}
			c.answer(nil)
			c.clock.Step(tc.after - 1)
			if !c.clock.HasWaiters() {
				t.Errorf("tried again before %v", tc.after)
			}
			c.clock.Step(1)
			c.until("all is handed over", func() bool { return c.heard() == 2 && c.HasSynced() && len(c.GetStore().List()) == 2 })
			c.create("c")
			c.until("and what comes later", func() bool { return c.heard() == 3 })
		})
	}
}

func TestAKindThatIsServedIsSyncedWhenItsObjectsAre(t *testing.T) {
	c := newCluster(t, nil, "a")
	c.until("synced", c.HasSynced)
	if c.heard() != 1 {
		t.Errorf("synced with %d objects handed over", c.heard())
	}
}
