package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// adversary is a user with one queue who wants others to lose as much as possible, and submits whatever hurts them most. It knows the nodes and what
// runs there, and breaks no law of the API server: it writes objects of its own queue, and no status.
//
// It has a model of each attack: how much room of nodes the attack could bind or keep. It believes what it sees as much as the model: what lies idle
// while pods of others wait, some time after the attack.
type adversary struct {
	w    *World
	rng  *rand.Rand
	leaf queue.Path
	// idle is how many milli-cpu lie idle that others want.
	idle func() int64
	most int // pods of its own that wait

	pods, groups int
	last         int // attack; -1: none yet
	trials       []trial
	kinds        map[ledger.UID]intent
	held         string // its group that was edited last while nodes were held for it
	// withheldSince is since when more is kept for it than it is owed: see audit_adversary.go.
	withheldSince, lookAt int64
}

// trial is what came of an attack so far.
type trial struct {
	times int64
	idle  int64 // all that was idle when it acted again
}

// intent is what an adversary does with a pod once it has its way.
type intent uint8

const (
	runs   intent = iota // for as long as pods of that world do
	again                // ends at once, and another one comes
	fleets               // deleted while it is released
	victim               // deleted when it is announced, or nominated
)

// attack is something that an adversary submits.
type attack struct {
	name string
	// room is how much room of nodes it could bind or keep, in milli-cpu.
	room   func(a *adversary) int64
	submit func(a *adversary)
}

// attacks are all that an adversary can think of.
func (a *adversary) attacks() []attack {
	if a.w.opts.Groups {
		return append(podAttacks(), groupAttacks()...)
	}
	return podAttacks()
}

// of is one of so many parts of the cluster.
func of(n int64) func(a *adversary) int64 { return func(a *adversary) int64 { return a.cluster() / n } }

// oneNode is the room of the largest node.
func oneNode(a *adversary) int64 { return a.node()[cpu] }

func groupAttacks() []attack {
	return []attack{
		{"a group of which each pod fits on an empty node only", of(1), func(a *adversary) { a.group(a.count(), 0, a.emptyOnly(), nil) }},
		{"ten such groups of two", of(1), func(a *adversary) {
			for range 10 {
				a.group(2, 0, a.emptyOnly(), nil)
			}
		}},
		{"a group of more pods than there are nodes", of(1), func(a *adversary) { a.group(a.count()+1, 0, a.emptyOnly(), nil) }},
		{"groups of fewer and fewer pods that fit on empty nodes only", of(1), func(a *adversary) {
			for n := min(a.count(), 4); n > 1; n-- {
				a.group(n, 0, a.emptyOnly(), nil)
			}
		}},
		{"a group that lacks a pod", of(2), func(a *adversary) { a.group(a.count(), -1, a.emptyOnly(), nil) }},
		{"a group with a pod that fits nowhere", of(1), func(a *adversary) {
			a.group(a.count(), 0, a.emptyOnly(), func(i int, p *ledger.Pod) {
				if i == 0 {
					p.Request, p.Class = a.node().plus(size{cpu: 1000, memory: gib}).list(), p.Class+" too large"
				}
			})
		}},
		{"a group that a gate of another party holds", of(2), func(a *adversary) {
			a.group(a.count(), 0, a.emptyOnly(), func(i int, p *ledger.Pod) {
				if i == 0 {
					p.Gate = "SchedulingGates"
				}
			})
		}},
		{"a group of drivers, and a head", of(1), func(a *adversary) {
			all := a.rng.IntN(2) == 0
			a.group(a.count(), 0, a.emptyOnly(), func(i int, p *ledger.Pod) {
				p.Role = application.Executor
				if all || i == 0 {
					p.Role = application.Driver
				}
			})
		}},
		{"a group that takes all memory and no cpu", of(1), func(a *adversary) {
			a.group(a.count(), 0, size{cpu: 1, memory: a.node()[memory]}, nil)
		}},
		{"a group with minResources of the whole cluster", of(1), func(a *adversary) {
			key := a.group(2, 0, a.emptyOnly(), nil)
			d := a.w.groups[key]
			d.MinResources = resource.Of(resource.Entry{Name: resource.CPU, Value: a.cluster()})
			a.w.groups[key] = d
			a.w.groupChanged(key)
		}},
		{"groups that are deleted while they are released", oneNode, func(a *adversary) {
			key := a.group(2, 0, a.unit(), nil)
			for uid, p := range a.w.pods { // each for itself: order does not matter
				if p.PodGroup == key {
					a.kinds[uid] = fleets
				}
			}
		}},
		{"a group that grows whenever nodes are held for it", of(1), func(a *adversary) { a.group(2, 0, a.emptyOnly(), nil) }},
	}
}

