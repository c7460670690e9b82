package optional

import (
	"context"
	"errors"
	"slices"
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

// A server that says no is asked less and less often: after 10, 20, 40 and 80 seconds, and then every two minutes. That is 5 times until second 150, and
// 28 times in the 3450 seconds that are left of an hour. Once no server has answered, as when it was upgraded, it is asked as at the beginning.
func TestAKindThatIsNotServedIsAskedForLessAndLessOften(t *testing.T) {
	missing := apierrors.NewNotFound(things.GroupResource(), "")
	c := newCluster(t, missing)
	begin := c.clock.Now()
	asked := func() int { return len(c.client.Actions()) }
	var at []time.Duration
	for c.clock.Since(begin) <= time.Hour {
		c.until("a pause after the answer", c.clock.HasWaiters)
		if n := asked(); n > len(at) {
			at = append(at, c.clock.Since(begin))
		}
		c.clock.Step(10 * time.Second)
		// A step that ends no pause leaves its waiter where it is; one that does is followed by a request, and that by the next pause.
		c.until("the next pause", c.clock.HasWaiters)
	}
	if len(at) != 33 {
		t.Errorf("%d requests in an hour, at %v", len(at), at)
	}
	want := []time.Duration{0, 10 * time.Second, 30 * time.Second, 70 * time.Second, 150 * time.Second, 270 * time.Second}
	if !slices.Equal(at[:min(len(want), len(at))], want) {
		t.Errorf("asked at %v, want %v ...", at, want)
	}
	if !c.HasSynced() {
		t.Error("nobody should wait for it")
	}

	c.answer(errors.New("connection refused"))
	next := func(pause time.Duration) {
		t.Helper()
		before := asked()
		c.clock.Step(pause - 1)
		if n := asked(); n != before {
			t.Fatalf("asked before %v had passed", pause)
		}
		c.clock.Step(1)
		c.until("it is asked", func() bool { return asked() == before+1 && c.clock.HasWaiters() })
	}
	c.clock.Step(most)
	c.until("it is asked", func() bool { return c.clock.HasWaiters() })
	next(unknownEvery)
	c.answer(missing)
	next(unknownEvery)
	next(absentEvery)
	next(2 * absentEvery)
}
