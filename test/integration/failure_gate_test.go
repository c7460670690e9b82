package integration

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// What slips past an open gate meanwhile is met again at every later stage of the attempt.
func TestASecondStarterIsSentBack(t *testing.T) {
	f := failingWorld(t, 1, "")
	for _, at := range []stage{atPreFilter, atReserve, atPermit} {
		f.scene("second-at-"+strings.ToLower(string(at)), func(f *failing) { f.secondStarter(at) })
	}
}

func (f *failing) gate() {
	f.t.Helper()
	change(f, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: f.leaf()}}, func(q *v1alpha1.Queue) { q.Spec.Policy = v1alpha1.PolicyStateAware })
	f.until("the ledger knows the gate", func() (bool, string) {
		for _, q := range f.s.Ledger.Snapshot().Queues {
			if string(q.Path) == f.leaf() {
				return q.Spec.Policy == queue.StateAware, q.Spec.Policy.String()
			}
		}
		return false, "no such queue"
	})
}

// driving makes the pod the driver of an application.
func driving(application string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Labels[v1alpha1.KeyApplication], p.Labels[v1alpha1.KeyRole] = application, v1alpha1.RoleDriver
	}
}

// secondStarter has somebody else bind the driver of another application while an attempt is under way.
func (f *failing) secondStarter(at stage) {
	f.gate()
	stop := f.hold(at, "a")
	p := f.pod("a", driving("one"))
	stop.wait()
	second := f.pod("b", driving("two"))
	f.untilState(second, "Waiting "+f.leaf())
	f.bind(second, "node-0")
	f.untilState(second, "Bound "+f.leaf())
	if st := stop.pass(); st.IsSuccess() {
		f.t.Errorf("%s lets a second starter through", at)
	}
	f.untilState(p, "Waiting "+f.leaf())
	since := scheduled(f.get(second)).LastTransitionTime.UTC().Format(time.RFC3339)
	f.untilHeld(p.Name, "StateAware", "lets 1 application start at a time, and default/app/two is starting since "+since)
	f.settled()
	f.agree()
	f.refused(p, func() { f.remove(second) })
}
