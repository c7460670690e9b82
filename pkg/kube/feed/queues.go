package feed

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// Queues is the handler for a dynamic informer of Queues. It decodes object by object: a typed informer would lose the
// whole list over one object that a newer, laxer CRD accepted.
func (f *Feed) Queues() cache.ResourceEventHandler {
	return renewing(func(u *unstructured.Unstructured) {
		f.observeQueue(u)
		f.Kick()
	}, f.forgetQueue)
}

func (f *Feed) forgetQueue(u *unstructured.Unstructured) {
	f.Ledger.ForgetQueue(queue.Path(u.GetName()))
	f.generations.Delete(u.GetName())
	f.Kick()
}

func (f *Feed) observeQueue(u *unstructured.Unstructured) {
	q, err := convert.DecodeQueue(u)
	if err == nil {
		d, cerr := convert.Declaration(q)
		if err = cerr; err == nil {
			f.wantOwners(d)
			f.Ledger.ObserveQueue(d)
		}
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "queue "+u.GetName()+": ") // the reason's sentence names the queue already
		f.Ledger.ObserveBadQueue(queue.Path(u.GetName()), why)
		if u.GetDeletionTimestamp() != nil {
			f.Ledger.RetireQueue(queue.Path(u.GetName()))
		}
	}
	f.generations.Store(u.GetName(), u.GetGeneration())
}

// Generation is the newest generation of the Queue that the ledger has seen, 0 for one it has not.
func (f *Feed) Generation(name string) int64 {
	g, _ := f.generations.Load(name)
	n, _ := g.(int64)
	return n
}