func podAttacks() []attack {
	return []attack{
		{"one huge pod", oneNode, func(a *adversary) { a.create(a.app(), a.node(), runs, nil) }},
		{"one pod that fits on no node", oneNode, func(a *adversary) {
			a.create(a.app(), a.node().plus(size{cpu: 1000, memory: gib}), runs, nil)
		}},
		{"many applications of one pod", of(4), func(a *adversary) {
			for range a.most / 2 {
				a.create(a.app(), a.unit(), runs, func(p *ledger.Pod) { p.Class, p.Single = p.Name, a.rng.IntN(2) == 0 })
			}
		}},
		{"many pods of which each is a class that fits nowhere", of(4), func(a *adversary) {
			app := a.app()
			for i := range a.most / 2 {
				a.create(app, a.node().plus(size{cpu: int64(i + 1), memory: gib}), runs, nil)
			}
		}},
		{"drivers without executors", of(8), func(a *adversary) {
			for range 4 {
				a.create(a.app(), a.unit(), runs, func(p *ledger.Pod) { p.Role = application.Driver })
			}
		}},
		{"executors without a driver", of(8), func(a *adversary) {
			app := a.app()
			for range 4 {
				a.create(app, a.unit(), runs, func(p *ledger.Pod) { p.Role = application.Executor })
			}
		}},
		{"pods that end at once and come again", of(3), func(a *adversary) {
			for range 3 {
				a.create(a.app(), a.unit(), again, nil)
			}
		}},
		{"huge pods that are deleted while they are released", oneNode, func(a *adversary) {
			for range 3 {
				a.create(a.app(), a.emptyOnly(), fleets, nil)
			}
		}},
		{"pods that are deleted when they are announced or nominated", oneNode, func(a *adversary) {
			app := a.app()
			for range 2 {
				a.create(app, a.emptyOnly(), victim, nil)
			}
			a.create(app, a.unit(), victim, nil)
		}},
		{"small pods, and large ones of a higher priority", oneNode, func(a *adversary) {
			app := a.app()
			for i := range 6 {
				s := a.unit()
				if i >= 4 {
					s = a.emptyOnly()
				}
				a.create(app, s, runs, func(p *ledger.Pod) { p.Priority = int32(100 * (i / 2)) })
			}
		}},
		{"a pod just within the limit of one pod", oneNode, func(a *adversary) { a.create(a.app(), a.largest(), runs, nil) }},
	}
}

func newAdversary(w *World, leaf queue.Path, most int, idle func() int64) *adversary {
	a := &adversary{
		w: w, rng: rand.New(rand.NewPCG(w.seed, 41)), leaf: leaf, idle: idle, most: most, last: -1, kinds: map[ledger.UID]intent{},
	}
	a.trials = make([]trial, len(a.attacks()))
	return a
}

// act judges the last attack by what is idle, edits what is held for it, and makes the next.
func (a *adversary) act() {
	if a.last >= 0 {
		a.trials[a.last].times++
		a.trials[a.last].idle += a.idle()
	}
	a.growHeld()
	a.tidy()
	best, most := 0, int64(-1)
	all := a.attacks()
	for i := range all {
		t := a.trials[i]
		if worth := (all[i].room(a) + t.idle) / (t.times + 1); worth > most {
			best, most = i, worth
		}
	}
	a.last = best
	all[best].submit(a)
}

// growHeld has a group for which nodes are held need one pod more, or one less.
func (a *adversary) growHeld() {
	key := a.w.heldFor
	d, ok := a.w.groups[key]
	if !ok || !a.ours(key) || key == a.held {
		return
	}
	a.held = key
	d.MinMember += 1 - 2*a.rng.IntN(2)
	a.w.disturbed[key] = true
	a.w.groups[key] = d
	a.w.groupChanged(key)
	if a.rng.IntN(2) == 0 {
		a.member(key, d.MinMember, a.emptyOnly(), nil)
	}
}

// edited: it edited the group while nodes were held for it.
func (a *adversary) edited(group string) bool { return a != nil && a.held == group }

func (a *adversary) ours(group string) bool { return strings.HasPrefix(group, "default/adversary-") }

// tidy deletes the oldest pods that wait where there are too many.
func (a *adversary) tidy() {
	var waiting []*pod
	for _, uid := range sorted(a.w.pods) {
		if p := a.w.pods[uid]; a.owns(p) && p.exists && p.Node == "" && !p.Terminating {
			waiting = append(waiting, p)
		}
	}
	for i := 0; i < len(waiting) && len(waiting)-i > a.most; i++ {
		a.delete(waiting[i])
	}
}

// owns: pods of this user, and no others, are named so.
func (a *adversary) owns(p *pod) bool {
	return a != nil && strings.HasPrefix(string(p.UID), "adversary-")
}

