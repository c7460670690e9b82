package simulator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// bookedDay is a cluster of 40 cores and 160Gi in which pods of one core and up to 4Gi always wait in root.busy and root.plan, and users reserve capacity of
// root.plan, which is entitled to half of the cluster, for pods of one core and some memory. A claim opens after 10 seconds, a victim is evicted 10
// seconds after its announcement and takes 30 to stop.
type bookedDay struct {
	*testing.T
	faults
	rng      *rand.Rand
	nodes    map[string]resource.List // what is used of each
	lostAt   int64                    // when a node went last
	capacity resource.List            // what root.plan is entitled to
	memory   map[string]int64         // of each pod of a reservation, in Gi
	l        *ledger.Ledger
	follower *reservations.Follower
	now      int64 // seconds
	objects  []reservations.Object
	result   reservations.Result
	pods     map[ledger.UID]*ledger.Pod
	ends     map[ledger.UID]int64
	held     map[queue.Path][]ledger.UID // waiting and running pods by queue, the oldest first
	running  map[queue.Path]int64
	leaving  int64
	declared map[queue.Path]queue.Declaration
	made     int
	useful   int64 // seconds of cores
	accepted map[string]bool
	parked   map[ledger.UID]bool
	judged   int // seconds of reservations

	cancelled int
	late      int // seconds
	had       map[string]int64
	takesOver map[string]int64 // when it began to have more in the instant in which another one began to have less
}

// faults are what makes a day harder.
type faults struct {
	nodes    int      // of how many nodes the cluster is
	memory   int64    // the most that a pod of a reservation asks for, in Gi
	restarts bool     // another process begins to follow now and then
	losses   [3]int64 // the hours at which a node goes; it is back after an hour
}

const (
	dayCores  = 40
	dayMemory = 160
	perCore   = dayMemory / dayCores
	tick      = 5
	dayLong   = 24 * 3600
	dayLead   = 2 * (10 + 10 + 30 + 4*tick) // each stage is seen at the next tick
	settled   = 600                         // when the cluster has filled up
)

func newDay(t *testing.T, seed uint64, f faults) *bookedDay {
	d := &bookedDay{
		T: t, faults: f, nodes: map[string]resource.List{}, lostAt: -dayLead, memory: map[string]int64{}, had: map[string]int64{}, takesOver: map[string]int64{},
		rng: rand.New(rand.NewPCG(seed, 77)), l: ledger.New(ledger.Options{}), follower: reservations.New(), pods: map[ledger.UID]*ledger.Pod{},
		ends: map[ledger.UID]int64{}, held: map[queue.Path][]ledger.UID{}, running: map[queue.Path]int64{}, declared: map[queue.Path]queue.Declaration{},
		accepted: map[string]bool{}, parked: map[ledger.UID]bool{},
	}
	for i := range f.nodes {
		d.addNode(fmt.Sprint("n", i))
	}
	root := queue.DefaultSpec()
	root.Preemption.Interval = queue.Timeout{Stated: true, Nanoseconds: tick * second}
	root.Preemption.MaxWaitBeforeKill = queue.Timeout{Stated: true, Nanoseconds: 10 * second}
	root.Preemption.FairShareTimeout, root.Preemption.FairShareThreshold = queue.Timeout{Stated: true, Nanoseconds: 10 * second}, queue.AtMost(1000)
	plan := queue.DefaultSpec()
	plan.Preemption.GuaranteedTimeout = queue.Timeout{Stated: true, Nanoseconds: 10 * second}
	d.declare(queue.Declaration{Path: queue.Root, Spec: root})
	d.declare(queue.Declaration{Path: "root.busy", Spec: queue.DefaultSpec()})
	d.declare(queue.Declaration{Path: "root.plan", Spec: plan, Parent: true, Reservable: true})
	d.l.Lead(0)
	return d
}

// sized is so many cores, and Gi of memory.
func sized(cpu, memory int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000}, resource.Entry{Name: resource.Memory, Value: memory << 30})
}

// nodeSize is that of each node.
func (d *bookedDay) nodeSize() resource.List {
	n := int64(d.faults.nodes)
	return sized(dayCores/n, dayMemory/n)
}

func (d *bookedDay) addNode(name string) {
	d.nodes[name] = resource.List{}
	d.l.ObserveNode(withFacts(ledger.Node{Name: name, Usable: true, Allocatable: d.nodeSize()}, false))
}

// loseNode takes a node away with all its pods.
func (d *bookedDay) loseNode(name string) {
	for _, held := range d.held { // each pod for itself: order does not matter
		for _, uid := range slices.Clone(held) {
			if d.pods[uid].Node == name {
				d.end(uid)
			}
		}
	}
	delete(d.nodes, name)
	d.l.ForgetNode(name)
	d.lostAt = d.now
}

