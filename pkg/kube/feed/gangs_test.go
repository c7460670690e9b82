package feed

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func groupOf(name, uid string, minMember any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": minMember}}}
	u.SetAPIVersion("scheduling.x-k8s.io/v1alpha1")
	u.SetNamespace("ns")
	u.SetName(name)
	u.SetUID(types.UID(uid))
	return u
}

// heard is what a ledger was told of pod groups, in order.
type heard []string

func (h *heard) ObservePodGroup(g ledger.PodGroup) { h.note("observe", g.Key, g.MinMember) }
func (h *heard) ForgetPodGroup(key string)         { h.note("forget", key) }
func (h *heard) note(words ...any)                 { *h = append(*h, fmt.Sprintln(words...)) }

func TestWhatTheLedgerHearsOfPodGroups(t *testing.T) {
	four, five, broken := groupOf("a", "1", int64(4)), groupOf("a", "1", int64(5)), groupOf("a", "1", "x")
	again, againBroken := groupOf("a", "2", int64(2)), groupOf("a", "2", "x")
	const unreadable = "unreadable\n"
	for what, tc := range map[string]struct {
		do   func(cache.ResourceEventHandler)
		want heard
	}{
		"one is made":                       {func(h cache.ResourceEventHandler) { h.OnAdd(four, true) }, heard{"observe ns/a 4\n"}},
		"and changed":                       {func(h cache.ResourceEventHandler) { h.OnUpdate(four, five) }, heard{"observe ns/a 5\n"}},
		"and deleted":                       {func(h cache.ResourceEventHandler) { h.OnDelete(five) }, heard{"forget ns/a\n"}},
		"and deleted unseen":                {func(h cache.ResourceEventHandler) { h.OnDelete(cache.DeletedFinalStateUnknown{Obj: five}) }, heard{"forget ns/a\n"}},
		"and cannot be read any more":       {func(h cache.ResourceEventHandler) { h.OnUpdate(four, broken) }, heard{unreadable}},
		"one that never could be read":      {func(h cache.ResourceEventHandler) { h.OnAdd(broken, true) }, heard{unreadable}},
		"and can now":                       {func(h cache.ResourceEventHandler) { h.OnUpdate(broken, four) }, heard{"observe ns/a 4\n"}},
		"a deleted one that was unread":     {func(h cache.ResourceEventHandler) { h.OnDelete(broken) }, heard{"forget ns/a\n"}},
		"made again unseen":                 {func(h cache.ResourceEventHandler) { h.OnUpdate(four, again) }, heard{"forget ns/a\n", "observe ns/a 2\n"}},
		"made again unseen, and unreadable": {func(h cache.ResourceEventHandler) { h.OnUpdate(four, againBroken) }, heard{"forget ns/a\n", unreadable}},
	} {
		got, kicked := heard(nil), 0
		tc.do(podGroups(&got, func() { kicked++ }, func(error) { got = append(got, unreadable) }))
		if !cmp.Equal(got, tc.want) || kicked == 0 {
			t.Errorf("%s: told %q and kicked %d times, want %q", what, got, kicked, tc.want)
		}
	}
	silent := heard(nil)
	podGroups(&silent, func() {}, nil).OnAdd(broken, true) // nobody wants to know: no panic
	if len(silent) != 0 {
		t.Errorf("told %q", silent)
	}
}

// Groups of both kinds may share a name.
func TestAPodComesWithItsPodGroup(t *testing.T) {
	name := "g"
	f := openFeed()
	for want, edit := range map[string]func(*v1.Pod){
		"":     func(*v1.Pod) {},
		"ns/g": func(p *v1.Pod) { p.Labels["scheduling.x-k8s.io/pod-group"] = name },
		"ns/g (scheduling.k8s.io)": func(p *v1.Pod) {
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
		},
	} {
		f.ObservePod(pod("p"+want, edit))
		if s, known := f.Ledger.PodState(ledger.UID("p" + want)); !known || s.PodGroup != want {
			t.Errorf("got %q, want %q", s.PodGroup, want)
		}
	}
}
