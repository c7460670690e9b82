package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
)

// history is what became of every pod and of the lease, change by change, in the order of etcd's revisions. It judges as it goes: after
// every change, no queue may hold more than its max, no node more than it has, and no pod may be moved.
type history struct {
	max    map[string]amounts // of the queues that have one
	room   map[string]amounts // of the nodes
	ready  sync.WaitGroup     // until pods and lease have been listed once
	misses int                // how often the apiserver could not continue a watch, so that changes may be missing

	mu       sync.Mutex
	pods     map[types.UID]*story
	queues   map[string]amounts // what the pods of each queue, and of those below it, hold
	nodes    map[string]amounts
	binds    []bind
	ended    int
	holders  []holder
	breaches []string
	crowded  []string
	spark    *spark.Progress // of the applications that a test plays
}

// amounts are cpu in milli-cores and memory in bytes: all that these pods ask for.
type amounts struct{ cpu, memory int64 }

func (a amounts) plus(b amounts, sign int64) amounts {
	return amounts{a.cpu + sign*b.cpu, a.memory + sign*b.memory}
}

// exceeds reports whether a is more than most, in which 0 is no limit.
func (a amounts) exceeds(most amounts) bool {
	return most.cpu > 0 && a.cpu > most.cpu || most.memory > 0 && a.memory > most.memory
}

func (a amounts) String() string { return fmt.Sprintf("cpu=%dm memory=%dMi", a.cpu, a.memory>>20) }

// story is one pod.
type story struct {
	name, queue, placed, node string
	size                      amounts
	binds                     int
	ended                     bool
	told                      int // how often it began to show that Fairway will evict it
	shows                     bool
	reserved                  bool // its queue is that of its reservation, and later that of the other pods
	begun, evicted            bool // the Eviction API has begun to evict it, and has
}

// bind is one pod that got its node.
type bind struct {
	version uint64
	at      time.Time // when we saw it
	pod     string
	queue   string
}

// holder is one change of the lease's holder, "" for a lease that was given up.
type holder struct {
	version  uint64
	at       time.Time // when we saw it
	identity string
}

// watchHistory takes everything in from now on, until the test ends.
func watchHistory(t *testing.T, kube kubernetes.Interface, most, room map[string]amounts) *history {
	t.Helper()
	h := &history{max: most, room: room, pods: map[types.UID]*story{}, queues: map[string]amounts{}, nodes: map[string]amounts{}, spark: spark.NewProgress()}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	follow := func(s source) {
		h.ready.Add(1)
		running.Go(func() { h.follow(ctx, s) })
	}
	follow(source{
		list: func(ctx context.Context) ([]metav1.Object, string, error) {
			list, err := kube.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, "", err
			}
			objects := make([]metav1.Object, len(list.Items))
			for i := range list.Items {
				objects[i] = &list.Items[i]
			}
			return objects, list.ResourceVersion, nil
		},
		watch: kube.CoreV1().Pods(metav1.NamespaceDefault).Watch,
	})
	follow(source{
		list: func(ctx context.Context) ([]metav1.Object, string, error) {
			list, err := kube.CoordinationV1().Leases(systemNamespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, "", err
			}
			objects := make([]metav1.Object, len(list.Items))
			for i := range list.Items {
				objects[i] = &list.Items[i]
			}
			return objects, list.ResourceVersion, nil
		},
		watch: kube.CoordinationV1().Leases(systemNamespace).Watch,
	})
	h.ready.Wait()
	return h
}