func (d *bookedDay) declare(q queue.Declaration) {
	if before, ok := d.declared[q.Path]; ok && before.Spec.Equal(q.Spec) {
		return
	}
	d.declared[q.Path] = q
	d.l.ObserveQueue(q)
}

// reserve asks for something at random. Whatever begins, begins late enough for room to be made.
func (d *bookedDay) reserve(i int) {
	arrival := d.now + dayLead + tick + d.rng.Int64N(4*3600)
	def := reservation.Definition{Arrival: arrival, Interpreter: reservation.Interpreter(d.rng.IntN(4))}
	memory := 1 + d.rng.Int64N(d.faults.memory)
	length := int64(0)
	for range 1 + d.rng.IntN(3) {
		r := reservation.Request{Concurrency: 1 + d.rng.Int64N(3), Duration: 600 + d.rng.Int64N(3600)}
		r.Pods = r.Concurrency * (1 + d.rng.Int64N(3))
		cpu := 1 + d.rng.Int64N(2)
		r.Resources = sized(cpu, cpu*memory)
		def.Requests = append(def.Requests, r)
		length += r.Duration
	}
	def.Deadline = arrival + length + d.rng.Int64N(3*3600)
	if between := def.Deadline - arrival; d.rng.IntN(10) == 0 && between <= 6*3600 {
		def.Recurrence = 6 * 3600
	}
	name := fmt.Sprintf("r%03d", i)
	d.memory["ns/"+name] = memory
	d.objects = append(d.objects, reservations.Object{
		Namespace: "ns", Name: name, UID: fmt.Sprint(i), Created: d.now * second, Generation: 1, Queue: "root.plan",
		User: fmt.Sprint("user-", d.rng.IntN(5)), Definition: def,
	})
}

// follow does what the leader does at every moment: it decides, and writes the queues.
func (d *bookedDay) follow() {
	for _, q := range d.l.Snapshot().Queues {
		if q.Path == "root.plan" {
			d.capacity = q.SteadyFairShare
		}
	}
	if d.restarts && d.rng.IntN(50) == 0 {
		d.follower = reservations.New()
	}
	d.result = d.follower.Step(d.now*second, []reservations.Queue{
		{Path: "root.plan", InForce: true, Capacity: d.capacity, Policy: reservation.DefaultPolicy(), Lead: dayLead},
	}, d.objects)
	for i := range d.objects {
		o := &d.objects[i]
		is := d.result.Statuses[o.Key()]
		d.wentOn(o, &is)
		o.Stored = is
	}
	needed := map[queue.Path]bool{}
	for _, c := range d.result.Children {
		needed[c.Path] = true
		spec := queue.DefaultSpec()
		if c.For != "" {
			spec.Weight, spec.Guaranteed = 0, c.Guaranteed
		}
		d.declare(queue.Declaration{Path: c.Path, Spec: spec, Origin: queue.Origin{Reservation: true, For: c.For}})
	}
	for path, q := range d.declared {
		if q.Origin.For != "" && !needed[path] && len(d.held[path]) == 0 {
			delete(d.declared, path)
			d.l.ForgetQueue(path)
		}
	}
}

// wentOn: what is accepted is so until it has ended, unless there is less to reserve than when it was accepted. Nothing of it changes.
func (d *bookedDay) wentOn(o *reservations.Object, is *reservations.Status) {
	was := &o.Stored
	if was.AcceptedTime == 0 {
		return
	}
	switch {
	case is.Phase == reservations.PhaseCancelled && len(d.nodes) < d.faults.nodes:
		d.cancelled++
	case is.AcceptedTime != was.AcceptedTime || len(is.Steps) != len(was.Steps):
		d.Errorf("at %d %s was %+v and is %+v", d.now, o.Name, was, is)
	case is.Phase == reservations.PhaseEnded && (is.Recurrence > 0 || d.now < is.Steps[len(is.Steps)-1].To):
		d.Errorf("at %d %s has ended: %+v", d.now, o.Name, is)
	}
}

// users keep as many pods as make sense: those of a reservation what it has, or is about to have; the others always some that wait.
func (d *bookedDay) users() {
	for _, c := range d.result.Children {
		if c.For == "" {
			continue
		}
		want := c.Reserved.Get(resource.CPU) / 1000
		for int64(len(d.held[c.Path])) < want {
			d.create(c.Path, true, dayLong*2, d.memory[c.For])
		}
		for int64(len(d.held[c.Path])) > want { // the reservation gives it back, and its user knows
			d.end(d.held[c.Path][len(d.held[c.Path])-1])
		}
	}
	for path := range d.held {
		if q := d.declared[path]; q.Origin.For != "" && !slices.ContainsFunc(d.result.Children, func(c reservations.Child) bool { return c.Path == path }) {
			for len(d.held[path]) > 0 {
				d.end(d.held[path][0])
			}
		}
	}
	for _, path := range []queue.Path{"root.busy", "root.plan.default"} {
		for int64(len(d.held[path]))-d.running[path] < 20 {
			d.create(path, false, 300+d.rng.Int64N(600), 1+d.rng.Int64N(perCore))
		}
	}
}

