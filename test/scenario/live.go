package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	role "github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// live is a world in which pods come, are released and end: the real ledger, and nodes
// that take whatever has room.
type live struct {
	ledger  *ledger.Ledger
	nodes   map[string]resource.List
	pods    []ledger.Pod // in the order they came
	groups  map[string]ledger.PodGroup
	ports   map[string]string // those that pods take on their nodes
	budgets []budget
	policy  placement.Policy
	racks   map[string]string // of nodes
	delay   locality.Delay
}

const second int64 = 1e9

func newLive(d locality.Delay) *live {
	return &live{ledger: ledger.New(ledger.Options{Delay: d, LargePodPatience: gang.Patience}), delay: d, racks: map[string]string{}, nodes: map[string]resource.List{}, groups: map[string]ledger.PodGroup{}, ports: map[string]string{}}
}

// with has the objects of another world.
func (l *live) with(o *live) *live {
	l.racks = o.racks
	l.nodes, l.pods, l.groups, l.ports, l.budgets, l.policy = o.nodes, o.pods, o.groups, o.ports, o.budgets, o.policy
	return l
}

// inLive returns the live part of the world, and makes it if there is none.
func (w *World) inLive() *live {
	if w.live == nil {
		w.live = newLive(w.delay)
	}
	w.syncLive()
	return w.live
}

// syncLive passes every queue to the ledger. From then on the nodes are the cluster.
func (w *World) syncLive() {
	if w.live == nil {
		return
	}
	w.live.ledger.Lead(w.now * second)
	for _, q := range w.live.ledger.Snapshot().Queues {
		if _, ok := w.declaration(q.Path); !ok && q.Declared {
			w.live.ledger.ForgetQueue(q.Path)
		}
	}
	for _, d := range w.queues {
		w.live.ledger.ObserveQueue(d)
	}
	w.live.ledger.Settle(w.now * second)
	w.cluster = w.live.ledger.Snapshot().Total
}

// node NAME [rack=NAME] cpu=100 memory=400Gi adds a node or changes it. Without amounts the node is removed.
func (w *World) setNode(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	rack := ""
	s.options = slices.DeleteFunc(slices.Clone(s.options), func(o option) bool {
		if o.Key == "rack" {
			rack = o.value()
		}
		return o.Key == "rack"
	})
	amounts, err := s.amounts()
	if err != nil {
		return "", err
	}
	l := w.inLive()
	l.racks[name] = rack
	if amounts.Len() == 0 {
		delete(l.nodes, name)
		l.ledger.ForgetNode(name)
		return "", nil
	}
	l.nodes[name] = amounts
	l.ledger.ObserveNode(ledger.Node{Name: name, Allocatable: amounts, Usable: true, Rack: rack})
	return "", nil
}

// pod NAME queue=PATH [application=NAME] [size=N] [role=driver|executor] [user=NAME] [groups=(A, B)]
// [priority=N] [application-priority=N, or what is none] [group=NAME] [gate=NAME] [shows=TEXT] [port=N]
// [prefers=(NODE, NODE)] [racks=(A, B)] [nominated=NODE] [lasts=90s] [reservation=NAME] cpu=4 memory=8Gi submits a pod, or changes
// those properties of one. A pod that names no application is one of its own, or of its group's, and
// size=1 says that its application is that one pod; gate=none lets it go. priority is that of its
// PriorityClass. lasts is for how long it says that it runs. nominated is the node in its status, as kube-scheduler's own preemption writes it. What it
// shows is the scheduler's answer that it fits no node. No two pods of a node have one
// port, which only the attempt to place them finds out.
func (w *World) setPod(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	l := w.inLive()
	i := l.find(name)
	p := ledger.Pod{UID: ledger.UID(name), Name: name, Namespace: "default", Application: name, Created: w.now * second}
	if i >= 0 {
		p = l.pods[i]
	}
	var size []option
	for _, o := range s.options {
		if o.Key == "port" {
			l.ports[name] = o.value()
			continue
		}
		if o.Key == "reservation" {
			w.name(name, o.value())
			continue
		}
		known, err := setPodOption(&p, o)
		if err != nil {
			return "", err
		}
		if !known {
			size = append(size, o)
		}
	}
	if len(size) > 0 {
		if p.Request, err = parseAmounts(size); err != nil {
			return "", err
		}
	}
	p.Class = p.Role.String() + " " + p.Request.String() + " " + l.ports[name]
	p = w.submitted(p)
	if r, ok := w.reservedFor[name]; ok && p.Node == "" {
		w.reserved(&p, r)
	}
	if i < 0 {
		l.pods = append(l.pods, p)
	} else {
		l.pods[i] = p
	}
	l.ledger.ObservePod(p, w.now*second)
	return "", nil
}

