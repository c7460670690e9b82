package turnstile

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/dispatch"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// heard records, in order, the calls to the observer and to kube-scheduler.
type heard struct{ calls []string }

func (h *heard) say(format string, args ...any) {
	h.calls = append(h.calls, fmt.Sprintf(format, args...))
}

func (h *heard) take() []string {
	calls := h.calls
	h.calls = nil
	return calls
}

func (h *heard) ObservePod(p *v1.Pod) bool {
	h.say("observe %s", p.ResourceVersion)
	return p.Spec.SchedulerName == "fairway"
}
func (h *heard) ForgetPod(p *v1.Pod) { h.say("forget %s", p.Name) }
func (h *heard) Changed()            {}

func (h *heard) OnAdd(o any, _ bool) { h.say("add %s", o.(*v1.Pod).ResourceVersion) }
func (h *heard) OnUpdate(o, n any) {
	h.say("update %s to %s", o.(*v1.Pod).ResourceVersion, n.(*v1.Pod).ResourceVersion)
}
func (h *heard) OnDelete(o any) { h.say("delete %s", o.(*v1.Pod).ResourceVersion) }

func newHeard() (*heard, *Turnstile) {
	h := &heard{}
	t := New(h, func(ledger.UID) bool { return false })
	t.inner = h
	return h, t
}

func object(uid, v, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: types.UID(uid), ResourceVersion: v},
		Spec:       v1.PodSpec{SchedulerName: "fairway", NodeName: node},
	}
}

func (h *heard) want(t *testing.T, calls ...string) {
	t.Helper()
	if got := h.take(); !slices.Equal(got, calls) {
		t.Errorf("heard %q, want %q", got, calls)
	}
}

func TestWaitingPodsAreWithheldFromKubeScheduler(t *testing.T) {
	h, s := newHeard()
	s.OnAdd(object("u", "1", ""), true)
	s.OnUpdate(object("u", "1", ""), object("u", "2", ""))
	h.want(t, "observe 1", "observe 2")
	s.OnDelete(object("u", "2", ""))
	h.want(t, "forget p")
}

func TestAReleasedPodIsAddedAsItsNewestObject(t *testing.T) {
	h, s := newHeard()
	s.OnAdd(object("u", "1", ""), false)
	s.OnUpdate(object("u", "1", ""), object("u", "2", ""))
	h.take()
	s.Exclusive(func(g dispatch.Gate) { g.Admit("u") })
	h.want(t, "add 2")
	s.OnUpdate(object("u", "2", ""), object("u", "3", ""))
	h.want(t, "observe 3", "update 2 to 3")
	s.OnUpdate(object("u", "3", ""), object("u", "4", "node"))
	h.want(t, "observe 4", "update 3 to 4")
}

// kube-scheduler frees the room before the ledger gives it to another pod.
func TestTheEndOfAPodReachesKubeSchedulerFirst(t *testing.T) {
	h, s := newHeard()
	s.OnAdd(object("u", "1", "node"), false)
	h.want(t, "observe 1", "add 1")
	s.OnDelete(cache.DeletedFinalStateUnknown{Key: "p", Obj: object("u", "1", "node")})
	h.want(t, "delete 1", "forget p")
}

func TestAWithdrawnPodLeavesAndMayComeBack(t *testing.T) {
	h, s := newHeard()
	s.OnAdd(object("u", "1", ""), false)
	s.Exclusive(func(g dispatch.Gate) { g.Withdraw("u"); g.Admit("u"); g.Withdraw("u") })
	h.want(t, "observe 1", "add 1", "delete 1")
	// A running attempt may have put it back: it is withdrawn again, also when it ends.
	s.Exclusive(func(g dispatch.Gate) { g.Withdraw("u") })
	h.want(t, "delete 1")
	s.Exclusive(func(g dispatch.Gate) { g.Admit("u") })
	h.want(t, "delete 1", "add 1")
	s.Exclusive(func(g dispatch.Gate) { g.Admit("u") }) // still in: out and in again, because an add would be ignored
	h.want(t, "delete 1", "add 1")
	s.Exclusive(func(g dispatch.Gate) { g.Withdraw("u") })
	h.take()
	s.OnDelete(object("u", "1", ""))
	h.want(t, "delete 1", "forget p")
	s.Exclusive(func(g dispatch.Gate) { g.Admit("nobody"); g.Withdraw("nobody") })
	h.want(t)
}

func TestABoundPodIsNeitherAdmittedNorWithdrawn(t *testing.T) {
	h, s := newHeard()
	s.OnAdd(object("u", "1", "node"), false)
	h.take()
	s.Exclusive(func(g dispatch.Gate) { g.Admit("u"); g.Withdraw("u") })
	h.want(t)
}

func TestAPodRecreatedUnderItsNameIsAnotherPod(t *testing.T) {
	h, s := newHeard()
	s.OnAdd(object("old", "1", "node"), false)
	h.take()
	s.OnUpdate(object("old", "1", "node"), object("new", "2", ""))
	h.want(t, "delete 1", "forget p", "observe 2")
}

// Only kube-scheduler's own registration is wrapped.
func TestOtherHandlersArePassedThrough(t *testing.T) {
	_, s := newHeard()
	s.inner = nil
	f := s.Factory(informers.NewSharedInformerFactory(fake.NewClientset(), 0))
	if _, err := f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}}); err != nil {
		t.Fatal(err)
	}
	if s.inner != nil {
		t.Error("a plugin's handler was wrapped")
	}
	if err := s.Check(); err == nil {
		t.Error("a scheduler whose handler was not seen is accepted: it would withhold nothing")
	}
}
