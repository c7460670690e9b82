package report

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

// Why holds answers about pods.
type Why struct {
	Answers []picture.Answer
	// One: the user asked for one pod by name, and its JSON is not a list.
	One bool
}

type podName struct {
	Pod         string `json:"pod"`
	Namespace   string `json:"namespace"`
	Queue       string `json:"queue"`
	Application string `json:"application"`
}

func nameOf(p ledger.PodState) podName {
	return podName{p.Name, p.Namespace, string(queueOfPod(p)), p.Application}
}

// queueOfPod is the pod's queue or, if it has none, the queue that it asks for, by the rules of placement or as it says; "" if the rules
// give none to a pod that names none.
func queueOfPod(p ledger.PodState) queue.Path {
	if p.Leaf != "" {
		return p.Leaf
	}
	return cmp.Or(p.Asked, queue.Path(p.Queue))
}

type wireHolder struct {
	Queue       string        `json:"queue"`
	Application string        `json:"application"`
	User        string        `json:"user"`
	Resource    resource.Name `json:"resource"`
	Amount      string        `json:"amount"`
	Pods        int           `json:"pods"`
}

type wireBlocker struct {
	problem
	Holders []wireHolder `json:"holders"`
}

type wireEdit struct {
	Queue    string        `json:"queue"`
	Field    string        `json:"field"`
	Resource resource.Name `json:"resource"`
	From     string        `json:"from"`
	To       string        `json:"to"`
}

type wireChange struct {
	Kind     picture.Kind      `json:"kind"`
	Message  string            `json:"message"`
	Edits    []wireEdit        `json:"edits"`
	Nodes    int               `json:"nodes"`
	NodeSize map[string]string `json:"nodeSize"`
}

type wireAnswer struct {
	podName
	User         string          `json:"user"`
	Verdict      picture.Verdict `json:"verdict"`
	Reason       reason.Code     `json:"reason"`
	Message      string          `json:"message"`
	Ahead        int             `json:"ahead"`
	AheadPods    []podName       `json:"aheadPods"`
	Blockers     []wireBlocker   `json:"blockers"`
	WouldStartIf []wireChange    `json:"wouldStartIf"`
	WaitingSince string          `json:"waitingSince"`
	Preemption   string          `json:"preemption"`
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (w Why) MarshalJSON() ([]byte, error) {
	all := make([]wireAnswer, len(w.Answers))
	for i, a := range w.Answers {
		all[i] = wire(a)
	}
	if w.One && len(all) == 1 {
		return marshal(all[0])
	}
	return marshal(all)
}

func wire(a picture.Answer) wireAnswer {
	out := wireAnswer{
		podName: nameOf(a.Pod), User: a.Pod.User, Verdict: a.Verdict, Reason: a.Reason.Code, Message: message(a.Reason), Ahead: a.Ahead,
		AheadPods: []podName{}, Blockers: []wireBlocker{}, WouldStartIf: []wireChange{}, Preemption: a.Preemption,
	}
	if a.Verdict != picture.Running {
		out.WaitingSince = timestamp(a.Pod.Created)
	}
	for _, p := range a.First {
		out.AheadPods = append(out.AheadPods, nameOf(p))
	}
	for _, b := range a.Blockers {
		w := wireBlocker{problem{b.Reason.Code, message(b.Reason)}, []wireHolder{}}
		for _, h := range b.Holders {
			w.Holders = append(w.Holders, wireHolder{string(h.Queue), h.Application, h.User, b.Reason.Resource, amountOf(h, b.Reason.Resource), h.Pods})
		}
		out.Blockers = append(out.Blockers, w)
	}
	for _, c := range a.WouldStartIf {
		w := wireChange{Kind: c.Kind, Message: c.Message, Edits: []wireEdit{}, Nodes: c.Nodes, NodeSize: quantities(c.Node.Allocatable)}
		for _, e := range c.Edits {
			edit := wireEdit{Queue: string(e.Queue), Field: string(e.Field), Resource: e.Resource}
			if e.Field != picture.FieldExists {
				edit.From, edit.To = e.Spelled(e.From), e.Spelled(e.To)
			}
			w.Edits = append(w.Edits, edit)
		}
		out.WouldStartIf = append(out.WouldStartIf, w)
	}
	return out
}

// amountOf is the amount that a holder holds; "" if it holds a slot of an application instead.
func amountOf(h ledger.Holder, n resource.Name) string {
	if n == "" {
		return ""
	}
	return quantity(n, h.Amount)
}

// Lines has a block for each pod.
func (w Why) Lines(l Layout) []string {
	var lines []string
	for i, a := range w.Answers {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block(a, l, "")...)
	}
	return lines
}

