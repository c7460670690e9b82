package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// delayed is a FIFO queue of applications whose pods all ask for one core and prefer some nodes or racks, and a dumb count of what each application lets go.
// Nodes have a few cores, tasks end, and applications and nodes come.
type delayed struct {
	*rand.Rand
	l       *ledger.Ledger
	delay   locality.Delay
	now     int64
	apps    []*delayedApp // in order
	nodes   []*delayedNode
	running map[ledger.UID]*delayedNode
	missed  int // in all
	waived  int // pods that took what they do not prefer since nobody else wanted it
}

type delayedApp struct {
	name   string
	pods   []*ledger.Pod // that wait, in order
	missed int32
}

type delayedNode struct {
	name, rack string
	free       int
}

func (s *delayed) addNode() {
	n := &delayedNode{name: fmt.Sprintf("n%d", len(s.nodes)), rack: rack(s.IntN(3)), free: 1 + s.IntN(2)}
	s.nodes = append(s.nodes, n)
	s.l.ObserveNode(ledger.Node{Name: n.name, Rack: n.rack, Allocatable: size{cpu: 1000 * int64(n.free)}.list(), Usable: true})
}

func (s *delayed) submit() {
	a := &delayedApp{name: fmt.Sprintf("app-%03d", len(s.apps))}
	s.apps = append(s.apps, a)
	for i := range 1 + s.IntN(4) {
		uid := fmt.Sprintf("%s-%d", a.name, i)
		p := &ledger.Pod{UID: ledger.UID(uid), Name: uid, Namespace: "ns", Queue: "a", Application: a.name, Class: "one",
			Created: int64(len(s.apps))*1e10 + int64(i), Request: size{cpu: 1000}.list()}
		draw := func(chance int, name func() string) string {
			var names []string
			for s.IntN(chance) > 0 && len(names) < 3 {
				names = append(names, name())
			}
			slices.Sort(names)
			return strings.Join(slices.Compact(names), ",")
		}
		p.PreferredNodes = draw(3, func() string { return fmt.Sprintf("n%d", s.IntN(8)) })
		p.PreferredRacks = draw(2, func() string { return rack(s.IntN(4)) })
		a.pods = append(a.pods, p)
		s.l.ObservePod(*p, s.now)
		if s.delay.Node < 1 { // then what it prefers does not count
			p.PreferredNodes = ""
		}
		if s.delay.Rack < 1 {
			p.PreferredRacks = ""
		}
	}
}

// level is where a node stands for a pod.
func (n *delayedNode) level(p *ledger.Pod) locality.Level {
	switch {
	case slices.Contains(strings.Split(p.PreferredNodes, ","), n.name):
		return locality.Node
	case slices.Contains(strings.Split(p.PreferredRacks, ","), n.rack):
		return locality.Rack
	}
	return locality.Any
}

// accepts is the level up to which a pod goes: it waits for its nodes, then for its racks, if there are any.
func (s *delayed) accepts(a *delayedApp, p *ledger.Pod) locality.Level {
	of := func(level locality.Level) bool {
		return slices.ContainsFunc(s.nodes, func(n *delayedNode) bool {
			return n.level(p) == level || level == locality.Rack && p.PreferredRacks != "" && slices.Contains(strings.Split(p.PreferredRacks, ","), n.rack)
		})
	}
	total := int32(len(s.nodes))
	forNodes := min(max(s.delay.Node, 0), total)
	forRacks := min(max(s.delay.Rack, 0), total-forNodes)
	if !of(locality.Node) {
		forNodes = 0
	}
	if !of(locality.Rack) {
		forRacks = 0
	}
	switch {
	case a.missed < forNodes:
		return locality.Node
	case a.missed < forNodes+forRacks:
		return locality.Rack
	}
	return locality.Any
}

// turn is whose turn it is: the first pod in order that accepts a node with room, or if there is none the first pod; and which applications let the room go.
func (s *delayed) turn() (of *delayedApp, p *ledger.Pod, upTo locality.Level, passed []*delayedApp) {
	free := slices.DeleteFunc(slices.Clone(s.nodes), func(n *delayedNode) bool { return n.free == 0 })
	for _, a := range s.apps {
		for _, p := range a.pods {
			upTo = s.accepts(a, p)
			if slices.ContainsFunc(free, func(n *delayedNode) bool { return n.level(p) <= upTo }) {
				return a, p, upTo, passed
			}
		}
		if len(a.pods) > 0 {
			passed = append(passed, a)
		}
	}
	for _, a := range s.apps {
		if len(a.pods) > 0 {
			return a, a.pods[0], locality.Any, nil
		}
	}
	return nil, nil, 0, nil
}