func (d *bookedDay) create(path queue.Path, reserved bool, lasts, memory int64) {
	d.made++
	uid := ledger.UID(fmt.Sprintf("p%06d", d.made))
	p := &ledger.Pod{
		UID: uid, Name: string(uid), Namespace: "ns", Application: string(uid), Class: fmt.Sprint("c", memory), Request: sized(1, memory),
		Created: d.now * second, Queue: string(path),
	}
	if reserved {
		p.Reservation = &reason.Reason{}
	}
	d.pods[uid], d.ends[uid] = p, lasts // from its start on
	d.held[path] = append(d.held[path], uid)
	d.l.ObservePod(*p, d.now*second)
}

func (d *bookedDay) end(uid ledger.UID) {
	p := d.pods[uid]
	path := queue.Path(p.Queue)
	if p.Node != "" {
		if p.Terminating {
			d.leaving--
		}
		d.running[path]--
		d.nodes[p.Node] = d.nodes[p.Node].Sub(p.Request)
	}
	delete(d.pods, uid)
	delete(d.parked, uid)
	delete(d.ends, uid)
	d.held[path] = slices.DeleteFunc(d.held[path], func(u ledger.UID) bool { return u == uid })
	d.l.ForgetPod(uid, d.now*second)
}

// schedule releases and binds what has room, and preempts.
func (d *bookedDay) schedule() {
	at := d.now * second
	for uid := range d.parked { // an event has woken them
		d.l.Admitted(uid)
	}
	clear(d.parked)
	d.l.TakeWoken(at)
	for {
		r, ok := d.l.Choose(at)
		if !ok {
			break
		}
		p := d.pods[r.UID]
		node := d.room(p)
		if node == "" {
			d.parked[r.UID] = true
			d.l.Fail(r.UID, ledger.NoFit, at)
			continue
		}
		if _, ok := d.l.Reserve(r.UID, node, at); !ok {
			d.l.Fail(r.UID, ledger.Refused, at)
			continue
		}
		p.Node, p.Placed, p.Bound = node, p.Queue, at
		d.nodes[node] = d.nodes[node].Add(p.Request)
		d.ends[r.UID] += d.now
		d.running[queue.Path(p.Queue)]++
		d.l.ObservePod(*p, at)
	}
	if due, _ := d.l.LookAtStarvation(at); due {
		if world, ok := d.l.Preemption(at); ok {
			f := &filters{Feasibility: d.l.Feasibility(world), world: world}
			plan := preemption.Make(world, f)
			if wrong := invariant.Plan(world, plan, f); len(wrong) > 0 {
				d.Fatalf("at %d: %q", d.now, wrong)
			}
			d.l.Adopt(world, plan, at)
		}
	}
	do := d.l.PendingActions(at)
	for _, v := range do.Announce {
		d.pods[v.UID].Announced = at
		d.l.ObservePod(*d.pods[v.UID], at)
		d.l.Announced(v.UID, at)
	}
	for _, v := range do.Evict {
		p := d.pods[v.UID]
		p.Terminating, p.Deadline = true, at+30*second
		d.ends[v.UID] = min(d.ends[v.UID], d.now+30)
		d.leaving++
		d.l.Evicted(v.UID, at)
		d.l.ObservePod(*p, at)
	}
	for _, v := range do.Withdraw {
		d.pods[v.UID].Announced = 0
		d.l.ObservePod(*d.pods[v.UID], at)
		d.l.Withdrawn(v.UID)
	}
	for _, n := range do.Nominate {
		d.l.Nominated(n)
	}
}

// room is a node with room for a pod besides that which is made for others, "" if there is none.
func (d *bookedDay) room(p *ledger.Pod) string {
	if at := d.l.NominatedTo(p.UID); at != "" && d.nodes[at].Add(p.Request).Fits(d.nodeSize()) {
		return at
	}
	kept := map[string]resource.List{}
	for other, o := range d.pods { // sums: order does not matter
		if at := d.l.NominatedTo(other); at != "" && o.Node == "" && other != p.UID {
			kept[at] = kept[at].Add(o.Request)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.nodes)) {
		if d.nodes[name].Add(kept[name]).Add(p.Request).Fits(d.nodeSize()) {
			return name
		}
	}
	return ""
}