// Since has two blocks for each pod whose answer differs.
func (w Why) Since(before Document, l Layout) []string {
	b, _ := before.(Why)
	was := make(map[ledger.UID]picture.Answer, len(b.Answers))
	for _, a := range b.Answers {
		was[a.Pod.UID] = a
	}
	var lines []string
	for i, a := range w.Answers {
		if i > 0 {
			lines = append(lines, "")
		}
		old := was[a.Pod.UID]
		if reflect.DeepEqual(wire(old), wire(a)) {
			lines = append(lines, block(a, l, "Unchanged: ")...)
			continue
		}
		lines = append(append(lines, block(old, l, "Before: ")...), "")
		lines = append(lines, block(a, l, "After: ")...)
	}
	return lines
}

func block(a picture.Answer, l Layout, heading string) []string {
	color := yellow
	if a.Verdict == picture.Running || a.Verdict == picture.Next {
		color = green
	}
	s := sentencesOf(a, l)
	var lines []string
	for _, line := range Wrap(heading+s.head, l.Width, "") {
		lines = append(lines, l.Style.paint(color, line))
	}
	for _, item := range append([]string{s.about}, s.facts...) {
		lines = append(lines, Wrap(item, l.Width, "  ")...)
	}
	for _, part := range append(heldBy(a), aheadOf(a)) {
		if len(part.Items) == 0 {
			continue
		}
		lines = append(lines, Clip("  "+part.Heading, l.Width))
		for _, item := range part.Items {
			lines = append(lines, Clip("    "+item, l.Width))
		}
	}
	return lines
}

// sentences are what is said of a pod: what becomes of it, where it is, why, and what would let it start.
type sentences struct {
	head, about string
	facts       []string
}

func sentencesOf(a picture.Answer, l Layout) (s sentences) {
	s.head = "pod " + podText(a.Pod) + " " + verdicts[a.Verdict]
	if a.Reason.Code != "" && a.Verdict != picture.Next {
		s.head += " (" + string(a.Reason.Code) + ")"
	}
	s.about = "in no queue, application "
	if q := queueOfPod(a.Pod); q != "" {
		s.about = "in queue " + reason.Name(string(q)) + ", application "
	}
	s.about += reason.Name(a.Pod.Application) + ", user " + reason.Name(a.Pod.User)
	if a.Verdict == picture.Running {
		s.about += ", on node " + reason.Name(a.Pod.Node)
	} else {
		s.about += ", waiting for " + l.age(a.Pod.Created)
	}
	switch {
	case a.Verdict == picture.Next:
		s.facts = append(s.facts, turnText(a.Ahead))
	case a.Reason.Code != "":
		s.facts = append(s.facts, message(a.Reason))
	}
	for _, b := range a.Blockers {
		if b.Reason != a.Reason {
			s.facts = append(s.facts, "and: "+message(b.Reason))
		}
	}
	if a.Preemption != "" {
		s.facts = append(s.facts, a.Preemption)
	}
	if text := a.Pod.UnreadPriority; text != "" {
		s.facts = append(s.facts, "note: "+message(reason.Reason{Code: reason.ApplicationPriorityInvalid, Details: reason.Invalid{Why: text}}))
	}
	for _, c := range a.WouldStartIf {
		s.facts = append(s.facts, c.Message)
	}
	return s
}

