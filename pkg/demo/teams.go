package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// lineWidth is what a line has for its text: the time stands before it.
const lineWidth = plainWidth - len(" 123.4s  ")

// reply is what a scene was answered: the output of the command, or what the API server says. failed says that it refused.
type reply struct {
	text   string
	failed bool
}

// seen is what the story sees at one moment.
type seen struct {
	reply  *reply // of the scene that was begun last, nil before the first
	pods   []*corev1.Pod
	queues []report.Queue // from Queue.status, in the order of the tree
}

func (s seen) queue(name string) (report.Queue, bool) {
	i := slices.IndexFunc(s.queues, func(q report.Queue) bool { return q.Name == name })
	if i < 0 {
		return report.Queue{}, false
	}
	return s.queues[i], true
}

// teamsStory tells the scenes one after the other, and checks what comes of each. It depends only on what it saw and on the clock that it is given.
type teamsStory struct {
	once   bool          // end when all scenes have been told, or with an error if one did not come true
	limit  time.Duration // how long a scene may take
	scenes []scene
	at     int // the scene under way
	since  time.Time
	begun  bool
	exists bool // the queue of the scene existed when it began
	broken int  // scenes that did not come true
	over   bool // all was told
}

func (s *teamsStory) headline() string {
	switch {
	case s.over && s.broken > 0:
		return fmt.Sprintf("two teams, three users: %d of %d scenes did not come true", s.broken, len(s.scenes))
	case s.over:
		return fmt.Sprintf("two teams, three users: all %d scenes came true", len(s.scenes))
	}
	return "two teams, three users"
}

// teamsTurn is what a step asks for.
type teamsTurn struct {
	decision
	begin *scene // is done now, and its reply is in what the next step sees
}

// step looks and decides. Nothing is tried before the scheduler has divided the cluster.
func (s *teamsStory) step(now time.Time, w seen) (t teamsTurn) {
	if s.since.IsZero() {
		s.since = now
	}
	late := now.Sub(s.since) > s.limit
	switch {
	case s.over:
	case !s.begun:
		if root, _ := w.queue(v1alpha1.RootQueue); !root.FairShare.IsZero() || late {
			s.begun = true
			s.begin(now, w, &t)
		}
	case s.at < len(s.scenes):
		s.follow(now, w, late, &t)
	default:
		s.end(w, late, &t)
	}
	return t
}

// follow looks at the scene under way.
func (s *teamsStory) follow(now time.Time, w seen, late bool, t *teamsTurn) {
	c := s.scenes[s.at]
	done, lines, wrong := c.judge(w, s.exists)
	if !done && wrong == "" && late {
		wrong = strings.Join(append([]string{"it did not come true within " + s.limit.String()}, fates(c.mine(w.pods))...), "\n")
	}
	t.say = append(t.say, lines...)
	if wrong != "" {
		s.fail(t, c.who+" "+c.title()+": "+wrong)
	}
	if t.err == nil && (done || wrong != "") {
		s.at++
		s.begin(now, w, t)
	}
}

// end compares the queues with what the scenes make of them. Their status follows within a second or two.
func (s *teamsStory) end(w seen, late bool, t *teamsTurn) {
	wrong := s.differences(w)
	if wrong != "" && !late {
		return
	}
	s.over = true
	if wrong != "" {
		s.fail(t, wrong)
		return
	}
	t.tell("each pod that runs is in its team's queues, and counts for its user")
	t.done = s.once
}

// begin begins the scene that is next.
func (s *teamsStory) begin(now time.Time, w seen, t *teamsTurn) {
	s.since = now
	if s.at == len(s.scenes) {
		return
	}
	c := s.scenes[s.at]
	_, s.exists = w.queue(c.queue)
	t.tell("%s of %s %s", c.who, groupOf[c.who], c.title())
	t.begin = &c
}

func (s *teamsStory) fail(t *teamsTurn, what string) {
	s.broken++
	if s.once {
		t.err = errors.New(what)
		return
	}
	t.say = append(t.say, strings.Split(what, "\n")...)
}

