package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// FuzzEvents reads bytes as events, three each, in an order that no API server need keep. After each the books must add up, and in the
// end a ledger that is given the same objects must come to the same picture.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x03\x00\x01\x05\x00\x00\x06\x00\x00\x07\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x01\x01\x03\x00\x11\x05\x00\x00\x08\x00\x00\x0b\x00\x00\x0c\x00\x00\x02\x01\x00\x0c\x00\x00"))
	f.Add([]byte("\x03\x00\xf1\x03\x01\xf2\x07\x00\x00\x00\x04\x33\x00\x02\x01\x07\x01\x01\x05\x00\x00\x09\x00\x00\x0d\x05\x00\x04\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newPlayer(t, true)
		for ; len(data) >= 3; data = data[3:] {
			p.play(data[0]%24, data[1], data[2])
			p.check()
		}
		p.compare()
	})
}

// player keeps the newest objects beside the ledger.
type player struct {
	leader
	t      *testing.T
	now    int64
	nodes  map[string]Node
	gangs  map[string]PodGroup
	queues map[queue.Path]queue.Declaration
	pods   map[UID]Pod
	policy placement.Policy
	// answers are the last ones about fuzzSubject.
	answers map[access.Question]access.Answer
	said    []string // what the ledger decided and told
	// looks: Backlog is asked. Else a look that is known to change nothing is taken in its place.
	looks bool
	shown int
}

var fuzzPaths = []queue.Path{"root", "root.a", "root.b", "root.a.c", "root.a.d", "root.a.d.e", "root.default", "root.a-b"}

func (p *player) play(op, a, b byte) {
	path, uid, node := fuzzPaths[a%8], UID(fmt.Sprint("pod-", a%8)), fmt.Sprint("node-", a%3)
	switch op {
	case 0:
		d := queue.Declaration{Path: path, Spec: queue.Spec{Weight: int64(b%4) * 1000, Policy: queue.Policy(b >> 6)}, Created: int64(b % 8), Deleting: b == 255}
		if b%3 == 0 {
			d.Spec.MaxStarting, d.Spec.StartingTimeout.Adaptive = queue.AtMost(int64(a>>5)%3+1), b%2 == 0
		}
		if b&16 != 0 {
			d.Spec.Max = fuzzSize(b >> 1)
		}
		if b&32 != 0 {
			d.Spec.Guaranteed = fuzzSize(b)
		}
		if b&8 != 0 {
			d.Parent, d.MaxCreated = b&4 != 0, queue.AtMost(int64(b%4))
		}
		p.queues[path] = d
		p.ObserveQueue(d)
	case 1:
		delete(p.queues, path)
		p.ForgetQueue(path)
	case 2:
		n := Node{Name: node, Allocatable: fuzzSize(b), Usable: b&1 == 0, Pods: int(b >> 4)}
		p.nodes[node] = n
		p.ObserveNode(n)
	case 3:
		p.observe(p.decode(uid, b))
	case 4:
		delete(p.pods, uid)
		p.ForgetPod(uid, p.now)
	case 5:
		p.choose()
	case 6:
		if r, ok := p.Ledger.pods[uid]; ok && r.state != Bound {
			p.Reserve(uid, node, p.now)
		}
	case 7: // bound, perhaps by somebody else
		if o, ok := p.pods[uid]; ok && o.Node == "" {
			o.Node, o.Bound = fmt.Sprint("node-", b%3), p.now-int64(b>>4)*sec
			if s, _ := p.PodState(uid); s.State.charged() {
				o.Placed = string(s.Leaf)
			}
			p.observe(o)
		}
	case 8, 9, 10:
		p.say(p.Fail(uid, Failure(op-8), p.now))
	case 11:
		p.Admitted(uid)
	case 12:
		p.say(p.TakeWoken(p.now))
	case 13:
		p.now += int64(a) * int64(b) * 1e6
	case 14:
		p.say(p.TakeConditionUpdates(int(b % 4)))
		if b > 128 {
			p.RetryConditionUpdate(uid)
		}
	case 15:
		if delete(p.nodes, node); b&1 == 0 {
			p.ForgetNode(node)
		} else {
			p.Repair(uid, p.now)
			p.Recheck(uid)
			p.NextRetry(p.now)
			if n, ok := p.Ledger.nodes.byName[node]; ok && n.known {
				p.nodes[node] = n.Node
			}
		}
	case 16:
		if o, ok := p.pods[uid]; ok {
			o.Unschedulable = []string{"", "0/1 nodes are available."}[b&1]
			p.observe(o)
		}
	case 18:
		g := PodGroup{Key: fmt.Sprint("gang-", a%2), MinMember: int(b % 5), Whole: b > 250}
		if b&64 != 0 {
			g.MinResources = fuzzSize(b)
		}
		if b&32 != 0 {
			delete(p.gangs, g.Key)
			p.ForgetPodGroup(g.Key)
			return
		}
		p.gangs[g.Key] = g
		p.ObservePodGroup(g)
	case 19:
		if r, ok := p.Ledger.pods[uid]; ok && r.state == Reserved {
			permission, why, ok := p.Permit(uid, p.now)
			p.say([]any{permission, why, ok})
		}
	case 20:
		p.say(p.ToReject())
		p.say(p.ToAllow())
	case 21: // half of the answers let the pods in that have a submitter
		q := access.Question{Subject: fuzzSubject, Queue: path}
		p.answers[q] = access.Answer(b % 3)
		if b&4 != 0 {
			p.answers[q] = access.Yes
		}
		p.ObserveAccess(q, p.answers[q], p.now)
	case 22:
		p.policy = fuzzPolicies[a%4]
		p.ObservePlacementPolicy(p.policy)
	case 23:
		p.now += int64(b) * sec
		do := p.PlacementActions(p.now)
		p.say(do)
		for _, q := range do.Create[:min(len(do.Create), 1+int(a%2))] {
			p.queues[q.Path] = queue.Declaration{
				Path: q.Path, Spec: queue.DefaultSpec(), Created: p.now, Parent: q.Parent, Origin: queue.Origin{Placement: true, For: q.For},
			}
			p.ObserveQueue(p.queues[q.Path])
		}
		for _, path := range do.Remove {
			delete(p.queues, path)
			p.ForgetQueue(path)
		}
	case 17:
		p.look(int(a), int64(b%4)*sec)
	}
}