// pods PREFIX n=18 ... submits so many pods, PREFIX-01 and so on, as pod does one.
func (w *World) setPods(s statement) (string, error) { return "", w.each(s, "pod", w.setPod) }

// nodes PREFIX n=20 ... adds so many nodes, PREFIX-01 and so on, as node does one.
func (w *World) setNodes(s statement) (string, error) { return "", w.each(s, "node", w.setNode) }

// each runs n=N statements for one, with the numbers from 1 behind the prefix.
func (w *World) each(s statement, name string, run func(statement) (string, error)) error {
	prefix, err := s.word("prefix")
	if err != nil {
		return err
	}
	var n queue.Limit
	one := statement{name: name}
	for _, o := range s.options {
		if o.Key != "n" {
			one.options = append(one.options, o)
		} else if n, err = parseCount(o); err != nil {
			return err
		}
	}
	for i := range n.Most {
		one.words = []string{fmt.Sprintf("%s-%0*d", prefix, len(strconv.FormatInt(n.Most, 10)), i+1)}
		if _, err := run(one); err != nil {
			return err
		}
	}
	return nil
}

func setPodOption(p *ledger.Pod, o option) (known bool, err error) {
	switch o.Key {
	case "queue":
		p.Queue = o.value()
	case "application":
		p.Application = o.value()
	case "group":
		p.PodGroup = "default/" + o.value()
		if p.Application == p.Name {
			p.Application = o.value()
		}
	case "user":
		p.User = o.value()
	case "groups":
		p.Groups = o.Vals
	case "size":
		var n int64
		n, err = strconv.ParseInt(o.value(), 10, 32)
		p.Single = n == 1
	case "role":
		r, ok := role.ParseRole(o.value())
		if p.Role = r; !ok {
			err = fmt.Errorf("role: %q is neither driver nor executor", o.value())
		}
	case "priority":
		p.Priority, err = parsePriority(o)
		p.Classed = true
	case "application-priority":
		var ok bool
		if p.AskedPriority, ok = role.ParseAskedPriority(o.value()); ok {
			p.UnreadPriority = ""
		} else {
			p.UnreadPriority = o.value()
		}
	case "prefers":
		p.PreferredNodes = strings.Join(o.Vals, ",")
	case "racks":
		p.PreferredRacks = strings.Join(o.Vals, ",")
	case "nominated":
		p.Nominated = o.value()
	case "lasts":
		var d time.Duration
		d, err = time.ParseDuration(o.value())
		p.Lasts = int64(d)
	case "shows":
		p.Unschedulable = o.value()
	case "gate":
		p.Gate = o.value()
		if o.value() == "none" {
			p.Gate = ""
		}
	default:
		return false, nil
	}
	return true, err
}

func (l *live) find(name string) int {
	return slices.IndexFunc(l.pods, func(p ledger.Pod) bool { return p.Name == name })
}

// named finds the pods that a statement names.
func (l *live) named(words []string) ([]int, error) {
	var out []int
	for _, name := range words {
		i := l.find(name)
		if i < 0 {
			return nil, fmt.Errorf("there is no pod %s", name)
		}
		out = append(out, i)
	}
	return out, nil
}

