package simulator

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// kube is a model of kube-scheduler: its queue, its cache and its single scheduling cycle.
type kube struct {
	rooms  map[string]*room
	names  []string // of rooms, in order
	active []*pod
	busy   bool // a scheduling cycle runs
}

// room is a node in kube-scheduler's cache. One that no longer exists stays while pods are on it.
type room struct {
	node  ledger.Node
	known bool
	used  size
	pods  int
	ports int // that conflict with each other
}

func (r *room) fits(p *pod) bool {
	return r.known && suits(r.node, p.seen) && (r.node.Pods == 0 || r.pods < r.node.Pods) && (r.ports == 0 || !conflicts(&p.seen)) &&
		r.used.plus(p.asks).within(sizeOf(r.node.Allocatable))
}

// kubePod is what kube-scheduler knows of a pod.
type kubePod struct {
	place    place
	ticket   uint64
	inFlight bool
	waits    *waits // at Permit
	reserved bool   // since its release
	moved    bool   // while it was in flight, something happened that may make it schedulable
	on       string // the node on which the cache counts it: assumed, or assigned
	counted  size
	port     bool // conflicts with others
}

type place uint8

const (
	nowhere place = iota
	active
	unschedulable
)

// preEnqueue asks our plugin whether the pod may go to the active queue.
func (w *World) preEnqueue(p *pod) {
	admitted, woken := w.Ledger.Admitted(p.UID)
	if woken {
		w.changed()
	}
	if !admitted {
		w.remove(p)
		p.place = unschedulable // gated
		return
	}
	if p.place != active {
		p.place = active
		w.kube.active = append(w.kube.active, p)
	}
}

// remove takes the pod out of the scheduling queue.
func (w *World) remove(p *pod) {
	if p.place == active {
		w.kube.active = slices.DeleteFunc(w.kube.active, func(o *pod) bool { return o == p })
	}
	p.place = nowhere
}

// popNext starts the next scheduling cycle if none runs.
func (w *World) popNext() {
	for !w.kube.busy && len(w.kube.active) > 0 {
		first := slices.MinFunc(w.kube.active, func(a, b *pod) int {
			if a.ticket < b.ticket {
				return -1
			}
			return 1
		})
		w.remove(first)
		if first.seen.Terminating || first.on != "" {
			continue // kube-scheduler skips pods that are being deleted, or bound
		}
		w.attempt(first)
	}
}

// attempt is a scheduling cycle: it looks at the world as it is when it starts, and ends some time later.
func (w *World) attempt(p *pod) {
	w.kube.busy, p.inFlight, p.moved = true, true, false
	w.Attempts[p.Class]++
	w.underWay++
	_, ok := w.Ledger.Recheck(p.UID) // PreFilter
	failure, node := ledger.Refused, ""
	if ok {
		failure = ledger.NoFit
		node = w.place(p)
		if !w.opts.Calm && w.rng.IntN(40) == 0 {
			failure, node = ledger.Errored, ""
		}
	}
	w.within(millisecond/2+w.rng.Int64N(3*millisecond), func() {
		w.kube.busy = false
		w.underWay--
		if node == "" {
			w.misfit(p, failure)
			return
		}
		w.reserve(p, node)
	})
}

// misfit ends a cycle that found no node: PostFilter, where nothing broke, and then the failure handler.
func (w *World) misfit(p *pod, f ledger.Failure) {
	nominated := ""
	if f != ledger.Errored {
		nominated = w.Ledger.Misfit(p.UID)
	}
	w.failed(p, f)
	if nominated != "" && w.Ledger.NominatedTo(p.UID) != nominated {
		w.fail("pod %s was told that it is nominated to %s, and its failure ended that", p.UID, nominated)
	}
}

func (w *World) firstFit(p *pod) string {
	for _, name := range w.kube.names {
		if w.kube.rooms[name].fits(p) {
			return name
		}
	}
	return ""
}

// reserve ends a cycle that found a node; binding goes on beside the next cycle.
func (w *World) reserve(p *pod, node string) {
	if _, ok := w.Ledger.Reserve(p.UID, node, w.now); !ok {
		w.failed(p, ledger.Refused)
		return
	}
	p.reserved = true
	if s, _ := w.Ledger.PodState(p.UID); s.Backfills {
		w.Backfilled++
	}
	w.moveBoundByOthers()
	w.auditLimits(p, "reserved")
	w.auditReserving(p)
	w.Reserved = append(w.Reserved, Reservation{UID: p.UID, Queue: p.charged, Node: node})
	w.count(p, node, p.asks)
	w.underWay++
	if !w.opts.Calm && w.rng.IntN(60) == 0 {
		w.within(w.rng.Int64N(20*millisecond), func() { w.permitRefuses(p) })
		return
	}
	w.permit(p, node)
}

