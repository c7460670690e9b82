package access

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/people"
)

// A user may submit to a part of the tree, and puts pods there on a node: below a leaf, in a parent, in the top of the part. They run, count in the nearest
// queue, and no queue closes or goes out of force.
func TestAPodWithANodeChangesNoQueueForOthers(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	ada := s.users["ada"].Client
	revoke := s.Allow(t, s.users["ada"], "", right("submit", "root.part"))
	defer revoke()
	for _, name := range []string{"root.part", "root.part.leaf", "root.part.parent", "root.part.parent.child"} {
		q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
		must(t, s.Admin.Client.Create(ctx, q))
		t.Cleanup(func() { must(t, client.IgnoreNotFound(s.Admin.Client.Delete(context.Background(), q))) })
	}
	attackers := map[string]*corev1.Pod{}
	for _, queue := range []string{"root.part.leaf.zzz", "root.part.parent", "root.part"} {
		p := s.pod(queue)
		p.Spec.NodeName = "node-0"
		people.Until(t, "ada may submit", func() error { return ada.Create(ctx, p) })
		attackers[queue] = p
	}
	s.schedule(t, time.Second)
	for _, queue := range []string{"root.part.leaf", "root.part.parent.child"} {
		p := s.pod(queue)
		must(t, ada.Create(ctx, p))
		s.await(t, p, "", "runs")
		must(t, s.Admin.Client.Delete(ctx, p, client.GracePeriodSeconds(0)))
	}
	for queue, counts := range map[string]string{"root.part.leaf.zzz": "root.part.leaf", "root.part.parent": "root.part.parent", "root.part": "root.part"} {
		p := attackers[queue]
		out, failed := command(t, s.Cluster.Kubeconfig(), "why", p.GetName(), "-n", p.GetNamespace())
		if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "in queue "+counts+",") || failed != "" {
			t.Errorf("of the pod that names %s, why says %q %s", queue, out, failed)
		}
		must(t, s.Admin.Client.Delete(ctx, p, client.GracePeriodSeconds(0)))
	}
}
