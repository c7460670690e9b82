package simulator

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

// atRest runs a world of the seed until nothing is under way.
func atRest(t *testing.T, seed uint64) *World {
	t.Helper()
	w := New(seed, Options{Calm: true, Every: -1000, Limits: seed%2 == 0, Window: ledger.DefaultWindow})
	w.rest(t)
	if seed%4 == 2 {
		w.gate(t)
	}
	return w
}

// gate makes all queues without children StateAware, for longer than the world runs: no time that passes lets a pod start.
func (w *World) gate(t *testing.T) {
	t.Helper()
	parents := map[queue.Path]bool{}
	for path := range w.queues {
		parents[path.Parent()] = true
	}
	for _, path := range sorted(w.queues) {
		d := w.queues[path]
		if parents[path] || path == queue.Root || d.Deleting {
			continue
		}
		d.Spec.Policy, d.Spec.StartingTimeout = queue.StateAware, queue.StartingTimeout{Nanoseconds: 1 << 60}
		w.queues[path] = d
		w.queueSeen(path, &d)
	}
	w.wake()
	w.changed()
	w.rest(t)
}

func (w *World) rest(t *testing.T) {
	t.Helper()
	for first := true; first || !w.quiet(); first = false {
		if w.agenda.len() == 0 {
			return
		}
		if err := w.Run(1); err != nil {
			t.Fatal(err)
		}
	}
}

// picture is what anybody makes of the objects.
func (w *World) picture() *picture.Picture {
	l := ledger.New(ledger.Options{})
	memories := w.memories()
	for _, path := range sorted(w.known.queues) {
		d := w.known.queues[path]
		if m, known := memories[path]; known {
			d.Memory = m
		}
		l.ObserveQueue(d)
	}
	for _, key := range sorted(w.known.groups) {
		l.ObservePodGroup(w.known.groups[key])
	}
	for _, name := range sorted(w.known.nodes) {
		l.ObserveNode(w.known.nodes[name])
	}
	for _, p := range w.known.pods {
		l.ObservePod(p.seen, w.now)
	}
	l.Lead(w.now)
	l.RestoreHolds(w.now)
	if w.opts.Preemption {
		l.LookAtStarvation(w.now) // as kubectl fairway does
	}
	return picture.New(l)
}

func (w *World) waiting() (uids []ledger.UID) {
	for _, p := range w.known.pods {
		if now := &p.seen; now.Node == "" && !now.Foreign && !now.Terminating {
			uids = append(uids, p.UID)
		}
	}
	return uids
}

// change makes a change come true, all of it at once, and runs until all that follows from it has happened. It says whether the pod has a node then.
func (w *World) change(t *testing.T, c picture.Change, uid ledger.UID) bool {
	t.Helper()
	for _, e := range c.Edits {
		d, declared := w.queues[e.Queue]
		if !declared {
			d = queue.Declaration{Path: e.Queue, Spec: queue.DefaultSpec(), PolicyInForce: queue.Unstated}
		}
		d = e.Apply(d)
		w.queues[e.Queue] = d
		w.queueSeen(e.Queue, &d)
	}
	for i := range c.Nodes {
		n := c.Node
		n.Name = fmt.Sprintf("z%03d", i+1) // after all others: the model of kube-scheduler takes the first that fits
		w.nodes[n.Name] = n
		w.nodeSeen(n.Name, &n)
	}
	w.wake()
	w.changed()
	w.rest(t)
	return w.lookUp(uid).seen.Node != ""
}

var questions = flag.Int("questions", 200, "number of pods of which TestWhatWouldLetAPodStartDoes asks why they wait")

// Pods that wait in worlds at rest: what the picture says would let the pod start does, and nothing smaller of the same kind.
func TestWhatWouldLetAPodStartDoes(t *testing.T) {
	const shards = 4
	var verdicts [shards]map[picture.Verdict]int
	var gates [shards]int
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				verdicts[shard] = map[picture.Verdict]int{}
				for n, seed := 0, uint64(shard); n < *questions/shards; seed += shards {
					if verdict, c, asked := question(t, seed); asked {
						verdicts[shard][verdict]++
						n++
						if gated(c) {
							gates[shard]++
						}
					}
				}
			})
		}
	})
	t.Log(verdicts, gates)
	if gates := gates[0] + gates[1] + gates[2] + gates[3]; gates < *questions/40 {
		t.Errorf("%d answers were to let more applications start", gates)
	}
	for _, verdict := range []picture.Verdict{picture.Held, picture.Room} {
		if verdicts[0][verdict]+verdicts[1][verdict]+verdicts[2][verdict]+verdicts[3][verdict] < *questions/10 {
			t.Errorf("few pods were %s", verdict)
		}
	}
}

// question asks what one pod of a world waits for, and tries the answer. False: no pod waits.
func question(t *testing.T, seed uint64) (verdict picture.Verdict, c picture.Change, asked bool) {
	w := atRest(t, seed)
	uids := w.waiting()
	if len(uids) == 0 {
		return "", c, false
	}
	uid := uids[rand.New(rand.NewPCG(seed, 9)).IntN(len(uids))]
	a, ok := w.picture().Why(uid)
	if !ok || a.Verdict == picture.Next || a.Verdict == picture.Running {
		t.Errorf("seed %d: %s waits, and the answer is %q", seed, uid, a.Verdict)
	}
	if len(a.WouldStartIf) == 0 {
		t.Errorf("seed %d: %s: no way out of: %s", seed, uid, a.Reason.Text())
		return a.Verdict, c, true
	}
	c = a.WouldStartIf[0]
	if c.Kind == picture.ChangePod {
		return a.Verdict, c, true
	}
	if !w.change(t, c, uid) {
		b, _ := w.picture().Why(uid)
		if gated(c) && b.Reason.Code != reason.StateAware {
			return a.Verdict, c, true // it passed the gate, but applications that passed before it took the rest
		}
		t.Errorf("seed %d: %s (%s) does not start: %s; now %s", seed, uid, a.Reason.Text(), c.Message, b.Reason.Text())
	}
	for _, smaller := range smallerThan(c) {
		if gated(c) {
			break // those ahead get on by and by, and with less the pod only starts later
		}
		if w := atRest(t, seed); w.change(t, smaller, uid) {
			t.Errorf("seed %d: %s (%s) starts with less than: %s; with %v and %d nodes", seed, uid, a.Reason.Text(), c.Message, smaller.Edits, smaller.Nodes)
		}
	}
	return a.Verdict, c, true
}

// gated: the change lets more applications start at a time.
func gated(c picture.Change) bool {
	return slices.ContainsFunc(c.Edits, func(e picture.Edit) bool { return e.Field == picture.FieldMaxStarting })
}

// smallerThan makes one part of a change smaller: by the least there is, by half, and away.
func smallerThan(c picture.Change) (cs []picture.Change) {
	for i, e := range c.Edits {
		for _, to := range []int64{e.To - 1, e.From + (e.To-e.From)/2} {
			if to < e.To {
				s := c
				s.Edits = append([]picture.Edit(nil), c.Edits...)
				s.Edits[i].To = to
				cs = append(cs, s)
			}
		}
	}
	for _, n := range []int{c.Nodes - 1, c.Nodes / 2} {
		if n >= 0 && n < c.Nodes {
			s := c
			s.Nodes = n
			cs = append(cs, s)
		}
	}
	return cs
}
