package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// following is what the leader does for reservations, and the objects that it does it for.
type following struct {
	*reservations.Follower
	objects []reservations.Object
	made    int // of them, also those that are gone
}

func (w *World) inFollowing() *following {
	if w.following == nil {
		w.following = &following{Follower: reservations.New()}
	}
	return w.following
}

// reservation NAME queue=PATH user=NAME arrival=D deadline=D ... creates a Reservation, or makes one another, with the options of reserve. Without options it is deleted.
func (w *World) setReservation(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	f := w.inFollowing()
	is := func(o reservations.Object) bool { return o.Name == name }
	if len(s.options) == 0 {
		f.objects = slices.DeleteFunc(f.objects, is)
		return "", nil
	}
	path := ""
	rest := s
	rest.options = slices.DeleteFunc(slices.Clone(s.options), func(o option) bool {
		if o.Key == "queue" {
			path = o.value()
		}
		return o.Key == "queue"
	})
	user, d, err := parseDefinition(rest)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(f.objects, is); i >= 0 {
		f.objects[i].Definition = d
		f.objects[i].Generation++
		return "", nil
	}
	f.made++
	f.objects = append(f.objects, reservations.Object{
		Namespace: "default", Name: name, UID: fmt.Sprint(name, "-", f.made), Created: w.now * second, Generation: 1, Queue: queue.Path(path), User: user, Definition: d,
	})
	return "", nil
}

// follow [lead=D] [moveOnExpiry=false]: the leader looks at the Reservations, and does what is to be done now. Room is made so long before it is needed. It
// prints where each Reservation stands, the queues that there are for them, and the pods that outlive theirs. After new-leader another process does it.
func (w *World) follow(s statement) (string, error) {
	f, lead, move := w.inFollowing(), int64(0), true
	for _, o := range s.options {
		var err error
		switch o.Key {
		case "lead":
			lead, err = parseSeconds(o)
		case "moveOnExpiry":
			move, err = o.value() == "true", parseBool(o)
		default:
			err = fmt.Errorf("follow takes no %s", o.Key)
		}
		if err != nil {
			return "", err
		}
	}
	l := w.inLive()
	result := f.Step(w.now*second, w.reservable(lead), f.objects)
	var out strings.Builder
	for i := range f.objects {
		o := &f.objects[i]
		o.Stored = result.Statuses[o.Key()]
		fmt.Fprintf(&out, "%s: %s%s\n", o.Name, o.Stored.Phase, standing(&o.Stored))
	}
	needed := map[queue.Path]bool{}
	for _, c := range result.Children {
		needed[c.Path] = true
		w.childQueue(c)
		if c.For != "" {
			fmt.Fprintf(&out, "%s is guaranteed %s\n", c.Path, cmp.Or(amounts(c.Guaranteed), "nothing"))
		}
	}
	w.syncLive()
	for i := range l.pods {
		w.followPod(&l.pods[i], needed, move, &out)
	}
	w.drainQueues(needed, &out)
	return out.String(), nil
}

// standing is what a status says beside its phase.
func standing(s *reservations.Status) string {
	switch {
	case s.Refusal.Reason != "":
		return ": " + s.Refusal.Reason + ": " + s.Refusal.Message
	case s.Phase == reservations.PhaseAccepted:
		return ", begins at " + instant(s.Start)
	}
	return ""
}

// reservable are the reservable queues with what they are entitled to.
func (w *World) reservable(lead int64) (out []reservations.Queue) {
	for _, state := range w.live.ledger.Snapshot().Queues {
		if i, ok := w.declaration(state.Path); ok && w.queues[i].Reservable {
			out = append(out, reservations.Queue{
				Path: state.Path, InForce: state.InTree, Capacity: state.SteadyFairShare, Policy: reservation.DefaultPolicy(), Lead: lead,
			})
		}
	}
	return out
}

// childQueue makes a queue below a reservable one what it is to be.
func (w *World) childQueue(c reservations.Child) {
	d := queue.Declaration{Path: c.Path, Spec: queue.DefaultSpec(), Created: w.now * second, Origin: queue.Origin{Reservation: true, For: c.For}}
	if c.For != "" {
		d.Spec.Weight, d.Spec.Guaranteed = 0, c.Guaranteed
	}
	if i, ok := w.declaration(c.Path); ok {
		w.queues[i].Spec = d.Spec
	} else {
		w.queues = append(w.queues, d)
	}
}

// drainQueues removes the queues of reservations that are not needed any more. One in which pods are is guaranteed nothing.
func (w *World) drainQueues(needed map[queue.Path]bool, out *strings.Builder) {
	w.queues = slices.DeleteFunc(w.queues, func(d queue.Declaration) bool {
		return d.Origin.For != "" && !needed[d.Path] && !slices.ContainsFunc(w.live.pods, func(p ledger.Pod) bool { return p.Node != "" && p.Placed == string(d.Path) })
	})
	for i := range w.queues {
		if d := &w.queues[i]; d.Origin.For != "" && !needed[d.Path] {
			d.Spec.Guaranteed = resource.List{}
			fmt.Fprintf(out, "%s is guaranteed nothing\n", d.Path)
		}
	}
}

// followPod gives a pod that waits what its reservation says, and ends what has outlived it.
func (w *World) followPod(p *ledger.Pod, needed map[queue.Path]bool, move bool, out *strings.Builder) {
	name, ok := w.reservedFor[p.Name]
	switch {
	case !ok:
		return
	case p.Node == "":
		w.reserved(p, name)
	case needed[queue.Path(p.Placed)] || p.Terminating || queue.Path(p.Placed) == queue.Path(p.Placed).Parent().PlanDefault():
		return
	case move:
		p.Placed = string(queue.Path(p.Placed).Parent().PlanDefault())
		fmt.Fprintf(out, "%s moves to %s\n", p.Name, p.Placed)
	default:
		p.Terminating = true
		fmt.Fprintf(out, "%s is evicted\n", p.Name)
	}
	w.live.ledger.ObservePod(*p, w.now*second)
}

// reserved gives a pod the queue of the reservation that it names, or the reason why it has none.
func (w *World) reserved(p *ledger.Pod, name string) {
	f := w.inFollowing()
	why := reason.Reason{Code: reason.ReservationNotFound, Details: reason.Reserved{Name: "default/" + name}}
	p.Queue = ""
	if i := slices.IndexFunc(f.objects, func(o reservations.Object) bool { return o.Name == name }); i >= 0 {
		var at queue.Path
		at, why = f.objects[i].Says()
		p.Queue = string(at)
	}
	p.Reservation = &why
}

// new-leader: another process follows the reservations from now on. It knows what their statuses say.
func (w *World) newLeader(statement) (string, error) {
	if w.following == nil {
		return "", errors.New("nobody follows yet")
	}
	w.following.Follower = reservations.New()
	return "", nil
}

// name notes which reservation a pod names.
func (w *World) name(pod, reservation string) {
	if w.reservedFor == nil {
		w.reservedFor = map[string]string{}
	}
	w.reservedFor[pod] = reservation
}
