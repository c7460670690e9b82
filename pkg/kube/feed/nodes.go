package feed

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Nodes is the handler for the node informer.
func (f *Feed) Nodes() cache.ResourceEventHandler {
	return handler(func(n *v1.Node) {
		f.Ledger.ObserveNode(ledger.Node{
			Name: n.Name, Allocatable: convert.NodeAllocatable(n), Usable: convert.NodeUsable(n),
			Pods: int(n.Status.Allocatable.Pods().Value()), Facts: f.factsFor(n), Rack: n.Labels[f.RackKey],
		})
		f.Kick()
	}, func(n *v1.Node) {
		f.Ledger.ForgetNode(n.Name)
		f.nodeFacts.Delete(n.Name)
		f.Kick()
	})
}