// start starts pods until the ledger releases none, and compares each with whose turn it is.
func (s *delayed) start() error {
	for {
		room := slices.ContainsFunc(s.nodes, func(n *delayedNode) bool { return n.free > 0 })
		r, ok := s.l.Choose(s.now)
		of, want, upTo, passed := s.turn()
		switch {
		case !ok && room && want != nil:
			return fmt.Errorf("nothing is released, although there is room and %s waits", want.UID)
		case !ok:
			return nil
		case !room:
			s.l.Fail(r.UID, ledger.NoFit, s.now) // the first attempt of its class
			continue
		case r.UID != want.UID:
			return fmt.Errorf("%s is released, and it is the turn of %s", r.UID, want.UID)
		}
		names := s.l.Candidates(r.UID, 1, 0)
		if preferred := s.l.PreferredNodes(r.UID, 8); len(preferred) > 0 {
			names = preferred
		}
		if len(names) == 0 {
			return fmt.Errorf("%s is released for no node", r.UID)
		}
		name := names[s.IntN(len(names))]
		on := s.nodes[slices.IndexFunc(s.nodes, func(n *delayedNode) bool { return n.name == name })]
		if on.free == 0 {
			return fmt.Errorf("%s is released for %s, which is full", r.UID, on.name)
		}
		if on.level(want) > upTo {
			return fmt.Errorf("%s goes to %s, and accepts no more than %s", r.UID, on.name, upTo)
		}
		if on.level(want) > s.accepts(of, want) {
			s.waived++
		}
		for _, a := range passed {
			a.missed++
			s.missed++
			if a.missed > max(s.delay.Node, 0)+max(s.delay.Rack, 0) || int(a.missed) > len(s.nodes) {
				return fmt.Errorf("%s has let %d opportunities go", a.name, a.missed)
			}
		}
		if on.level(want) != locality.Any {
			of.missed = 0
		}
		of.pods = slices.DeleteFunc(of.pods, func(p *ledger.Pod) bool { return p == want })
		on.free--
		s.running[r.UID] = on
		s.l.Reserve(r.UID, on.name, s.now)
		bound := *want
		bound.Node, bound.Placed = on.name, string(r.Queue)
		s.l.ObservePod(bound, s.now)
	}
}

// end ends one of the running pods and wakes those that fitted nowhere.
func (s *delayed) end() {
	uids := sorted(s.running)
	if len(uids) == 0 {
		return
	}
	uid := uids[s.IntN(len(uids))]
	s.running[uid].free++
	delete(s.running, uid)
	s.l.ForgetPod(uid, s.now)
}

func (s *delayed) wake() {
	for _, a := range s.apps {
		for _, p := range a.pods {
			s.l.Admitted(p.UID)
		}
	}
	s.l.TakeWoken(s.now)
}

// Whatever pods prefer: each release is that of a dumb twin that counts what each application lets go. No application lets more opportunities go than the
// delays say, or than there are nodes, and while there is room and pods wait, something is released.
func TestDelaysEqualTheirTwin(t *testing.T) {
	var missed, waived atomic.Int64
	seeds(t, 300, func(seed uint64, _ Options) error {
		s := &delayed{Rand: rand.New(rand.NewPCG(seed, 19)), running: map[ledger.UID]*delayedNode{}, now: 1}
		s.delay = locality.Delay{Node: int32(s.IntN(8) - 1), Rack: int32(s.IntN(5) - 1)}
		s.l = ledger.New(ledger.Options{Delay: s.delay})
		spec := queue.DefaultSpec()
		spec.Policy = queue.FIFO
		s.l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: spec})
		for range 1 + s.IntN(6) {
			s.addNode()
		}
		s.l.Lead(s.now)
		for step := range 150 {
			s.now++
			switch n := s.IntN(12); {
			case n == 0 && len(s.nodes) < 8:
				s.addNode()
			case n < 4:
				s.submit()
			default:
				s.end()
			}
			s.wake()
			if err := s.start(); err != nil {
				return fmt.Errorf("seed %d, step %d: %w", seed, step, err)
			}
		}
		missed.Add(int64(s.missed))
		waived.Add(int64(s.waived))
		for _, wrong := range s.l.Check() {
			return fmt.Errorf("seed %d: %s", seed, wrong)
		}
		return nil
	})
	t.Cleanup(func() {
		t.Logf("%d opportunities were missed, %d times pods took what nobody else wanted", missed.Load(), waived.Load())
		if *seedFlag == 0 && (missed.Load() == 0 || waived.Load() == 0) {
			t.Error("nothing was missed, or nothing taken by those that wait: the test lost its subject")
		}
	})
}
