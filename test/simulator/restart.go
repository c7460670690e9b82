package simulator

import (
	"maps"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/dispatch"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Restart ends the scheduler's process at any moment and starts another, which knows what the API server holds and nothing else: queues come
// with what their status remembers (see WriteStatus). Bindings that were on their way to the API server arrive there all the same.
func (w *World) Restart() {
	w.life++
	w.underWay, w.roundDue, w.retry, w.watches = 0, false, 0, [5]int64{}
	w.Ledger = ledger.New(w.ledgerOptions())
	w.dispatcher = dispatch.Dispatcher{Ledger: w.Ledger, Port: port{w}, Reject: w.reject, Allow: w.allowAfterAll}
	w.kube = kube{rooms: map[string]*room{}}
	for len(w.known.pods) > 0 {
		w.unlearn(w.known.pods[len(w.known.pods)-1])
	}
	w.known = newKnown()
	w.stops = stops{}
	w.requeue()
	maps.DeleteFunc(w.pods, func(_ ledger.UID, p *pod) bool { return !p.exists })
	clear(w.shown)
	clear(w.pasts)
	obs := Objects{}
	for _, path := range sorted(w.queues) {
		obs.Queues = append(obs.Queues, w.queues[path])
	}
	for _, name := range sorted(w.nodes) {
		obs.Nodes = append(obs.Nodes, w.nodes[name])
	}
	for _, key := range sorted(w.groups) {
		obs.Groups = append(obs.Groups, w.groups[key])
	}
	for _, uid := range sorted(w.pods) {
		p := w.pods[uid]
		p.delivered, p.kubePod, p.charged, p.alone = false, kubePod{}, "", false
		p.backedOff, p.doubtful, p.followed = false, false, false
		obs.Pods = append(obs.Pods, p.Pod)
	}
	w.begins = true
	w.observe(obs, w.rng.Uint64())
	w.begins = false
	w.lead()
	if w.opts.Placement {
		w.within(w.rng.Int64N(second), w.keepQueues)
	}
	w.lookAtStarts()
	for k, p := range w.pasts { // each for itself: order does not matter
		q := w.queues[k.queue]
		p.started = p.started || q.Spec.Policy == queue.StateAware && slices.Contains(q.Memory.Started, k.name)
	}
	w.round()
	w.popNext()
}

// WriteStatus writes what queues remember into their status, as of now.
func (w *World) WriteStatus() {
	for path, memory := range w.memories() { // each for itself: order does not matter
		if q, ok := w.queues[path]; ok {
			q.Memory = memory
			w.queues[path] = q
		}
	}
}

// LoseStatus takes what queues remember out of their status.
func (w *World) LoseStatus() {
	for path, q := range w.queues { // each for itself: order does not matter
		q.Memory = queue.Memory{}
		w.queues[path] = q
	}
}

// within plans something that ends with the scheduler's process.
func (w *World) within(delay int64, run func()) {
	life := w.life
	w.at(delay, func() {
		if w.life == life {
			run()
		}
	})
}