// source is one kind of objects.
type source struct {
	list  func(context.Context) ([]metav1.Object, string, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// again is how long to leave an apiserver alone that has just failed.
const again = 50 * time.Millisecond

// follow lists once and then watches, each time from where the last watch ended. Only where the apiserver cannot go on from there, since
// it was started again, is there another list: what changed between is then seen as one change for each object.
func (h *history) follow(ctx context.Context, s source) {
	version, listed := "", false
	for ctx.Err() == nil {
		if version == "" {
			objects, at, err := s.list(ctx)
			if err != nil {
				time.Sleep(again)
				continue
			}
			slices.SortFunc(objects, func(a, b metav1.Object) int { return int(int64(number(a)) - int64(number(b))) })
			for _, o := range objects {
				h.see(o, false)
			}
			version = at
			if listed {
				h.mu.Lock()
				h.misses++
				h.mu.Unlock()
			} else {
				listed = true
				h.ready.Done()
			}
		}
		events, err := s.watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if err == nil {
			version, err = h.read(version, events)
		}
		switch {
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			version = ""
		case err != nil:
			time.Sleep(again)
		}
	}
}

// read takes in what a watch says until it ends, and returns the version to go on from.
func (h *history) read(version string, events watch.Interface) (string, error) {
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Error {
			return version, apierrors.FromObject(event.Object)
		}
		o, ok := event.Object.(metav1.Object)
		if !ok {
			continue
		}
		version = o.GetResourceVersion()
		if event.Type != watch.Bookmark {
			h.see(o, event.Type == watch.Deleted)
		}
	}
	return version, nil
}

// revision reads a resource version: of every kind of object it is etcd's revision, so all of them are in one order.
func revision(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func number(o metav1.Object) uint64 { return revision(o.GetResourceVersion()) }

func (h *history) see(o metav1.Object, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch o := o.(type) {
	case *v1.Pod:
		h.seePod(o, deleted)
	case *coordinationv1.Lease:
		identity := ""
		if o.Spec.HolderIdentity != nil && !deleted {
			identity = *o.Spec.HolderIdentity
		}
		if o.Name == leaseName && (len(h.holders) == 0 || h.holders[len(h.holders)-1].identity != identity) {
			h.holders = append(h.holders, holder{version: number(o), at: time.Now(), identity: identity})
		}
	}
}

func (h *history) seePod(p *v1.Pod, deleted bool) {
	h.spark.See(p, deleted)
	s := h.pods[p.UID]
	if s == nil {
		s = &story{name: p.Name, queue: p.Labels[v1alpha1.KeyQueue], size: sizeOf(p), reserved: p.Labels[v1alpha1.KeyReservation] != ""}
		h.pods[p.UID] = s
	}
	switch {
	case s.node == "" && p.Spec.NodeName != "":
		s.binds++
		s.node, s.placed = p.Spec.NodeName, p.Annotations[v1alpha1.KeyPlacedQueue]
		if s.reserved {
			s.queue = s.placed
		}
		if s.placed != s.queue {
			h.breach(p, "asked for queue %q and was bound with %q", s.queue, s.placed)
		}
		h.binds = append(h.binds, bind{version: number(p), at: time.Now(), pod: p.Name, queue: s.placed})
		h.hold(p, s, 1)
	case s.node != p.Spec.NodeName:
		s.binds++
		h.breach(p, "was on node %q and is now on %q", s.node, p.Spec.NodeName)
	case s.movesOn(p):
		h.hold(p, s, -1)
		s.placed = p.Annotations[v1alpha1.KeyPlacedQueue]
		h.hold(p, s, 1)
	case s.placed != p.Annotations[v1alpha1.KeyPlacedQueue] && s.node != "":
		h.breach(p, "was placed in %q and is now in %q", s.placed, p.Annotations[v1alpha1.KeyPlacedQueue])
	}
	shows := slices.ContainsFunc(p.Status.Conditions, announces)
	s.told += btoi(shows && !s.shows && !s.begun)
	s.shows = shows
	// The Eviction API writes first and deletes then. Between the two it gives up where the client is killed: such a pod is told once more.
	s.begun = s.begun || slices.ContainsFunc(p.Status.Conditions, evicts)
	s.evicted = s.evicted || s.begun && p.DeletionTimestamp != nil
	if deleted && !s.evicted {
		h.breach(p, "was deleted")
	}
	if over := deleted || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed; over && !s.ended {
		s.ended = true
		h.ended++
		if p.Status.Phase != v1.PodSucceeded && !s.evicted {
			h.breach(p, "ended as %s", p.Status.Phase)
		}
		if s.node != "" {
			h.hold(p, s, -1)
		}
	}
}

// movesOn reports whether a pod moves to the queue of the other pods, as it does once, at the end of its reservation.
func (s *story) movesOn(p *v1.Pod) bool {
	return s.reserved && s.node != "" && s.placed == s.queue && !s.ended &&
		p.Annotations[v1alpha1.KeyPlacedQueue] == s.queue[:strings.LastIndex(s.queue, ".")]+".default"
}

// hold puts a pod on its queues and its node, or takes it off.
func (h *history) hold(p *v1.Pod, s *story, sign int64) {
	for q := s.placed; q != ""; q = q[:max(0, strings.LastIndex(q, "."))] {
		h.queues[q] = h.queues[q].plus(s.size, sign)
		if sign > 0 && h.queues[q].exceeds(h.max[q]) {
			h.breach(p, "queue %s holds %s, more than its max %s", q, h.queues[q], h.max[q])
		}
	}
	h.nodes[s.node] = h.nodes[s.node].plus(s.size, sign)
	if sign > 0 && h.nodes[s.node].exceeds(h.room[s.node]) {
		h.crowded = append(h.crowded, fmt.Sprintf("revision %d, pod %s: node %s has %s of pods and room for %s",
			number(p), p.Name, s.node, h.nodes[s.node], h.room[s.node]))
	}
}

func (h *history) breach(p *v1.Pod, format string, args ...any) {
	text := fmt.Sprintf("%s, revision %d, pod %s: ", time.Now().UTC().Format(clock), number(p), p.Name)
	h.breaches = append(h.breaches, text+fmt.Sprintf(format, args...))
}

func sizeOf(p *v1.Pod) amounts {
	requests := p.Spec.Containers[0].Resources.Requests
	return amounts{requests.Cpu().MilliValue(), requests.Memory().Value()}
}

// bound is how many pods have a node, or had one when they ended.
func (h *history) bound() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.binds)
}

// held is what the pods of each queue, and of those below it, hold now.
func (h *history) held(queue string) amounts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.queues[queue]
}

// over is how many pods have ended.
func (h *history) over() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// leader is the last change of the lease's holder.
func (h *history) leader() holder {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.holders) == 0 {
		return holder{}
	}
	return h.holders[len(h.holders)-1]
}

// firstBindAfter is the first bind after a revision.
func (h *history) firstBindAfter(version uint64) (bind, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.binds, func(b bind) bool { return b.version > version })
	if i < 0 {
		return bind{}, false
	}
	return h.binds[i], true
}

// applications counts those that a test plays in a queue.
func (h *history) applications(queue string) spark.Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spark.Queue(queue)
}

// judge returns all that was wrong on the way.
func (h *history) judge() (breaches, crowded []string, misses int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.breaches), slices.Clone(h.crowded), h.misses
}

// stories returns every pod there was.
func (h *history) stories() []story {
	h.mu.Lock()
	defer h.mu.Unlock()
	ss := make([]story, 0, len(h.pods))
	for _, s := range h.pods {
		ss = append(ss, *s)
	}
	slices.SortFunc(ss, func(a, b story) int { return strings.Compare(a.name, b.name) })
	return ss
}