func (c scene) title() string {
	if c.command != nil {
		return "runs kubectl fairway " + strings.Join(c.command, " ")
	}
	return c.what
}

// judge says whether the scene came true, what to say then, and what went wrong. With neither it is not decided yet.
func (c scene) judge(w seen, existed bool) (done bool, lines []string, wrong string) {
	r := w.reply
	switch {
	case r == nil:
		return false, nil, ""
	case c.refused != "":
		// The message of a policy follows its name, and that of RBAC what was asked for.
		if !r.failed || !strings.HasSuffix(r.text, ": "+c.refused) {
			return false, nil, c.differs("refused: ... "+c.refused, r)
		}
		return true, wrapped("refused: " + r.text), ""
	case r.failed:
		return false, nil, c.differs("allowed", r)
	case c.command != nil:
		return c.judgeOutput(r)
	case c.blocked != "":
		return c.judgeBlocked(w.pods)
	case c.pods > 0:
		return c.judgeLanding(w, existed)
	}
	if _, there := w.queue(c.object.GetName()); !there {
		return false, nil, ""
	}
	return true, []string{"  allowed"}, ""
}

func (c scene) differs(want string, r *reply) string {
	is := "it was allowed"
	if r.failed {
		is = "refused: " + r.text
	}
	return is + "\nexpected: " + want
}

// judgeOutput looks for the lines that the command must print.
func (c scene) judgeOutput(r *reply) (done bool, lines []string, wrong string) {
	printed := map[string]bool{}
	for line := range strings.Lines(r.text) {
		if line = strings.TrimRight(line, " \n"); line == "" {
			continue
		}
		printed[strings.Join(strings.Fields(line), " ")] = true
		lines = append(lines, folded(line)...)
	}
	for _, want := range c.prints {
		if !printed[want] {
			return false, lines, "it does not print: " + want
		}
	}
	return true, lines, ""
}

// judgeBlocked looks for the pod to say why it waits.
func (c scene) judgeBlocked(pods []*corev1.Pod) (done bool, lines []string, wrong string) {
	for _, p := range c.mine(pods) {
		if p.Spec.NodeName != "" {
			return false, nil, fate(p) + "\nexpected: blocked: " + c.blocked
		}
		for _, condition := range p.Status.Conditions {
			if condition.Type == v1alpha1.PodConditionQueued && condition.Status == corev1.ConditionTrue && condition.Message == c.blocked {
				return true, wrapped("the scheduler blocks it: " + condition.Message), ""
			}
		}
	}
	return false, nil, ""
}

// judgeLanding looks for the pods to run where they must, for the user for whom they must.
func (c scene) judgeLanding(w seen, existed bool) (done bool, lines []string, wrong string) {
	mine := c.mine(w.pods)
	switch {
	case existed && c.creates:
		return false, nil, "queue " + c.queue + " existed before"
	case !existed && !c.creates:
		return false, nil, "queue " + c.queue + " did not exist before"
	case len(mine) != c.pods:
		return false, nil, ""
	}
	for _, p := range mine {
		if p.Spec.NodeName == "" {
			return false, nil, ""
		}
		if p.Annotations[v1alpha1.KeyPlacedQueue] != c.queue || p.Annotations[v1alpha1.KeyPlacedUser] != c.user || p.Annotations[v1alpha1.KeyUser] != c.user {
			return false, nil, fmt.Sprintf("%s\nexpected: in %s, for %s", fate(p), c.queue, c.user)
		}
	}
	if _, there := w.queue(c.queue); !there {
		return false, nil, "" // the watch of Queues is behind that of pods
	}
	line := fmt.Sprintf("  it runs in queue %s, and counts for %s", c.queue, c.user)
	if c.pods > 1 {
		line = fmt.Sprintf("  %d pods run in queue %s, and count for %s", c.pods, c.queue, c.user)
	}
	if c.creates {
		return true, []string{line, "  the queue was created for it"}, ""
	}
	return true, []string{line}, ""
}