// judge: what is accepted has its capacity. After a node has gone, its pods need the time that any room takes. What takes over the room of another one in the
// same instant, in a queue that is all reserved, may be late by a claim.
func (d *bookedDay) judge() {
	var sum resource.List
	plan, _ := d.follower.Plan("root.plan")
	d.noteTakeovers(plan)
	for _, r := range plan.Accepted {
		want := r.At(d.now).Get(resource.CPU) / 1000
		sum = sum.Add(r.At(d.now))
		if want == 0 || d.now < d.lostAt+dayLead {
			continue
		}
		d.accepted[r.Name] = true
		d.judged += tick
		at := d.result.Statuses[r.Name].At
		if since, ok := d.takesOver[r.Name]; ok && d.now < since+dayLead/2 && d.running[at] < want {
			d.late += tick
		} else if d.running[at] < want {
			d.Errorf("at %d %s has %d of %d cores", d.now, r.Name, d.running[at], want)
		}
	}
	if !sum.Fits(d.capacity) {
		d.Errorf("at %d %s are reserved of %s", d.now, sum, d.capacity)
	}
	if d.now >= settled {
		for _, n := range d.running { // a sum: order does not matter
			d.useful += n * tick
		}
		d.useful -= d.leaving * tick
	}
}

func (d *bookedDay) noteTakeovers(plan reservation.Plan) {
	has, less := map[string]int64{}, false
	for _, r := range plan.Accepted {
		has[r.Name] = r.At(d.now).Get(resource.CPU)
	}
	for name, before := range d.had { // any one will do
		less = less || has[name] < before
	}
	for name, now := range has { // each for itself: order does not matter
		if now > d.had[name] && less {
			d.takesOver[name] = d.now
		}
	}
	d.had = has
}

func (d *bookedDay) run(definitions int) (utilisation float64) {
	every := int64(dayLong * 5 / 6 / max(definitions, 1) / tick * tick)
	next := int64(0)
	lost := ""
	for ; d.now < dayLong && !d.Failed(); d.now += tick {
		for uid, at := range d.ends {
			if d.pods[uid].Node != "" && at <= d.now {
				d.end(uid)
			}
		}
		for i, hour := range d.losses {
			switch d.now {
			case hour * 3600:
				if hour > 0 {
					lost = fmt.Sprint("n", i)
					d.loseNode(lost)
				}
			case (hour + 1) * 3600:
				if hour > 0 {
					d.addNode(lost)
				}
			}
		}
		if len(d.objects) < definitions && d.now >= next {
			d.reserve(len(d.objects))
			next += every
		}
		d.follow()
		d.users()
		d.schedule()
		d.judge()
	}
	for _, wrong := range d.l.Check() {
		d.Error(wrong)
	}
	return float64(d.useful) / float64(dayCores*(dayLong-settled))
}

// On a busy cluster users reserve all day long, by all interpreters. Every accepted reservation has its capacity at every instant of its allocation, and others
// have so much of the rest that hardly more lies idle than without reservations. So it is also on several nodes, of which some go for an hour, and when another
// process begins to follow again and again; then only those are cancelled that were accepted last, when there is less to reserve.
func TestADayOfReservations(t *testing.T) {
	for _, day := range []struct {
		name string
		seed uint64
		faults
	}{
		{"one node", 0, faults{nodes: 1, memory: 6}},
		{"five nodes", 1, faults{nodes: 5, memory: 4}},
		{"faults", 2, faults{nodes: 5, memory: 4, restarts: true, losses: [3]int64{6, 11, 17}}},
	} {
		t.Run(day.name, func(t *testing.T) {
			booked := newDay(t, day.seed, day.faults)
			with := booked.run(200)
			without := newDay(t, day.seed, day.faults).run(0)
			interpreters := map[reservation.Interpreter]int{}
			for i := range booked.objects {
				if booked.accepted[booked.objects[i].Key()] {
					interpreters[booked.objects[i].Definition.Interpreter]++
				}
			}
			t.Logf("%d of 200 were accepted and had capacity, %d seconds in all, %d late, by interpreter %v; %d were cancelled; utilisation %.4f, without reservations %.4f",
				len(booked.accepted), booked.judged, booked.late, interpreters, booked.cancelled, with, without)
			if booked.late > booked.judged/1000 {
				t.Errorf("%d of %d seconds are late", booked.late, booked.judged)
			}
			if with < without*0.98 {
				t.Errorf("the cluster is used to %.4f, without reservations to %.4f", with, without)
			}
			if len(booked.accepted) < 20 || len(interpreters) < 4 {
				t.Errorf("only %d reservations were accepted: %v", len(booked.accepted), interpreters)
			}
		})
	}
}
