package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// apply-placement puts the policy that the statements before describe in force for pods. One that cannot be used leaves the last one in force.
func (w *World) applyPlacement(statement) (string, error) {
	policy, problems := placement.Parse(w.placement)
	if problems != nil {
		return "not in force: " + errors.Join(problems...).Error() + "\n", nil
	}
	w.inLive().policy = policy
	w.live.ledger.ObservePlacementPolicy(policy)
	return "", nil
}

// create-queues does what the leader does for placement, until there is nothing to do: it creates the queues for which pods wait, and removes those that
// have been empty for long enough. It prints what it did.
func (w *World) createQueues(statement) (string, error) {
	var out strings.Builder
	for range 100 {
		w.inLive()
		do := w.live.ledger.PlacementActions(w.now * second)
		if len(do.Create)+len(do.Remove) == 0 {
			return out.String(), nil
		}
		for _, q := range do.Create {
			fmt.Fprintf(&out, "creates %s", q.Path)
			if q.For != "" {
				fmt.Fprintf(&out, " for %s", q.For)
			}
			out.WriteString("\n")
			w.queues = append(w.queues, queue.Declaration{
				Path: q.Path, Spec: queue.DefaultSpec(), Created: w.now * second, Parent: q.Parent, Origin: queue.Origin{Placement: true, For: q.For},
			})
		}
		for _, p := range do.Remove {
			fmt.Fprintf(&out, "removes %s\n", p)
			w.queues = slices.DeleteFunc(w.queues, func(d queue.Declaration) bool { return d.Path == p })
		}
	}
	return "", errors.New("placement never comes to an end")
}

// where NAME... prints in which queue pods are.
func (w *World) showWhere(s statement) (string, error) {
	l := w.inLive()
	if _, err := l.named(s.words); err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range s.words {
		p, _ := l.ledger.PodState(ledger.UID(name))
		if p.Leaf != "" {
			fmt.Fprintf(&out, "%s: %s in %s\n", name, p.State, p.Leaf)
		} else {
			fmt.Fprintf(&out, "%s: %s: %s\n", name, p.BlockedBy.Code, p.BlockedBy.Text())
		}
	}
	return out.String(), nil
}
