package world

import (
	"cmp"
	"context"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Why answers about pods, in their order. Pods that are not there have no answer. Answers take time if thousands of pods wait; the context ends that.
func (w *World) Why(ctx context.Context, uids ...ledger.UID) (answers []picture.Answer, err error) {
	w.Picture().Prepare(uids...)
	for _, uid := range uids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if a, ok := w.Picture().Why(uid); ok {
			answers = append(answers, a)
		}
	}
	return answers, nil
}

// Waiting are the pods that wait in a queue and below it: the next n in the order of releases, then the oldest n that a rule holds. more is how many
// others wait.
func (w *World) Waiting(top queue.Path, n int) (pods report.Pods, more int) {
	p := w.Picture()
	inOrder := map[ledger.UID]bool{}
	for _, s := range p.Line(top, n) {
		inOrder[s.Pod.UID] = true
		pods = append(pods, report.Pod{PodState: s.Pod, Position: s.Position})
	}
	whole := len(pods) < n // then a rule holds each of the others
	w.explain(pods)
	var others report.Pods
	for _, pod := range w.pods {
		if pod.State == ledger.Waiting && !inOrder[pod.UID] && top.Contains(w.queueOf(pod)) {
			others = append(others, report.Pod{PodState: pod})
		}
	}
	slices.SortFunc(others, func(a, b report.Pod) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.UID, b.UID)) })
	oldest := others[:min(len(others), lookedAt*n)]
	if whole {
		oldest = others[:min(len(others), n)]
	}
	w.explain(oldest)
	held := 0
	for _, pod := range oldest {
		if held < n && (whole || !goesOn(pod.Reason.Code)) {
			pods = append(pods, pod)
			held++
		}
	}
	return pods, len(others) - held
}

// lookedAt bounds how many pods are looked at for each one that a rule holds, where many more wait in order.
const lookedAt = 4

// goesOn reports whether no rule holds a pod that waits for this reason: it has a place in the order of releases.
func goesOn(code reason.Code) bool {
	switch code {
	case reason.WaitingTurn, reason.WaitingForRoom, reason.WaitingForPreferredNodes, reason.Parked:
		return true
	}
	return false
}

// explain adds the reasons why pods wait.
func (w *World) explain(pods report.Pods) {
	uids := make([]ledger.UID, len(pods))
	for i := range pods {
		uids[i] = pods[i].UID
	}
	for i, why := range w.Picture().Stopped(uids...) {
		pods[i].Reason = why
	}
}

// queueOf is the pod's queue or, if no queue takes it, the one that it asks for.
func (w *World) queueOf(p ledger.PodState) queue.Path { return cmp.Or(p.Leaf, p.Asked) }

// PodsOf are the pods of an application: first those that wait, oldest first.
func (w *World) PodsOf(in queue.Path, application string) (pods report.Pods) {
	for _, pod := range w.Pods() {
		if pod.Application == application && w.queueOf(pod) == in {
			pods = append(pods, report.Pod{PodState: pod})
		}
	}
	w.explain(pods)
	slices.SortStableFunc(pods, func(a, b report.Pod) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Created, b.Created), cmp.Compare(a.Name, b.Name))
	})
	return pods
}

// PodNamed finds a pod that takes part.
func (w *World) PodNamed(namespace, name string) (report.Pod, bool) {
	for _, pod := range w.Pods() {
		if pod.Namespace == namespace && pod.Name == name {
			pods := report.Pods{{PodState: pod}}
			w.explain(pods)
			return pods[0], true
		}
	}
	return report.Pod{}, false
}

// Nodes are the nodes, with what is taken and kept on them.
func (w *World) Nodes() report.Nodes {
	w.details()
	return w.nodes
}