// delay nodes=N [racks=N]: for how many missed opportunities pods wait for what they prefer. It stands before the first node and pod.
func (w *World) setDelay(s statement) (string, error) {
	if w.live != nil {
		return "", fmt.Errorf("the delay stands before the first node and pod")
	}
	for _, o := range s.options {
		n, err := parseCount(o)
		switch {
		case err != nil:
			return "", err
		case o.Key == "nodes":
			w.delay.Node = int32(n.Most)
		case o.Key == "racks":
			w.delay.Rack = int32(n.Most)
		default:
			return "", fmt.Errorf("delay takes nothing but nodes= and racks=")
		}
	}
	return "", nil
}

// bind NAME... : another scheduler has bound these pods, whatever the limits.
func (w *World) bindPods(s statement) (string, error) {
	l := w.inLive()
	at, err := l.named(s.words)
	for _, i := range at {
		l.pods[i].Node, l.pods[i].Bound = "elsewhere", w.now*second
		l.ledger.ObservePod(l.pods[i], w.now*second)
	}
	return "", err
}

// end [NAME...] ends pods, whether they run or wait; without a name, all that terminate.
func (w *World) endPods(s statement) (string, error) {
	l := w.inLive()
	if _, err := l.named(s.words); err != nil {
		return "", err
	}
	names := s.words
	if len(names) == 0 {
		for i := range l.pods {
			if l.pods[i].Terminating {
				names = append(names, l.pods[i].Name)
			}
		}
	}
	for _, name := range names {
		l.ledger.ForgetPod(ledger.UID(name), w.now*second)
		l.pods = slices.Delete(l.pods, l.find(name), l.find(name)+1)
	}
	return "", nil
}

// why NAME... prints what pods wait for.
func (w *World) showWhy(s statement) (string, error) {
	l := w.inLive()
	if _, err := l.named(s.words); err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range s.words {
		if s, _ := l.ledger.PodState(ledger.UID(name)); s.State == ledger.Waiting {
			why := l.ledger.Rehearse().Stopped(ledger.UID(name))
			fmt.Fprintf(&out, "%s: %s: %s\n", name, why.Code, why.Text())
		} else {
			fmt.Fprintf(&out, "%s: %s\n", name, s.State)
		}
	}
	return out.String(), nil
}

// conditions prints which pods are to show something else in their condition Queued since it was last asked, and what.
func (w *World) showConditions(statement) (string, error) {
	l := w.inLive()
	l.ledger.Survey(len(l.pods), w.now*second)
	var out strings.Builder
	for _, u := range l.ledger.TakeConditionUpdates(len(l.pods)) {
		if u.Reason.Code == "" {
			fmt.Fprintf(&out, "%s: nothing\n", u.Name)
		} else {
			fmt.Fprintf(&out, "%s: %s: %s\n", u.Name, u.Reason.Code, u.Reason.Text())
		}
	}
	return out.String(), nil
}

// books prints what each queue has a right to, uses and asks for, as of now.
func (w *World) showBooks(statement) (string, error) {
	rows := [][]string{{"QUEUE", "FAIR SHARE", "ALLOCATED", "DEMAND"}}
	for _, q := range w.inLive().ledger.Snapshot().Queues {
		rows = append(rows, []string{string(q.Path), amounts(q.FairShare), amounts(q.Allocated), amounts(q.Demand)})
	}
	return table(rows), nil
}

// restart [status=lost] starts the scheduler again. It knows only the objects, and sees the last pod first. What pods do
// not show is in the status of queues, unless that is lost.
func (w *World) restart(s statement) (string, error) {
	old := w.inLive()
	w.writeStatus()
	for _, o := range s.options {
		if o.String() != "status=lost" {
			return "", fmt.Errorf("restart takes nothing but status=lost")
		}
		for i := range w.queues {
			w.queues[i].Memory = queue.Memory{}
		}
	}
	w.live = newLive(w.delay).with(old)
	w.fill(w.live)
	return "", nil
}
