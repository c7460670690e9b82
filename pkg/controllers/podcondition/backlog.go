package podcondition

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// backlogEvery is the time between two looks at the backlog: a look holds the ledger's lock for milliseconds.
const backlogEvery = 2 * time.Second

// backlogged is the number of pods that a look goes through: at the default rate, what is written in 50 seconds.
// Autoscalers work through a larger backlog in portions: pods for which they made room leave it.
const backlogged = 1000

// change is a pod that should show Unschedulable, or should not any more.
type change struct {
	ledger.Backlogged
	show bool
}

// showBacklog writes with what the limiter has left. Each result of a look is checked again before it is written, and
// forgotten at the next look.
func (w *Writer) showBacklog(ctx context.Context, now time.Time) {
	if w.pods == nil {
		return
	}
	if now.Sub(w.lookedAt) >= backlogEvery {
		w.look(now)
	}
	for len(w.backlog) > 0 && ctx.Err() == nil {
		c := w.backlog[0]
		pod := w.due(c, now)
		if pod != nil && !w.loop.AdmitOne() {
			return
		}
		w.backlog = w.backlog[1:]
		if pod != nil {
			w.write(ctx, pod, c)
		}
	}
}

func (w *Writer) look(now time.Time) {
	w.lookedAt, w.backlog = now, nil
	show, unshow := w.ledger.Backlog(backlogged, w.after.Nanoseconds(), now.UnixNano())
	for _, b := range unshow {
		w.backlog = append(w.backlog, change{b, false})
	}
	if w.show {
		for _, b := range show {
			w.backlog = append(w.backlog, change{b, true})
		}
	}
	for uid, until := range w.avoided { // each for itself: order does not matter
		if !now.Before(until) {
			delete(w.avoided, uid)
		}
	}
}

// due returns the pod as last seen if the change is still to be made, else nil. A pod that is in kube-scheduler's hands is left to it.
func (w *Writer) due(c change, now time.Time) *corev1.Pod {
	pod := w.shown(c.Namespace, c.Name)
	if pod == nil || pod.UID != types.UID(c.UID) || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return nil
	}
	if showsUnschedulable(pod) == c.show && !c.Again || now.Before(w.avoided[c.UID]) {
		return nil
	}
	s, known := w.ledger.PodState(c.UID)
	if !known || s.State != ledger.Waiting && s.State != ledger.Parked || c.show && s.BlockedBy.Code != "" {
		return nil
	}
	return pod
}

func showsUnschedulable(pod *corev1.Pod) bool {
	c := conditionIn(pod, corev1.PodScheduled)
	return c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

// write makes no event: upstream makes one for every attempt that failed, and a class fails as one.
func (w *Writer) write(ctx context.Context, pod *corev1.Pod, c change) {
	message := ""
	if c.show {
		if message = c.Message; message == "" {
			shortage, _ := w.ledger.Shortage(c.UID)
			message = shortageText(shortage)
		}
	}
	data, err := unschedulableBody(pod, message, metav1.NewTime(w.loop.Clock.Now()))
	if err == nil {
		err = w.send(ctx, c.Namespace, c.Name, data)
	}
	switch {
	case err == nil, apierrors.IsNotFound(err), writing.IsForAnother(err):
	case apierrors.IsConflict(err): // it is no longer what was looked at; the next look knows what it is now
	default:
		w.avoided[c.UID] = w.loop.Clock.Now().Add(retryAfter)
		w.complain(ctx, err, c.Namespace, c.Name)
	}
}

// shortageText is upstream's wording (see FitError of kube-scheduler), for a class none of whose pods shows it.
func shortageText(s ledger.Shortage) string {
	if s.Nodes == 0 {
		return "no nodes available to schedule pods"
	}
	var reasons []string
	if s.TooMany > 0 {
		reasons = append(reasons, fmt.Sprintf("%d Too many pods", s.TooMany))
	}
	for _, l := range s.Lacking {
		reasons = append(reasons, fmt.Sprintf("%d Insufficient %s", l.Nodes, l.Resource))
	}
	if len(reasons) == 0 && s.Kept.Held == 0 {
		return fmt.Sprintf("0/%d nodes are available.", s.Nodes)
	}
	slices.Sort(reasons)
	if held := s.Kept.HeldFor(); held != "" {
		reasons = append(reasons, strconv.FormatInt(s.Kept.Held, 10)+held)
	}
	return fmt.Sprintf("0/%d nodes are available: %s.", s.Nodes, strings.Join(reasons, ", "))
}
