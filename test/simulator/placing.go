package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// A PlacementPolicy that an administrator edits at random, and in which queue a pod then belongs by the simulator's own arithmetic, which follows
// docs/placement.md.

// placeRule is a rule of the policy.
type placeRule struct {
	kind   string
	create bool
	in     queue.Path // the queue that Default gives, or in which the others look
	nested *placeRule
}

// placePolicy is what an administrator wrote; without rules, pods are in the queues that they ask for.
type placePolicy []placeRule

func (r *placeRule) statement() placement.RuleStatement {
	s := placement.RuleStatement{Kind: r.kind, Create: &r.create}
	switch r.kind {
	case "Default":
		s.Queue = string(r.in)
	case "User", "PrimaryGroup", "SecondaryGroupExistingQueue":
		s.Parent = string(r.in)
	}
	if r.nested != nil {
		nested := r.nested.statement()
		s.Nested = &nested
	}
	return s
}

// policy is what the ledger gets to hear, false: the policy cannot be used.
func (rules placePolicy) policy() (placement.Policy, bool) {
	var s placement.Statement
	for _, r := range rules {
		s.Rules = append(s.Rules, r.statement())
	}
	p, problems := placement.Parse(s)
	p.RemoveAfter = second
	return p, problems == nil
}

func (w *World) drawRule(nested bool) placeRule {
	kinds := []string{"Specified", "User", "PrimaryGroup", "SecondaryGroupExistingQueue", "Default", "NestedUserQueue"}
	if nested {
		kinds = kinds[:5]
	}
	r := placeRule{kind: kinds[w.rng.IntN(len(kinds))], create: w.rng.IntN(2) == 0, in: w.anyDeclared()}
	if parent := r.in.Parent(); r.kind != "Default" && parent != "" && w.rng.IntN(4) > 0 {
		r.in = parent
	}
	if r.kind == "NestedUserQueue" {
		inner := w.drawRule(true)
		r.nested = &inner
	}
	return r
}

// editPolicy writes another policy, or deletes it. One that cannot be used leaves the last one in force, so nothing is heard of it.
func (w *World) editPolicy() {
	var rules placePolicy
	for range w.rng.IntN(4) {
		rules = append(rules, w.drawRule(false))
	}
	if len(rules) > 0 {
		rules = append(rules, placeRule{kind: []string{"Default", "Reject"}[w.rng.IntN(2)], create: true, in: w.anyDeclared()})
	}
	if _, usable := rules.policy(); !usable {
		return
	}
	w.policy = rules
	w.deliver(policyKind, func() { w.policySeen(rules) })
}

func (w *World) policySeen(rules placePolicy) {
	w.known.policy = rules
	p, _ := rules.policy()
	w.Ledger.ObservePlacementPolicy(p)
	w.placeAgain()
}

// placeAgain: the policy or the queues are others than before.
func (w *World) placeAgain() {
	if !w.opts.Placement {
		return
	}
	for _, p := range w.known.pods {
		to := w.homeOf(p)
		if to == p.home {
			continue
		}
		p.home = to
		if p.doubtful {
			w.crowd[to]++
		}
		w.Moved++
		w.excuseUsers(p.seen.Application)
	}
	w.unsettled = true
	w.outdate()
	w.lookAtStarts()
}

// homeOf is the queue in which a pod belongs while it is not charged; the root if that is none.
func (w *World) homeOf(p *pod) queue.Path {
	now := &p.seen
	if len(w.known.policy) == 0 || now.Node != "" {
		return home(now)
	}
	placer := placer{w.known.queues, now.User, now.Groups, now.Queue}
	for _, r := range w.known.policy {
		switch to := placer.ask(&r); to {
		case "":
		case rejected:
			return queue.Root
		default:
			return placer.mayHave(to)
		}
	}
	return queue.Root
}

// rejected is what a rule answers if no other is to be asked.
const rejected queue.Path = "rejected"

// placer places one pod.
type placer struct {
	queues map[queue.Path]queue.Declaration
	user   string
	groups []string
	asks   string
}

