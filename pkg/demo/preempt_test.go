package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// preemptToy has slots for pods that run until something ends them. It gives them one by one to the queue that
// holds least for its weight. Once told to, it evicts after a while what one queue has too much and the other
// too little.
type preemptToy struct {
	*toyCluster
	preempts        bool
	below           time.Time // since when sometimesBusy is
	announced, gone int
	evict, late     int // pods evicted more than are owed; steps that evictions come later
}

func (c *preemptToy) look() evictions { return evictions{announced: c.announced, gone: c.gone} }

func (c *preemptToy) take(t turn) {
	if t.clear {
		c.running, c.waiting = map[string][]time.Time{}, map[string][]time.Duration{}
	}
	if t.amend {
		c.preempts, c.below, c.gone = true, time.Time{}, 0
	}
	c.running[busy] = c.running[busy][min(t.end, len(c.running[busy])):]
	for _, s := range t.submit {
		for range s.pods {
			c.waiting[s.queue] = append(c.waiting[s.queue], 24*time.Hour)
		}
	}
	c.advance(stepEvery)
	if starved := len(c.running[sometimesBusy]) < allPods*3/8 && len(c.waiting[sometimesBusy]) > 0; !starved {
		c.below, c.announced = time.Time{}, 0
	} else if c.below.IsZero() {
		c.below = c.now
	}
	if c.below.IsZero() || !c.preempts {
		return
	}
	switch waited := c.now.Sub(c.below); {
	case waited >= preemptTimeout+preemptWait+time.Duration(c.late)*stepEvery:
		n := c.announced + c.evict
		c.running[busy] = c.running[busy][n:]
		c.gone, c.announced = c.gone+n, 0
		c.advance(0)
	case waited >= preemptTimeout:
		c.announced = owedPods
	}
}

// playOut runs the story on the toy to its end, and returns everything that was said.
func playOut(t *testing.T, s *preemptStory, c *preemptToy) (last turn, said string) {
	t.Helper()
	for range 2000 {
		last = s.step(c.now, c.world(), c.look())
		said += strings.Join(append(last.say, ""), "\n")
		if last.done || last.err != nil || s.stage == over {
			return last, said
		}
		c.take(last)
	}
	t.Fatalf("no end, at %q:\n%s", s.headline(), said)
	return last, said
}

func newPreemptToy() *preemptToy { return &preemptToy{toyCluster: newToyCluster()} }

// Without preemption: 65 pods of busy must end, the first after 22 s and then four each second: the 65th 16 s
// later, at 38 s. With preemption: 10 s and 3 s.
func TestBothActsSideBySide(t *testing.T) {
	s, c := &preemptStory{once: true, limit: time.Minute}, newPreemptToy()
	last, said := playOut(t, s, c)
	if !last.done || last.err != nil || len(s.acts) != 2 {
		t.Fatalf("it ends with %+v:\n%s", last, said)
	}
	for i, want := range []struct {
		took    time.Duration
		evicted int
	}{{38 * time.Second, 0}, {13 * time.Second, owedPods}} {
		a := s.acts[i]
		if late := a.took - want.took; late < 0 || late > 2*stepEvery || a.evicted != want.evicted {
			t.Errorf("%s: %s and %d evicted, want %s and %d", actName(i), a.took, a.evicted, want.took, want.evicted)
		}
		if got := report.Amounts(a.before[0]) + ", " + report.Amounts(a.before[1]); got != "180c 720Gi, 20c 80Gi" {
			t.Errorf("%s: before, %s", actName(i), got)
		}
		if got := report.Amounts(a.after[0]) + ", " + report.Amounts(a.after[1]); got != "50c 200Gi, 150c 600Gi" {
			t.Errorf("%s: after, %s", actName(i), got)
		}
	}
	for _, want := range []string{
		"SIDE BY SIDE                    WITHOUT         WITH\n", "\npods evicted                          0           65\n",
		"\nroot.busy before             180c 720Gi   180c 720Gi\n", "\nroot.sometimes-busy after    150c 600Gi   150c 600Gi\n",
		"65 pods were owed, 130c 520Gi;", "once more, with preemption in Queue root:\n  fairShareTimeout 10s, maxWaitBeforeKill 3s\n",
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("not said once: %q in\n%s", want, said)
		}
	}
	for line := range strings.Lines(said) {
		if len(line) > plainWidth-len(" 123.4s  ")+1 {
			t.Errorf("too long: %q", line)
		}
	}
}

func TestBrokenPromisesOfPreemptionAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		toy  func(*preemptToy)
		want string
	}{
		"more is evicted than is owed": {func(c *preemptToy) { c.evict = 1 }, "66 pods were evicted, and 65 are owed"},
		"nothing is evicted":           {func(c *preemptToy) { c.late = 1 << 20 }, "0 pods were evicted, and 65 are owed"},
	} {
		toy := newPreemptToy()
		c.toy(toy)
		last, said := playOut(t, &preemptStory{once: true, limit: time.Minute}, toy)
		if last.err == nil || !strings.Contains(last.err.Error(), c.want) {
			t.Errorf("%s: it ends with %v, want %q\n%s", name, last.err, c.want, said)
		}
		toy = newPreemptToy()
		c.toy(toy)
		last, said = playOut(t, &preemptStory{limit: time.Minute}, toy)
		if last.err != nil || last.done || strings.Count(said, c.want) != 1 {
			t.Errorf("%s: it ends with %+v and says\n%s", name, last, said)
		}
	}
	s, toy := &preemptStory{once: true, limit: 5 * time.Second}, newPreemptToy()
	toy.slots = allPods - 1
	if last, _ := playOut(t, s, toy); last.err == nil || !strings.HasPrefix(last.err.Error(), "without preemption: root.busy fills the cluster with long pods: too late, after 5s\n") {
		t.Errorf("it ends with %v", last.err)
	}
}

func TestEvictionsAreCountedByWhatPodsShow(t *testing.T) {
	pod := func(uid, message string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}, Status: corev1.PodStatus{Phase: phase}}
		if message != "" {
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler, Message: message,
				LastTransitionTime: metav1.Unix(1, 0),
			}}
		}
		return p
	}
	const running, ours = corev1.PodRunning, v1alpha1.PreemptionMessage + "root.a: so it is"
	w := &watchedEvictions{}
	for i, c := range []struct {
		pods []*corev1.Pod
		want evictions
	}{
		{[]*corev1.Pod{pod("a", "", running), pod("b", "", running)}, evictions{}},
		{[]*corev1.Pod{pod("a", ours, running), pod("b", "by somebody else", running), pod("c", ours, running), pod("d", ours, running), pod("e", ours, running)}, evictions{announced: 4}},
		// a is evicted, c stays, d ends by itself, and the API server evicts e.
		{[]*corev1.Pod{pod("c", "", running), pod("d", ours, corev1.PodSucceeded), pod("e", "Eviction API: evicting", running)}, evictions{announced: 1, gone: 1}},
		{nil, evictions{gone: 2}},
	} {
		if got := w.look(c.pods); got != c.want {
			t.Errorf("look %d: %+v, want %+v", i, got, c.want)
		}
	}
}

func TestTheOldestPodsEndFirst(t *testing.T) {
	pod := func(name, queue string, second int, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, CreationTimestamp: metav1.Unix(int64(second), 0), Annotations: map[string]string{v1alpha1.KeyPlacedQueue: queue},
			},
			Status: corev1.PodStatus{Phase: phase},
		}
	}
	pods := []*corev1.Pod{
		pod("late", busy, 9, corev1.PodRunning), pod("b", busy, 2, corev1.PodRunning), pod("a", busy, 2, corev1.PodRunning),
		pod("other", sometimesBusy, 1, corev1.PodRunning), pod("done", busy, 1, corev1.PodSucceeded),
	}
	if got := oldest(pods, busy, 2); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %v", got)
	}
	if got := oldest(pods, busy, 9); len(got) != 3 {
		t.Errorf("got %v", got)
	}
}

// What the story says about Queue root is what is written into it.
func TestTheActsDifferInThePreemptionOfRoot(t *testing.T) {
	objects, err := decode(preemptYAML)
	if err != nil || len(objects) != 3 || objects[0].GetName() != v1alpha1.RootQueue {
		t.Fatalf("%v: %v", objects, err)
	}
	for i, want := range []queue.Preemption{{}, {
		FairShareTimeout: queue.Timeout{Stated: true, Nanoseconds: int64(preemptTimeout)}, FairShareThreshold: queue.AtMost(500),
		MaxWaitBeforeKill: queue.Timeout{Stated: true, Nanoseconds: int64(preemptWait)}, Interval: queue.Timeout{Stated: true, Nanoseconds: int64(time.Second)},
	}} {
		if i == 1 {
			var patch map[string]any
			if err := yaml.Unmarshal([]byte(preemptPatch), &patch); err != nil {
				t.Fatal(err)
			}
			objects[0].Object["spec"] = patch["spec"]
		}
		q, err := convert.DecodeQueue(objects[0])
		if err != nil {
			t.Fatal(err)
		}
		d, err := convert.Declaration(q)
		if err != nil || d.Spec.Preemption != want {
			t.Errorf("%s: %+v: %v", actName(i), d.Spec.Preemption, err)
		}
	}
}

func TestTheTableOfPreemption(t *testing.T) {
	c := newPreemptToy()
	v := view{title: (&preemptStory{stage: contested, acts: []act{{}, {}}}).headline(), elapsed: 61 * time.Second, body: preemptRows{c.world().queues, evictions{65, 3}}}
	lines := v.plain(plainWidth, report.Style{ASCII: true})
	if lines[0] != "   61s  with preemption: the burst: root.sometimes-busy asks for its share" || lines[len(lines)-1] != "pods announced to be evicted: 65, evicted: 3" {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	for _, width := range []int{20, 60, 79} {
		for _, line := range v.lines(width, report.Style{}) {
			if len([]rune(line)) > width {
				t.Errorf("%d characters do not fit %d: %q", len(line), width, line)
			}
		}
	}
}
