package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// watchable is a server that can be watched, too: it sends what a test gives it.
type watchable struct {
	*server
	mu      sync.Mutex
	streams map[string]chan any // by path
	watches map[string]int      // that were begun
	front   *httptest.Server
}

const policies = "/apis/scheduling.fairway.dev/v1alpha1/placementpolicies"

func newWatchable(count map[string]int) *watchable {
	return &watchable{server: &server{count: count, refusal: map[string]int{}}, streams: map[string]chan any{}, watches: map[string]int{}}
}

func (s *watchable) stream(path string) chan any {
	if s.streams[path] == nil {
		s.streams[path] = make(chan any)
	}
	return s.streams[path]
}

func (s *watchable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	path := r.URL.Path
	if r.URL.Query().Get("watch") == "" || s.refusal[path] != 0 {
		defer s.mu.Unlock()
		if path == policies && s.refusal[path] == 0 {
			answer(w, http.StatusOK, map[string]any{"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "PlacementPolicyList", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}})
			return
		}
		s.server.ServeHTTP(w, r)
		return
	}
	if r.URL.Query().Get("sendInitialEvents") != "" { // a server without that feature: the client lists
		defer s.mu.Unlock()
		refuse(w, http.StatusUnprocessableEntity)
		return
	}
	s.watches[path]++
	events := s.stream(path)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-events:
			_ = json.NewEncoder(w).Encode(e)
			w.(http.Flusher).Flush()
		}
	}
}

func (s *watchable) watch(t *testing.T) (*Watcher, error) {
	t.Helper()
	h := httptest.NewServer(s)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); h.CloseClientConnections(); h.Close() })
	s.front = h
	return Watch(ctx, flagsFor(t, h.URL))
}

func (s *watchable) begun(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[path]
}

var everything = map[string]int{queues: 2, nodes: 3, pods: 4, classes: 1, groups: 2, inTree: 1, jobs: 5, budgets: 1, booked: 1}