func (p *placer) has(q queue.Path) bool {
	_, ok := p.queues[q]
	return ok || q == queue.Root
}

// declared: by a person.
func (p *placer) declared(q queue.Path) bool { return p.has(q) && !p.queues[q].Origin.Placement }

// above: it takes no pods, because it is for children or has some.
func (p *placer) above(q queue.Path) bool {
	if q == queue.Root || p.queues[q].Parent {
		return true
	}
	for o := range p.queues {
		if o.Parent() == q {
			return true
		}
	}
	return false
}

// ask returns what a rule gives: a queue, nothing, or rejected.
func (p *placer) ask(r *placeRule) queue.Path {
	var to queue.Path
	switch r.kind {
	case "Specified":
		switch to = home(&podOf(p.asks).Pod); {
		case p.asks == "":
			return ""
		case to == queue.Root && p.asks != "root":
			return rejected // not a name
		}
	case "Default":
		to = r.in
	case "User":
		to = p.of(r.in, p.user)
	case "PrimaryGroup":
		if len(p.groups) == 0 {
			return rejected
		}
		to = p.of(r.in, p.groups[0])
	case "SecondaryGroupExistingQueue":
		return p.ofSecondaryGroup(r.in)
	case "NestedUserQueue":
		inner := p.ask(r.nested)
		if inner == "" || inner == rejected {
			return inner
		}
		if p.has(inner) && !p.above(inner) {
			return ""
		}
		to = p.of(inner, p.user)
	default:
		return rejected
	}
	if _, err := queue.ParsePath(string(to)); err != nil {
		return rejected
	}
	if r.create || p.declared(to) {
		return to
	}
	return ""
}

func (p *placer) ofSecondaryGroup(parent queue.Path) queue.Path {
	for i, g := range p.groups {
		if to := p.of(parent, g); i > 0 && p.declared(to) {
			return to
		}
	}
	return ""
}

// of is the queue of a user or group: the one that was created for it, else the one with its name unless that was created for another.
func (p *placer) of(parent queue.Path, name string) queue.Path {
	plain := parent + "." + queue.Path(strings.NewReplacer(".", "-dot-", "_", "-").Replace(strings.ToLower(name)))
	hashed := parent + "." + queue.Path(placement.HashedLabel(name))
	taken := ""
	for _, q := range []queue.Path{hashed, plain} {
		if o := p.queues[q].Origin; o.Placement && o.For == name {
			return q
		} else if o.Placement && q == plain {
			taken = o.For
		}
	}
	if taken != "" {
		return hashed
	}
	return plain
}

// mayHave is the queue that was given, the root if it cannot be created: below a leaf, or where there are too many.
func (p *placer) mayHave(to queue.Path) queue.Path {
	missing, exists := 0, to
	for !p.has(exists) {
		missing++
		exists = exists.Parent()
	}
	if missing == 0 {
		return to
	}
	if !p.above(exists) {
		return queue.Root
	}
	for q := exists; q != ""; q = q.Parent() {
		created := missing
		for o, d := range p.queues {
			if d.Origin.Placement && o != q && q.Contains(o) {
				created++
			}
		}
		if most := p.queues[q].MaxCreated; most.Stated && int64(created) > most.Most {
			return queue.Root
		}
	}
	return to
}

func podOf(asks string) *pod {
	p := &pod{}
	p.Queue = asks
	return p
}

// drawUser is who made a pod: mostly the user that its application has, sometimes one whose name looks the same.
func (g *generator) drawUser(application string) (user string, groups []string) {
	user = userOf(application)
	if user == "" {
		user = "nobody"
	}
	switch g.IntN(10) {
	case 0:
		user = "USER_" + user[len(user)-1:]
	case 1:
		user = fmt.Sprintf("user.%d", g.IntN(3))
	}
	for range g.IntN(3) {
		if group := []string{"a", "Dev_Ops", "dev-ops"}[g.IntN(3)]; !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return user, groups
}
