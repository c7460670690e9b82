package plugin

import (
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Less implements fwk.QueueSortPlugin: by ticket, then creation, then UID. A ticket never changes while
// kube-scheduler holds the pod, so its heaps stay in order; a Less over live usage would corrupt them
// silently.
func (p *Plugin) Less(a, b fwk.QueuedPodInfo) bool {
	x, y := a.GetPodInfo().GetPod(), b.GetPodInfo().GetPod()
	if tx, ty := p.ledger.Ticket(ledger.UID(x.UID)), p.ledger.Ticket(ledger.UID(y.UID)); tx != ty {
		return tx < ty
	}
	if !x.CreationTimestamp.Equal(&y.CreationTimestamp) {
		return x.CreationTimestamp.Before(&y.CreationTimestamp)
	}
	return x.UID < y.UID
}
