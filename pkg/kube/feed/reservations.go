package feed

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// reserved is what a reservation says to the pods that name it: their queue, or why they have none now.
type reserved struct {
	queue queue.Path
	why   reason.Reason
}

// Reservations is the handler for a dynamic informer of Reservations.
func (f *Feed) Reservations() cache.ResourceEventHandler {
	return handler(f.observeReservation, func(u *unstructured.Unstructured) {
		f.reservations.Delete(u.GetNamespace() + "/" + u.GetName())
		f.saysToPods(u)
	})
}

func (f *Feed) observeReservation(u *unstructured.Unstructured) {
	o := convert.ReservationObject(u)
	var says reserved
	says.queue, says.why = o.Says()
	if before, known := f.reservations.Swap(o.Key(), says); !known || before != says {
		f.saysToPods(u)
	}
}

// saysToPods has the pods that name a reservation observed again.
func (f *Feed) saysToPods(u *unstructured.Unstructured) {
	if f.Reserved != nil {
		f.Reserved(u.GetNamespace(), u.GetName())
	}
	f.Kick()
}

// reserve gives an unbound pod the queue of the reservation that it names.
func (f *Feed) reserve(pod *v1.Pod, p *ledger.Pod) {
	name := pod.Labels[v1alpha1.KeyReservation]
	if name == "" {
		return
	}
	key := pod.Namespace + "/" + name
	found, ok := f.reservations.Load(key)
	says, is := found.(reserved)
	if !ok || !is {
		says.why = reason.Reason{Code: reason.ReservationNotFound, Details: reason.Reserved{Name: key}}
	}
	p.Queue, p.Reservation = string(says.queue), &says.why
}
