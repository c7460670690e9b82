package reservations

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// record is what the controller knows of one Reservation.
type record struct {
	key     string
	object  *unstructured.Unstructured // as the informer or the answer to our last write shows it, whichever is newer
	desired v1alpha1.ReservationStatus
	retry   writing.Retry
}

// see takes in the object as the informer shows it, if that is news. An answer to our own write is not: the informer shows it later.
func (r *record) see(stored *unstructured.Unstructured) {
	if r.object != nil && r.object.GetUID() == stored.GetUID() {
		order, err := resourceversion.CompareResourceVersion(stored.GetResourceVersion(), r.object.GetResourceVersion())
		if err == nil && order <= 0 {
			return
		}
	}
	r.object, r.retry = stored, writing.Retry{}
}

// stored is the status that the object has. One that cannot be read counts as empty and is written again.
func (r *record) stored() v1alpha1.ReservationStatus {
	q, err := convert.DecodeReservation(r.object)
	if err != nil {
		return v1alpha1.ReservationStatus{}
	}
	return q.Status
}

// writeStatuses makes every status what it is to be.
func (c *Controller) writeStatuses(ctx context.Context, statuses map[string]reservations.Status, shown map[string]*unstructured.Unstructured) {
	now := c.loop.Clock.Now()
	before := c.records
	c.records = make(map[string]*record, len(shown))
	var due []*record
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		r := before[key]
		if r == nil {
			r = &record{key: key}
		}
		c.records[key] = r
		r.see(shown[key])
		is := r.stored()
		r.desired = convert.ReservationStatus(statuses[key], &is, now)
		if !equality.Semantic.DeepEqual(is, r.desired) && r.retry.Due(now) {
			due = append(due, r)
		}
	}
	writing.Send(ctx, due[:c.loop.Admit(len(due), false, now)], c.applyStatus, c.noteStatus)
}

func (c *Controller) applyStatus(ctx context.Context, r *record) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&r.desired)
	if err != nil {
		return nil, err
	}
	return writing.ApplyStatus(ctx, c.reservations.Namespace(r.object.GetNamespace()), v1alpha1.GroupVersion.WithKind("Reservation"), r.object, fields)
}

// noteStatus takes in how a write went, and says in an event what has changed.
func (c *Controller) noteStatus(ctx context.Context, r *record, answer *unstructured.Unstructured, err error) {
	if err == nil {
		is := r.stored()
		c.say(r, &is)
		r.object, r.retry = answer, writing.Retry{}
		return
	}
	r.retry.Postpone(c.loop.Clock.Now())
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return // it is gone or has changed, and the informer will show it
	}
	c.loop.Complain(ctx, err, "The status of a reservation cannot be written; it is tried again", "reservation", r.key)
}

// say records an event for a phase that is new, for an update that was accepted, and for one that was refused, and counts the decisions among them.
func (c *Controller) say(r *record, before *v1alpha1.ReservationStatus) {
	is := &r.desired
	refused := is.Refusal != nil && !equality.Semantic.DeepEqual(before.Refusal, is.Refusal)
	what, why, decision := "", "", ""
	switch {
	case is.Phase == v1alpha1.ReservationPending && !refused:
		return
	case refused:
		why = is.Refusal.Message
		what = cmp.Or(map[v1alpha1.ReservationPhase]string{
			v1alpha1.ReservationPending: "Pending", v1alpha1.ReservationRejected: "Rejected", v1alpha1.ReservationCancelled: "Cancelled",
		}[is.Phase], "UpdateRejected")
		decision = map[string]string{"Rejected": "rejected", "UpdateRejected": "update_rejected", "Cancelled": "cancelled"}[what]
	case before.AcceptedTime == nil && is.AcceptedTime != nil, is.AcceptedTime != nil && !before.AcceptedTime.Equal(is.AcceptedTime):
		decision = "accepted"
		what, why = "Accepted", "its allocation begins at "+is.Start.UTC().Format(time.RFC3339)
	case before.Phase == is.Phase:
		return
	case is.Phase == v1alpha1.ReservationActive:
		what, why = "Active", "its allocation has begun"
	case is.Phase == v1alpha1.ReservationEnded:
		what, why = "Ended", "its allocation is over"
	case is.Phase == v1alpha1.ReservationAccepted:
		what, why = "Accepted", "its next period begins at "+is.Start.UTC().Format(time.RFC3339)
	default:
		return
	}
	if decision != "" && c.o.Decided != nil {
		c.o.Decided(decision)
	}
	kind := corev1.EventTypeNormal
	if refused {
		kind = corev1.EventTypeWarning
	}
	// The version makes each an event of its own: without it, the recorder counts a second one of the same reason for the first, and drops what it says.
	about := &corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Reservation", Namespace: r.object.GetNamespace(), Name: r.object.GetName(), UID: r.object.GetUID(),
		ResourceVersion: r.object.GetResourceVersion(),
	}
	c.o.Recorder.Eventf(about, nil, kind, what, "Reserving", "%s", writing.Cut(why, 1024))
}