// fuzzPolicies have all rules but Mapping.
var fuzzPolicies = []placement.Policy{
	{},
	fuzzPolicy(placement.RuleStatement{Kind: "Specified"}, placement.RuleStatement{Kind: "User"}),
	fuzzPolicy(placement.RuleStatement{Kind: "SecondaryGroupExistingQueue"},
		placement.RuleStatement{Kind: "NestedUserQueue", Nested: &placement.RuleStatement{Kind: "PrimaryGroup"}}),
	fuzzPolicy(placement.RuleStatement{Kind: "Specified", Create: new(bool)}, placement.RuleStatement{Kind: "Reject"}),
}

func fuzzPolicy(rules ...placement.RuleStatement) placement.Policy {
	p, problems := placement.Parse(placement.Statement{Rules: rules})
	if problems != nil {
		panic(problems)
	}
	return p
}

func (p *player) say(what any) { p.said = append(p.said, fmt.Sprint(what)) }

// look asks for the backlog. A ledger that is asked must differ in nothing from one that is not.
func (p *player) look(n int, after int64) {
	if !p.looks {
		p.Snapshot()
		return
	}
	before := p.Fingerprint()
	version, snapshot := p.Version(), p.Snapshot()
	show, unshow := p.Backlog(n, after, p.now)
	p.shown += len(show) + len(unshow)
	if got := p.Fingerprint(); got != before {
		p.t.Errorf("the look changed\n%s\nto\n%s", before, got)
	}
	if got := p.Version(); got != version {
		p.t.Errorf("the look moved the version from %d to %d", version, got)
	}
	if diff := cmp.Diff(snapshot, p.Snapshot(), cmp.Comparer(resource.List.Equal), cmpopts.EquateEmpty()); diff != "" {
		p.t.Errorf("the look changed the snapshot:\n%s", diff)
	}
}

// A look at the backlog leaves no trace: whatever happens, the ledger decides and tells what one decides and tells that nobody looked into.
func TestALookAtTheBacklogLeavesNoTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	decided, shown := 0, 0
	for range 400 {
		data := []byte("\x00\x06\x00\x00\x02\x00") // two queues
		for range 20 + r.IntN(120) {
			op := byte(r.IntN(24))
			if r.IntN(2) == 0 { // a pod comes, is released, fits nowhere, shows that, or somebody looks
				op = []byte{3, 5, 9, 16, 17}[r.IntN(5)]
			}
			data = append(data, op, byte(r.IntN(256)), byte(r.IntN(256)))
		}
		var said [2][]string
		for i := range said {
			p := newPlayer(t, i == 0)
			for d := data; len(d) >= 3; d = d[3:] {
				p.play(d[0]%24, d[1], d[2])
				p.check()
			}
			p.say(p.Fingerprint())
			p.say(p.Journal(0))
			said[i] = p.said
			decided += len(p.said)
			shown += p.shown
		}
		if diff := cmp.Diff(said[1], said[0]); diff != "" {
			t.Fatalf("%q: a ledger that was looked into decides otherwise (-not looked +looked):\n%s", data, diff)
		}
	}
	if decided < 1000 || shown < 100 {
		t.Errorf("only %d decisions and %d pods of a backlog: the test is of little worth", decided, shown)
	}
}