// mine are the pods of the scene's object.
func (c scene) mine(pods []*corev1.Pod) []*corev1.Pod {
	if c.object == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool {
		its := p.Name == c.object.GetName() || c.object.GetKind() != "Pod" && strings.HasPrefix(p.Name, c.object.GetName()+"-")
		return !its || p.Namespace != c.object.GetNamespace()
	})
}

// fate is where a pod runs, or what it says.
func fate(p *corev1.Pod) string {
	text := p.Namespace + "/" + p.Name
	if p.Spec.NodeName != "" {
		return fmt.Sprintf("%s runs in queue %q, and counts for %q, stamped %q", text,
			p.Annotations[v1alpha1.KeyPlacedQueue], p.Annotations[v1alpha1.KeyPlacedUser], p.Annotations[v1alpha1.KeyUser])
	}
	for _, c := range p.Status.Conditions {
		text += fmt.Sprintf("; %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return text + "; it has no node"
}

func fates(pods []*corev1.Pod) (lines []string) {
	for _, p := range pods {
		lines = append(lines, fate(p))
	}
	return lines
}

// folded indents a line, and breaks a long one in its last column.
func folded(line string) (lines []string) {
	const gap = "   "
	last := 0
	if at := strings.LastIndex(line, gap); at >= 0 {
		last = at + len(gap)
	}
	for i, part := range report.Wrap(line[last:], lineWidth-len("  ")-last, "") {
		if i == 0 {
			lines = append(lines, "  "+line[:last]+part)
		} else {
			lines = append(lines, "  "+strings.Repeat(" ", last)+part)
		}
	}
	return lines
}

// wrapped breaks a text into lines.
func wrapped(text string) []string { return report.Wrap(text, lineWidth, "  ") }

// differences says how the queues differ from what the scenes make of them: which there are, and by Queue.status what each holds and how many pods wait.
func (s *teamsStory) differences(w seen) string {
	runs, waits := map[string]int{}, map[string]int{}
	for _, name := range s.queues() {
		runs[name], waits[name] = 0, 0
	}
	of := map[string]scene{} // the last scene about an object says how many pods it has
	for _, c := range s.scenes {
		if c.object != nil && c.refused == "" && c.queue != "" {
			of[c.object.GetKind()+" "+c.object.GetName()] = c
		}
	}
	for _, c := range of {
		for name := range runs {
			if name == c.queue || strings.HasPrefix(c.queue, name+".") {
				runs[name] += c.pods
				if c.blocked != "" {
					waits[name]++
				}
			}
		}
	}
	var wrong []string
	for _, name := range s.queues() {
		q, found := w.queue(name)
		want := podSize(runs[name])
		holds := q.Allocated.Equal(want) || runs[name] == 0 && q.Allocated.IsZero()
		if !found || !holds || q.Pending != int64(waits[name]) {
			wrong = append(wrong, fmt.Sprintf("queue %s (exists: %t) holds %s and %d pods wait; expected: %s and %d",
				name, found, report.Amounts(q.Allocated), q.Pending, report.Amounts(want), waits[name]))
		}
	}
	for _, q := range w.queues {
		if _, known := runs[q.Name]; !known {
			wrong = append(wrong, "queue "+q.Name+" exists, and nobody should have it")
		}
	}
	return strings.Join(wrong, "\n")
}

// queues are those that exist in the end: those of teams.yaml, and those that the scenes create.
func (s *teamsStory) queues() []string {
	names := []string{v1alpha1.RootQueue, "root." + ads, "root.ads.etl", "root." + web, v1alpha1.DefaultQueue}
	for _, c := range s.scenes {
		switch {
		case c.creates:
			names = append(names, c.queue)
		case c.object != nil && c.object.GetKind() == "Queue" && c.refused == "":
			names = append(names, c.object.GetName())
		}
	}
	slices.Sort(names)
	return names
}