func TestAWatchHasWhatAReadHas(t *testing.T) {
	s := newWatchable(everything)
	w, err := s.watch(t)
	if err != nil {
		t.Fatal(err)
	}
	set, err := w.Set()
	if err != nil {
		t.Fatal(err)
	}
	got := []int{len(set.Queues), len(set.Nodes), len(set.Pods), len(set.DeviceClasses), len(set.PodGroups), len(set.PodDisruptionBudgets), len(set.Reservations), len(set.Owners)}
	if want := []int{2, 3, 4, 1, 3, 1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, o := range set.Pods {
		if len(o.ManagedFields) > 0 {
			t.Error("managedFields are kept")
		}
	}
	if s.begun(jobs) != 0 {
		t.Error("owners are watched although no queue is StateAware")
	}
}

// One watch for each kind, and a change wakes who waits for one.
func TestAChangeIsSeen(t *testing.T) {
	s := newWatchable(everything)
	w, err := s.watch(t)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	events := s.stream(pods)
	s.mu.Unlock()
	added := map[string]any{"type": "ADDED", "object": map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "late", "resourceVersion": "9"}}}
	select {
	case events <- added:
	case <-time.After(time.Minute):
		t.Fatal("nobody watches pods")
	}
	var set *objects.Set
	for set == nil || len(set.Pods) != 5 {
		select {
		case <-w.Changed():
		case <-time.After(time.Minute):
			t.Fatal("the change is not seen")
		}
		if set, err = w.Set(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{queues, policies, nodes, pods, classes, groups, inTree, budgets, booked} {
		if n := s.begun(path); n > 1 {
			t.Errorf("%d watches of %s", n, path)
		}
	}
}

func TestOwnersAreWatchedOnceAQueueIsStateAware(t *testing.T) {
	s := newWatchable(everything)
	s.policy = "StateAware"
	w, err := s.watch(t)
	if err != nil {
		t.Fatal(err)
	}
	if set, err := w.Set(); err != nil || len(set.Owners) != 5 {
		t.Errorf("%v, %d owners, want 5 Jobs", err, len(set.Owners))
	}
}

// A reader without a right that a picture takes is told which; one without an optional kind, or without its right, gets the picture.
func TestAWatchWithoutRights(t *testing.T) {
	for name, c := range map[string]struct {
		refusal map[string]int
		want    string
	}{
		"nodes are forbidden":               {map[string]int{nodes: http.StatusForbidden}, "watching nodes: failed to list *v1.Node: so it is; " + needsToWatch},
		"pods are forbidden":                {map[string]int{pods: http.StatusForbidden}, "watching pods: failed to list *v1.Pod: so it is; " + needsToWatch},
		"Fairway is not installed":          {map[string]int{queues: http.StatusNotFound}, "is Fairway installed?"},
		"placement policies are forbidden":  {map[string]int{policies: http.StatusForbidden}, "watching placementpolicies.scheduling.fairway.dev"},
		"placement policies are not known":  {map[string]int{policies: http.StatusNotFound}, ""},
		"pod groups are not known":          {map[string]int{groups: http.StatusNotFound, inTree: http.StatusNotFound}, ""},
		"budgets and classes are forbidden": {map[string]int{budgets: http.StatusForbidden, classes: http.StatusForbidden}, ""},
		"reservations are not known":        {map[string]int{booked: http.StatusNotFound}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWatchable(everything)
			s.refusal = c.refusal
			_, err := s.watch(t)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// While the server is away there is no newer set, and what waits for a change hears of that. It does not matter what the server answers.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	s := newWatchable(everything)
	s.refusal["/version"] = http.StatusForbidden
	w, err := s.watch(t)
	if err != nil {
		t.Fatal(err)
	}
	if w.ask(); w.answer() != nil {
		t.Error("a refusal is an answer")
	}
	s.front.CloseClientConnections()
	_ = s.front.Listener.Close()
	for range 2 { // a connection may have been kept
		w.ask()
	}
	if _, err := w.Set(); err == nil || !strings.Contains(err.Error(), "no answer from the cluster: ") {
		t.Errorf("got %v", err)
	}
	select {
	case <-w.Changed():
	default:
		t.Error("nobody is told")
	}
}

// A watch that ends is no error; one that is refused is.
func TestWhenAPictureIsStale(t *testing.T) {
	k := &watched{resource: "pods"}
	for _, ended := range []error{io.EOF, io.ErrUnexpectedEOF, apierrors.NewResourceExpired("too old"), &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonGone}}} {
		if k.failed(ended); k.failure() != nil {
			t.Errorf("%v counts", ended)
		}
	}
	no := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	if k.failed(no); k.failure() == nil {
		t.Error("a refusal does not count")
	}
	k.at = k.at.Add(-staleAfter - time.Second)
	if err := k.failure(); err != nil {
		t.Errorf("%v still counts, although it has not come again", err)
	}
}

// The time of an event is that of the last time that it was seen, in whatever form it was written.
func TestWhenAnEventWasSaid(t *testing.T) {
	at := func(s int64) metav1.Time { return metav1.Unix(s, 0) }
	for name, c := range map[string]struct {
		event     corev1.Event
		at, times int64
	}{
		"one":         {corev1.Event{EventTime: metav1.NewMicroTime(time.Unix(5, 0)), ReportingController: "x"}, 5, 1},
		"a series":    {corev1.Event{EventTime: metav1.NewMicroTime(time.Unix(5, 0)), Series: &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(time.Unix(9, 0))}, ReportingController: "x"}, 9, 7},
		"an old form": {corev1.Event{LastTimestamp: at(8), Count: 3, Source: corev1.EventSource{Component: "x"}}, 8, 3},
		"no time":     {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(4)}, ReportingController: "x"}, 4, 1},
	} {
		if got := eventOf(&c.event); got.At != c.at*1e9 || got.Times != c.times || got.From != "x" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