func (a *adversary) delete(p *pod) {
	if p.exists {
		p.exists = false
		a.w.disturbed[p.PodGroup] = true
		a.w.podChanged(p)
	}
}

// group makes a group of n pods and so many more or fewer, and returns its key.
func (a *adversary) group(n int64, more int64, s size, edit func(i int, p *ledger.Pod)) string {
	a.groups++
	key := fmt.Sprintf("default/adversary-%03d", a.groups)
	a.w.groups[key] = ledger.PodGroup{Key: key, MinMember: int(n)}
	a.w.groupChanged(key)
	for i := range n + more {
		a.member(key, int(i), s, edit)
	}
	return key
}

func (a *adversary) member(key string, i int, s size, edit func(i int, p *ledger.Pod)) {
	a.create(key, s, runs, func(p *ledger.Pod) {
		p.PodGroup = key
		if edit != nil {
			edit(i, p)
		}
	})
}

// app is the name of an application that is not there yet.
func (a *adversary) app() string { return fmt.Sprintf("default/job/adversary-%04d", a.pods+1) }

func (a *adversary) create(app string, s size, k intent, edit func(p *ledger.Pod)) {
	a.pods++
	name := fmt.Sprintf("adversary-%05d", a.pods)
	p := ledger.Pod{
		UID: ledger.UID(name), Namespace: "default", Name: name, Queue: string(a.leaf), Application: app, User: "adversary", Created: a.w.now,
		Class: fmt.Sprintf("adversary %v", s), Request: s.list(),
	}
	if edit != nil {
		edit(&p)
	}
	a.kinds[p.UID] = k
	o := &pod{Pod: p, exists: true}
	a.w.pods[p.UID] = o
	a.w.podChanged(o)
}

// onRelease, onBound and onNamed (announced or nominated) are what it sees of its pods.
func (a *adversary) onRelease(p *pod) {
	if a.owns(p) && a.kinds[p.UID] == fleets {
		a.w.at(a.rng.Int64N(3*millisecond), func() {
			if p.Node == "" {
				a.delete(p)
			}
		})
	}
}

func (a *adversary) onBound(p *pod) {
	if !a.owns(p) || a.kinds[p.UID] != again {
		return
	}
	a.w.at(millisecond, func() {
		a.delete(p)
		if !a.w.closing {
			a.create(p.Application, sizeOf(p.Request), again, nil)
		}
	})
}

func (a *adversary) onNamed(p *pod) {
	if a.owns(p) && a.kinds[p.UID] == victim && a.rng.IntN(2) == 0 {
		a.w.at(a.rng.Int64N(second), func() {
			if p.exists && !a.w.closing {
				a.delete(p)
				a.create(p.Application, sizeOf(p.Request), victim, nil)
			}
		})
	}
}

// cluster is what all nodes have, in milli-cpu.
func (a *adversary) cluster() (sum int64) {
	for _, n := range a.w.nodes { // a sum: order does not matter
		if n.Usable {
			sum += n.Allocatable.Get(resource.CPU)
		}
	}
	return sum
}

// node is the largest.
func (a *adversary) node() (most size) {
	for _, name := range sorted(a.w.nodes) {
		if s := sizeOf(a.w.nodes[name].Allocatable); a.w.nodes[name].Usable && s[cpu] > most[cpu] {
			most = s
		}
	}
	most[gpu] = 0
	return most
}

func (a *adversary) count() int64 {
	n := int64(0)
	for _, o := range a.w.nodes { // a sum: order does not matter
		if o.Usable {
			n++
		}
	}
	return min(max(n, 2), 8)
}

// emptyOnly is a size of which a node holds one.
func (a *adversary) emptyOnly() size {
	s := a.node()
	half := s[cpu]/2000 + 1
	s[cpu] = 1000 * (half + a.rng.Int64N(max(s[cpu]/1000-half+1, 1)))
	s[memory] = gib
	return s
}

// unit is the size of a small pod.
func (a *adversary) unit() size { return size{cpu: 1000, memory: gib} }

// largest is a size just within what its queue allows a pod, or just above.
func (a *adversary) largest() size {
	s := a.node()
	for q := a.leaf; q != ""; q = q.Parent() {
		for i, n := range resources {
			if most, ok := a.w.queues[q].Spec.MaxPod.Lookup(n); ok {
				s[i] = min(s[i], most)
			}
		}
	}
	s[cpu] = max(s[cpu]+int64(a.rng.IntN(5))/4, 1)
	return s
}

// favourites are the attacks that did most, for reports.
func (a *adversary) favourites() string {
	var out []string
	for i, k := range a.attacks() {
		if t := a.trials[i]; t.times > 0 && t.idle > 0 {
			out = append(out, fmt.Sprintf("%s: %d times, %d m", k.name, t.times, t.idle/t.times))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
