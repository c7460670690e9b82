package simulator

import (
	"fmt"
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

// bookedDay is a cluster of 40 cores in which pods of one core always wait in root.busy and root.plan, and users reserve capacity of root.plan, which is entitled
// to half of the cluster. A claim opens after 10 seconds, a victim is evicted 10 seconds after its announcement and takes 30 to stop.
type bookedDay struct {
	*testing.T
	rng      *rand.Rand
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
}

const (
	dayCores = 40
	tick     = 5
	dayLong  = 24 * 3600
	dayLead  = 2 * (10 + 10 + 30 + 4*tick) // each stage is seen at the next tick
	settled  = 600                         // when the cluster has filled up
)

func newDay(t *testing.T, seed uint64) *bookedDay {
	d := &bookedDay{
		T: t, rng: rand.New(rand.NewPCG(seed, 77)), l: ledger.New(ledger.Options{}), follower: reservations.New(), pods: map[ledger.UID]*ledger.Pod{},
		ends: map[ledger.UID]int64{}, held: map[queue.Path][]ledger.UID{}, running: map[queue.Path]int64{}, declared: map[queue.Path]queue.Declaration{},
		accepted: map[string]bool{}, parked: map[ledger.UID]bool{},
	}
	d.l.ObserveNode(withFacts(ledger.Node{Name: "n", Usable: true, Allocatable: cores(dayCores)}, false))
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

func cores(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: n * 1000})
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
	length := int64(0)
	for range 1 + d.rng.IntN(3) {
		r := reservation.Request{Concurrency: 1 + d.rng.Int64N(3), Resources: cores(1 + d.rng.Int64N(2)), Duration: 600 + d.rng.Int64N(3600)}
		r.Pods = r.Concurrency * (1 + d.rng.Int64N(3))
		def.Requests = append(def.Requests, r)
		length += r.Duration
	}
	def.Deadline = arrival + length + d.rng.Int64N(3*3600)
	if between := def.Deadline - arrival; d.rng.IntN(10) == 0 && between <= 6*3600 {
		def.Recurrence = 6 * 3600
	}
	d.objects = append(d.objects, reservations.Object{
		Namespace: "ns", Name: fmt.Sprintf("r%03d", i), UID: fmt.Sprint(i), Created: d.now * second, Generation: 1, Queue: "root.plan",
		User: fmt.Sprint("user-", d.rng.IntN(5)), Definition: def,
	})
}

// follow does what the leader does at every moment: it decides, and writes the queues.
func (d *bookedDay) follow() {
	entitled := cores(dayCores / 2) // of two queues of equal weight
	d.result = d.follower.Step(d.now*second, []reservations.Queue{
		{Path: "root.plan", InForce: true, Capacity: entitled, Policy: reservation.DefaultPolicy(), Lead: dayLead},
	}, d.objects)
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

// users keep as many pods as make sense: those of a reservation what it has, or is about to have; the others always some that wait.
func (d *bookedDay) users() {
	for _, c := range d.result.Children {
		if c.For == "" {
			continue
		}
		want := c.Guaranteed.Get(resource.CPU) / 1000
		for int64(len(d.held[c.Path])) < want {
			d.create(c.Path, true, dayLong*2)
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
			d.create(path, false, 300+d.rng.Int64N(600))
		}
	}
}

func (d *bookedDay) create(path queue.Path, reserved bool, lasts int64) {
	d.made++
	uid := ledger.UID(fmt.Sprintf("p%06d", d.made))
	p := &ledger.Pod{UID: uid, Name: string(uid), Namespace: "ns", Application: string(uid), Class: "c", Request: cores(1), Created: d.now * second, Queue: string(path)}
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
		if !d.fits(r.UID) {
			d.parked[r.UID] = true
			d.l.Fail(r.UID, ledger.NoFit, at)
			continue
		}
		if _, ok := d.l.Reserve(r.UID, "n", at); !ok {
			d.l.Fail(r.UID, ledger.Refused, at)
			continue
		}
		p.Node, p.Placed, p.Bound = "n", p.Queue, at
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

// fits reports whether the node has room for a pod besides that which is made for others.
func (d *bookedDay) fits(uid ledger.UID) bool {
	room := int64(dayCores)
	for _, n := range d.running { // a sum: order does not matter
		room -= n
	}
	if d.l.NominatedTo(uid) == "" {
		for other, p := range d.pods { // a sum
			if p.Node == "" && d.l.NominatedTo(other) != "" {
				room--
			}
		}
	}
	return room > 0
}

// judge: what is accepted has its capacity.
func (d *bookedDay) judge() {
	sum := int64(0)
	plan, _ := d.follower.Plan("root.plan")
	for _, r := range plan.Accepted {
		want := r.At(d.now).Get(resource.CPU) / 1000
		sum += want
		if want == 0 {
			continue
		}
		d.accepted[r.Name] = true
		d.judged += tick
		if at := d.result.Statuses[r.Name].At; d.running[at] < want {
			d.Errorf("at %d %s has %d of %d cores", d.now, r.Name, d.running[at], want)
		}
	}
	if sum > dayCores/2 {
		d.Errorf("at %d %d cores are reserved", d.now, sum)
	}
	if d.now >= settled {
		for _, n := range d.running { // a sum: order does not matter
			d.useful += n * tick
		}
		d.useful -= d.leaving * tick
	}
}

func (d *bookedDay) run(definitions int) (utilisation float64) {
	every := int64(dayLong * 5 / 6 / max(definitions, 1) / tick * tick)
	next := int64(0)
	for ; d.now < dayLong && !d.Failed(); d.now += tick {
		for uid, at := range d.ends {
			if d.pods[uid].Node != "" && at <= d.now {
				d.end(uid)
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

// On a busy cluster users reserve all day long. Every accepted reservation has its capacity at every instant of its allocation, and others have so much of
// the rest that hardly more lies idle than without reservations.
func TestADayOfReservations(t *testing.T) {
	for seed := range uint64(2) {
		booked := newDay(t, seed)
		with := booked.run(200)
		without := newDay(t, seed).run(0)
		t.Logf("seed %d: %d of 200 were accepted and had capacity, %d seconds in all; utilisation %.4f, without reservations %.4f", seed,
			len(booked.accepted), booked.judged, with, without)
		if with < without*0.98 {
			t.Errorf("seed %d: the cluster is used to %.4f, without reservations to %.4f", seed, with, without)
		}
		if len(booked.accepted) < 20 {
			t.Errorf("seed %d: only %d reservations were accepted", seed, len(booked.accepted))
		}
	}
}