// heldBy says who holds what the pod needs.
func heldBy(a picture.Answer) (parts []Section) {
	for _, b := range a.Blockers {
		if len(b.Holders) == 0 {
			continue
		}
		n := b.Reason.Resource
		part := Section{Heading: holdersText(b.Reason)}
		for _, h := range b.Holders {
			var words []string
			if n != "" {
				words = append(words, resource.Format(n, h.Amount)+" "+reason.Name(string(n)))
			}
			if h.Pods > 0 {
				words = append(words, counted(h.Pods, "pod", "pods"))
			} else {
				words = append(words, "about to be released")
			}
			part.Items = append(part.Items, reason.Name(h.Application)+" in "+string(h.Queue)+": "+strings.Join(words, ", "))
		}
		parts = append(parts, part)
	}
	return parts
}

// aheadOf says which pods are released before it.
func aheadOf(a picture.Answer) (part Section) {
	if a.Ahead == 0 {
		return part
	}
	part.Heading = counted(a.Ahead, "pod is", "pods are") + " ahead of it:"
	for i, p := range a.First {
		part.Items = append(part.Items, strconv.Itoa(i+1)+". "+podText(p)+" in "+string(p.Leaf))
	}
	if more := a.Ahead - len(a.First); more > 0 {
		part.Items = append(part.Items, "and "+strconv.Itoa(more)+" more")
	}
	return part
}

// Order lists the next releases.
type Order []Release

// Release is one step of an order.
type Release struct {
	picture.Step
	// Texts say what decided, one for each decision.
	Texts []string
}

// NewOrder adds the sentences about what decided.
func NewOrder(p *picture.Picture, steps []picture.Step) Order {
	o := make(Order, len(steps))
	for i, s := range steps {
		o[i].Step = s
		for _, d := range s.Decisions {
			o[i].Texts = append(o[i].Texts, p.Text(d))
		}
	}
	return o
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (o Order) MarshalJSON() ([]byte, error) {
	type decision struct {
		At      string `json:"at"`
		Chosen  string `json:"chosen"`
		Over    string `json:"over"`
		By      string `json:"by"`
		Message string `json:"message"`
	}
	type release struct {
		Position int `json:"position"`
		podName
		Room      bool       `json:"room"`
		Decisions []decision `json:"decisions"`
	}
	rows := make([]release, len(o))
	for i, r := range o {
		rows[i] = release{r.Position, nameOf(r.Pod), r.Room, []decision{}}
		for j, d := range r.Decisions {
			rows[i].Decisions = append(rows[i].Decisions, decision{string(d.At), d.Chosen.Name, d.Over.Name, string(d.By), r.Texts[j]})
		}
	}
	return marshal(struct {
		Order []release `json:"order"`
	}{rows})
}

// Lines has each release with the comparisons that decided it. Wide includes those without a competitor.
func (o Order) Lines(l Layout) []string { return o.lines(l, nil) }

// Since has both orders; in the later one it shows where each pod was in the earlier.
func (o Order) Since(before Document, l Layout) []string {
	b, _ := before.(Order)
	was := make(map[ledger.UID]int, len(b))
	for _, r := range b {
		was[r.Pod.UID] = r.Position
	}
	lines := append([]string{l.Style.Bold("Before:")}, b.lines(l, nil)...)
	return append(append(lines, "", l.Style.Bold("After:")), o.lines(l, was)...)
}

func (o Order) lines(l Layout, was map[ledger.UID]int) []string {
	if len(o) == 0 {
		return []string{"(" + noReleases + ")"}
	}
	var lines []string
	room := true
	for _, r := range o {
		if room && !r.Room {
			lines = append(lines, Wrap("When nodes have room again:", l.Width, "")...)
		}
		room = r.Room
		text := strconv.Itoa(r.Position) + ". " + podText(r.Pod) + " in " + string(r.Pod.Leaf)
		changed := false
		if was != nil {
			switch old := was[r.Pod.UID]; {
			case old == 0:
				text, changed = text+" (new)", true
			case old != r.Position:
				text, changed = text+" (was "+strconv.Itoa(old)+")", true
			}
		}
		text = Clip(text, l.Width)
		if changed {
			text = l.Style.Bold(text)
		}
		lines = append(lines, text)
		for i, d := range r.Decisions {
			if d.Over.Name != "" || l.Wide {
				lines = append(lines, Wrap(strings.TrimSpace(r.Texts[i]), l.Width, "     ")...)
			}
		}
	}
	return lines
}
