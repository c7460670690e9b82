package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// planMatrix prints, for each queue below the root, what it is entitled to, its max, what it uses and asks for beyond that, its
// ideal, and what it loses and gets by the plan. Then it prints why a claim is not paid as a whole.
func planMatrix(w preemption.World, plan preemption.Plan) string {
	var out strings.Builder
	if plan.Stopped != "" {
		fmt.Fprintf(&out, "no round: %s\n", plan.Stopped)
	}
	loses, gets := make([]resource.List, len(w.Queues)), make([]resource.List, len(w.Queues))
	charge := func(to []resource.List, q int, request resource.List) {
		for ; q >= 0; q = w.Queues[q].Parent {
			to[q] = to[q].Add(request)
		}
	}
	for _, v := range plan.Victims {
		of := w.Nodes[v.Node].Candidates
		charge(loses, v.Queue, of[slices.IndexFunc(of, func(c preemption.Candidate) bool { return c.UID == v.UID })].Request)
	}
	for _, c := range plan.Claims {
		for _, u := range c.Units {
			for _, pod := range u.Pods {
				if slices.ContainsFunc(c.Nominations, func(n preemption.Nomination) bool { return n.UID == pod.UID }) {
					charge(gets, pod.Queue, pod.Request)
				}
			}
		}
	}
	rows := [][]string{{"QUEUE", "SHARE", "MAX", "USED", "PENDING", "IDEAL", "LOSES", "GETS"}}
	for i, q := range w.Queues[1:] {
		row := []string{string(q.Path)}
		for _, l := range []resource.List{q.Entitlement, q.Max, q.Usage, above(q.Demand, q.Usage), plan.Ideal[i+1], loses[i+1], gets[i+1]} {
			row = append(row, amounts(above(l, resource.List{})))
		}
		rows = append(rows, row)
	}
	out.WriteString(table(rows))
	for _, c := range plan.Claims {
		if c.Unpaid != "" {
			fmt.Fprintf(&out, "%s is owed %s; unpaid: %s\n", w.Queues[c.Queue].Path, amounts(c.Owed), c.Unpaid)
		}
	}
	return out.String()
}

// above is by how much the amounts of a list are above those of another, without those that are not.
func above(l, other resource.List) resource.List {
	var out []resource.Entry
	for i := range l.Len() {
		if e := l.At(i); e.Value > other.Get(e.Name) {
			out = append(out, resource.Entry{Name: e.Name, Value: e.Value - other.Get(e.Name)})
		}
	}
	return resource.Of(out...)
}

// play 80s lets the scheduler work for so long, with a look every second: what is due to be evicted ends at once, what can be released
// runs, and rounds are made when they are due. It prints the seconds in which pods were evicted, announced, or told that they stay.
func (w *World) play(s statement) (string, error) {
	seconds, err := s.seconds()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for range seconds {
		text, err := w.work()
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		w.now++
	}
	w.now-- // the statement has taken one
	return out.String(), nil
}

// work does what the scheduler does in one moment.
func (w *World) work() (string, error) {
	w.tellTime()
	var evicted, announced, withdrawn int
	do := func(s statement) (string, error) {
		due := w.inLive().ledger.PendingActions(w.now * second)
		evicted, announced, withdrawn = evicted+len(due.Evict), announced+len(due.Announce), withdrawn+len(due.Withdraw)
		return w.actions(s)
	}
	for _, step := range []struct {
		run  func(statement) (string, error)
		word []string
	}{{do, []string{"do"}}, {w.endPods, nil}, {w.release, nil}, {w.preempt, nil}, {do, []string{"do"}}} {
		if _, err := step.run(statement{words: step.word}); err != nil {
			return "", err
		}
	}
	if evicted+announced+withdrawn == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s: evicted %d, announced %d, withdrawn %d\n", clock(w.now*second), evicted, announced, withdrawn), nil
}
