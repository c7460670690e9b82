package turnstile

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// owned is a pod that the owner controls, "" for none. Its version identifies it in the recorded calls.
func owned(uid, owner, node string) *v1.Pod {
	p := object(uid, uid, node)
	if owner != "" {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "other", UID: "other"}, {Kind: "Job", Name: owner, UID: types.UID(owner), Controller: &yes}}
	}
	return p
}

func TestPodsOfAnOwnerAreObservedAgain(t *testing.T) {
	h, s := newHeard()
	foreign := owned("foreign", "j", "")
	foreign.Spec.SchedulerName = "other"
	for _, p := range []*v1.Pod{owned("waits", "j", ""), foreign, owned("bound", "j", "n"), owned("not-its", "k", ""), owned("free", "", "")} {
		s.OnAdd(p, false)
	}
	h.take()
	s.ReobserveOwned("j")
	got := h.take()
	slices.Sort(got)
	if want := []string{"observe bound", "observe waits"}; !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	s.ReobserveOwned("nobody")
	s.ReobserveOwned("other") // which does not control them
	s.ReobserveOwned("")
	h.want(t)
}

// However pods come, go, are orphaned and adopted, an owner's pods are found, each once.
func TestPodsOfAnOwnerAreAlwaysFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h, s := newHeard()
		now := map[string]*v1.Pod{}
		owners := []string{"", "j", "k"}
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			uid := fmt.Sprint("p", rapid.IntRange(0, 4).Draw(rt, "pod"))
			before := now[uid]
			if before != nil && rapid.IntRange(0, 2).Draw(rt, "ends") == 0 {
				s.OnDelete(before)
				delete(now, uid)
				continue
			}
			now[uid] = owned(uid, rapid.SampledFrom(owners).Draw(rt, "owner"), "")
			if before == nil {
				s.OnAdd(now[uid], false)
			} else {
				s.OnUpdate(before, now[uid])
			}
		}
		for _, owner := range owners {
			var want []string
			for uid, p := range now { // sorted below
				if c := metav1.GetControllerOf(p); c != nil && string(c.UID) == owner {
					want = append(want, "observe "+uid)
				}
			}
			h.take()
			s.ReobserveOwned(types.UID(owner))
			got := h.take()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				rt.Fatalf("of owner %q heard %q, want %q", owner, got, want)
			}
		}
		for uid, p := range now { // each for itself: order does not matter
			s.OnDelete(p)
			delete(now, uid)
		}
		if len(s.owned) > 0 {
			rt.Fatalf("owners are left: %v", s.owned)
		}
	})
}