func newPlayer(t *testing.T, looks bool) *player {
	return &player{leader: newLeader(Options{Window: 3, Journal: 2}), t: t, now: 1e6 * sec, nodes: map[string]Node{}, gangs: map[string]PodGroup{},
		queues: map[queue.Path]queue.Declaration{}, pods: map[UID]Pod{}, looks: looks,
		answers: map[access.Question]access.Answer{}}
}

// fuzzSubject submits some of the pods; who submits the others is not checked.
var fuzzSubject = access.Subject{User: "ada"}

func fuzzSize(b byte) resource.List {
	huge := int64(b&8) << 59 // 2^62 with bit 3
	return resource.Of(resource.Entry{Name: resource.CPU, Value: int64(b%8) + huge}, resource.Entry{Name: resource.Memory, Value: int64(b >> 5)})
}

// decode makes the pod, or a new version of it, that a byte describes. What the API server keeps for ever is kept.
func (p *player) decode(uid UID, b byte) Pod {
	o, known := p.pods[uid]
	if !known {
		o = Pod{UID: uid, Name: string(uid), Created: int64(b % 8), Application: fmt.Sprint(b % 3), Role: application.Role(b / 3 % 3), Single: b%7 == 0, Foreign: b == 254}
	}
	switch b >> 4 {
	case 14:
		o.Terminating = true
	case 15:
		o.Gate = []string{"", "SchedulingGates"}[b&1]
	case 13:
		o.Queue = "Not_A_Name"
	default:
		if !o.Foreign {
			o.Queue = string(fuzzPaths[b>>4%8])
		}
	}
	if b%5 == 4 && !o.Foreign {
		o.Submitter = fuzzSubject
	}
	if b%11 < 3 {
		o.PodGroup = []string{"", "gang-0", "gang-1"}[b%11]
	}
	o.User, o.Groups = []string{"a.b", "a", "A.B"}[b%3], [][]string{nil, {"a", "b"}, {"d"}, {"c_d", "a"}}[b%4]
	o.Class, o.Request, o.Priority = fmt.Sprint("class-", b%2), fuzzSize(b), int32(b%2)
	return o
}

func (p *player) observe(o Pod) {
	p.pods[o.UID] = o
	p.ObservePod(o, p.now)
}

func (p *player) choose() {
	r, ok := p.Choose(p.now)
	p.say(r)
	if !ok {
		return
	}
	for a := p.Ledger.pods[r.UID].leaf; a != nil; a = a.parent {
		for i := range a.spec.Max.Len() {
			// Saturated amounts stand for more than they say.
			if m := a.spec.Max.At(i); a.usage.Get(m.Name) > m.Value && m.Value < math.MaxInt64 {
				p.t.Fatalf("%s uses %d %s of %d after a release", a.path, a.usage.Get(m.Name), m.Name, m.Value)
			}
		}
	}
}

func (p *player) check() {
	for _, v := range p.Inspect(2).Violations {
		p.t.Error(v)
	}
	for _, w := range p.Check() {
		p.t.Error(w)
	}
	alone := 0
	for _, r := range p.Ledger.pods {
		alone += btoi(r.state.inWindow() && r.group == nil)
	}
	if alone > p.opts.Window {
		p.t.Errorf("%d pods in a window of %d", alone, p.opts.Window)
	}
	if p.t.Failed() {
		p.t.FailNow()
	}
}

// compare ends what is under way, since a new ledger knows nothing of it, and rebuilds.
func (p *player) compare() {
	p.now += 1000 * sec
	for uid := range p.pods {
		if r := p.Ledger.pods[uid]; r != nil && r.state.inWindow() {
			delete(p.pods, uid)
			p.ForgetPod(uid, p.now)
		}
	}
	for again := true; again; {
		r, ok := p.Choose(p.now)
		delete(p.pods, r.UID)
		p.ForgetPod(r.UID, p.now)
		again = len(p.TakeWoken(p.now)) > 0 || ok
	}
	p.check()
	twin := newLeader(Options{Window: 3})
	twin.ObservePlacementPolicy(p.policy)
	for _, o := range p.pods {
		twin.ObservePod(o, p.now)
	}
	for q, a := range p.answers {
		twin.ObserveAccess(q, a, p.now)
	}
	for _, n := range p.nodes {
		twin.ObserveNode(n)
	}
	for _, g := range p.PodGroups() {
		twin.ObservePodGroup(g.PodGroup)
	}
	remembered := map[queue.Path]queue.Memory{}
	for _, q := range p.Snapshot().Queues {
		if q.Starts != nil {
			remembered[q.Path] = q.Starts.Memory
		}
	}
	for path, d := range p.queues {
		d.Memory = remembered[path]
		twin.ObserveQueue(d)
	}
	if got, want := p.Fingerprint(), twin.Fingerprint(); got != want {
		p.t.Errorf("got\n%s\nbuilt again\n%s", got, want)
	}
}