// permitRefuses: the Permit plugin of another party refuses a pod after Reserve. No event will wake the pod, so
// kube-scheduler's flush of the unschedulable pods has to.
func (w *World) permitRefuses(p *pod) {
	w.unassume(p)
	w.wake()
	w.failed(p, ledger.NoFit)
	w.within(second, func() {
		w.underWay--
		if p.place == unschedulable {
			w.preEnqueue(p)
		}
	})
}

// bind is the API call. It may fail, and it may succeed although kube-scheduler is told that it failed, or lives no more.
func (w *World) bind(p *pod, node, placed string, as identity, life int) {
	if w.life == life {
		w.underWay--
	}
	possible := p.exists && !p.Terminating && p.Node == ""
	trouble := 2
	if !w.opts.Calm {
		trouble = w.rng.IntN(50)
	}
	if possible && trouble != 0 {
		p.Node, p.Placed, p.Bound, p.Unschedulable = node, placed, w.generator.boundAt(w.now), ""
		as.on(&p.Pod)
		w.podChanged(p)
		w.adversary.onBound(p)
		if w.bound != nil {
			w.bound(p)
		}
		if !w.opts.Calm {
			w.at(w.lifetime(), func() { w.end(p) })
		}
	}
	if w.life != life {
		return
	}
	if !possible || trouble < 2 {
		w.unassume(p)
		w.wake()
		w.failed(p, ledger.Errored)
	}
	p.inFlight = false
}

// failed is kube-scheduler's failure handler, wrapped by ours.
func (w *World) failed(p *pod, f ledger.Failure) {
	p.inFlight = false
	if p.seen.Node == "" {
		w.doubt(p, f)
		w.charge(p, "")
	}
	kept := func() {
		if s, _ := w.Ledger.PodState(p.UID); f == ledger.NoFit && p.reserved && s.State == ledger.Parked {
			p.backedOff = true // Permit of another party refused it, and it is the probe of its class
		}
		// kube-scheduler puts a pod back if it still exists and is not assigned, as far as its informer knows.
		if !p.known || p.seen.Node != "" {
			return
		}
		if p.place == active {
			return // released again while the attempt ran
		}
		if f == ledger.NoFit {
			w.show(p, "0/0 nodes are available.")
			w.outrank(p)
		}
		p.place = unschedulable
		if p.moved {
			w.preEnqueue(p)
		}
		if !w.opts.Calm && w.rng.IntN(4) == 0 {
			w.round() // by another goroutine, while this one reports the failure to the API server
		}
	}
	if f == ledger.Refused {
		kept = nil
	}
	w.dispatcher.Failed(p.UID, f, w.now, kept)
	w.lookAtStarts()
	w.changed()
}

// wake is what kube-scheduler does when room may have appeared: queueing hints pick pods, PreEnqueue is asked about them.
func (w *World) wake() {
	for _, uid := range sorted(w.pods) {
		p := w.pods[uid]
		p.moved = p.moved || p.inFlight
		if p.place != unschedulable {
			continue
		}
		if w.rng.IntN(5) == 0 || w.firstFit(p) != "" {
			w.preEnqueue(p)
		}
	}
}

// doubt notes whether the failure of an attempt leaves in doubt whether the pod was bound. The pods of a group that starts together do not back off by
// themselves.
func (w *World) doubt(p *pod, f ledger.Failure) {
	if p.charged == "" {
		return // it was taken back before
	}
	backsOff := f == ledger.Errored && w.wasWhole(p)
	p.doubtful = backsOff && p.reserved && !p.backedOff
	p.backedOff = p.backedOff || backsOff
}

func (w *World) roomOf(node string) *room {
	r := w.kube.rooms[node]
	if r == nil {
		r = &room{}
		w.kube.rooms[node] = r
		i, _ := slices.BinarySearch(w.kube.names, node)
		w.kube.names = slices.Insert(w.kube.names, i, node)
	}
	return r
}

// count puts the pod on a node in the cache, or corrects what is counted.
func (w *World) count(p *pod, node string, s size) {
	w.uncount(p)
	r := w.roomOf(node)
	r.used = r.used.plus(s)
	r.pods++
	p.on, p.counted, p.port = node, s, conflicts(&p.seen)
	if p.port {
		r.ports++
	}
}

// unassume takes back what was assumed of a pod, unless the watch has told meanwhile that it has a node: by a binding of an earlier process.
func (w *World) unassume(p *pod) {
	if p.seen.Node == "" {
		w.uncount(p)
	}
}

func (w *World) uncount(p *pod) {
	if p.on == "" {
		return
	}
	r := w.roomOf(p.on)
	r.used = r.used.minus(p.counted)
	r.pods--
	if p.port {
		r.ports--
	}
	p.on = ""
}
