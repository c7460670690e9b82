package queuestatus

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func stated(value, from string) *v1alpha1.EffectiveText {
	return &v1alpha1.EffectiveText{Value: value, From: from}
}

// Each value in force stands in the status with the queue that states it.
func TestTheStatusSaysWhatIsInForceAndWhereItComesFrom(t *testing.T) {
	l := ledger.New(ledger.Options{})
	l.ObserveNode(ledger.Node{Name: "n", Allocatable: amounts(100, 400), Usable: true})
	declare := func(p queue.Path, edit func(*queue.Spec)) {
		d := queue.Declaration{Path: p, Spec: queue.DefaultSpec()}
		edit(&d.Spec)
		l.ObserveQueue(d)
	}
	declare("root", func(s *queue.Spec) {
		s.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: 90e9}
		s.Preemption.FairShareThreshold = queue.AtMost(750)
		s.MaxPod = amounts(8, 64)
		s.MaxRunningApplications = queue.AtMost(10)
	})
	declare("root.a", func(s *queue.Spec) {
		s.Policy, s.FairResource = queue.Fair, resource.CPU
		s.Preemption.Preemptible = queue.PreemptibleNo
		s.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Never: true}
	})
	declare("root.a.b", func(s *queue.Spec) {
		s.MaxPod = resource.Of(resource.Entry{Name: resource.CPU, Value: 4000})
		s.Preemption.GuaranteedTimeout = queue.Timeout{Stated: true, Nanoseconds: 3600e9}
		s.MaxDriverShare = queue.AtMost(250)
		s.MaxApplications = queue.AtMost(7)
	})
	l.Settle(1)
	got := map[queue.Path]v1alpha1.QueueStatus{}
	for _, q := range l.Snapshot().Queues {
		got[q.Path] = Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))
	}
	want := &v1alpha1.QueueEffective{
		Policy: stated("Fair", "root.a"), FairResource: stated("cpu", "root.a"), MaxDriverShare: stated("0.25", "root.a.b"),
		MaxPodResources: []v1alpha1.EffectiveAmount{
			{Resource: "cpu", Value: "4", From: "root.a.b"}, {Resource: "memory", Value: "64Gi", From: "root"},
		},
		FairShareThreshold: stated("0.75", "root"), FairShareTimeout: stated("never", "root.a"), GuaranteedTimeout: stated("1h", "root.a.b"),
		Preemptible: &v1alpha1.EffectiveFlag{Value: false, From: "root.a"},
	}
	if diff := cmp.Diff(want, got["root.a.b"].Effective); diff != "" {
		t.Errorf("root.a.b (-want +got):\n%s", diff)
	}
	// Idle, the queue has its steady share of cpu, 100, and could hold 400Gi. A quarter of that.
	limits := &v1alpha1.QueueLimits{
		Applications: &v1alpha1.CountLimit{Used: 0, Limit: 7}, Drivers: &v1alpha1.AmountsLimit{Limit: list("25", "100Gi")},
	}
	if diff := cmp.Diff(limits, got["root.a.b"].Limits); diff != "" {
		t.Errorf("limits of root.a.b (-want +got):\n%s", diff)
	}
	l.ObservePod(ledger.Pod{
		UID: "d", Namespace: "ns", Name: "d", Queue: "root.a.b", Application: "app", Role: application.Driver, Request: amounts(2, 8), Node: "n",
	}, 2)
	l.Settle(2)
	limits.Applications.Used, limits.Drivers.Used = 1, list("2", "8Gi")
	for _, q := range l.Snapshot().Queues {
		if is := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)); q.Path == "root.a.b" && !cmp.Equal(limits, is.Limits) {
			t.Errorf("limits of root.a.b with a driver (-want +got):\n%s", cmp.Diff(limits, is.Limits))
		} else if q.Path == "root" && is.Limits.RunningApplications.Used != 1 {
			t.Errorf("limits of root with a driver: %+v", is.Limits.RunningApplications)
		}
	}
	if is := got["root"]; is.Effective.MaxDriverShare != nil || is.Limits.Drivers != nil || is.Limits.RunningApplications.Limit != 10 {
		t.Errorf("root: %+v", is)
	}
	if is := got["root.a"]; is.Limits != nil || is.Effective.MaxDriverShare != nil {
		t.Errorf("root.a: %+v", is)
	}
	if is := Status(ledger.QueueState{Path: "root.x.y", Declared: true}, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)); is.Effective != nil || is.Limits != nil {
		t.Errorf("out of the tree: %+v", is)
	}
}

// The schema refuses longer lists.
func TestEffectiveAmountsAreBounded(t *testing.T) {
	q := sound("root.a")
	for i := range 200 {
		q.Effective.MaxPod = append(q.Effective.MaxPod, queue.EffectiveAmount{Entry: resource.Entry{Name: resource.Name("r" + strconv.Itoa(i)), Value: 1}, From: "root"})
	}
	if n := len(Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Effective.MaxPodResources); n != v1alpha1.MaxEffectiveAmounts {
		t.Errorf("%d amounts", n)
	}
}

func TestEveryFieldOfWhatIsInForceIsCompared(t *testing.T) {
	is := reflect.TypeFor[queue.Effective]()
	for i := range is.NumField() {
		var other queue.Effective
		switch field := reflect.ValueOf(&other).Elem().Field(i).Addr().Interface().(type) {
		case *queue.Path:
			*field = "root"
		case *queue.Preemption:
			field.ObserveOnly = true
		case *[]queue.EffectiveAmount:
			*field = []queue.EffectiveAmount{{From: "root"}}
		default:
			t.Errorf("%s: a type that is new here", is.Field(i).Name)
		}
		if other.Equal(queue.Effective{}) {
			t.Errorf("%s is not compared", is.Field(i).Name)
		}
	}
}

// What is in force and how much of the limits is used changes only together with what a status shows besides, while pods come, run and go: no status is
// written more often for it.
func TestLimitsCauseNoWritesOfTheirOwn(t *testing.T) {
	l := ledger.New(ledger.Options{})
	l.ObserveNode(ledger.Node{Name: "n", Allocatable: amounts(100, 400), Usable: true})
	for _, p := range []queue.Path{"root", "root.a", "root.b"} {
		d := queue.Declaration{Path: p, Spec: queue.DefaultSpec()}
		if p == "root.b" {
			d.Spec.MaxApplications = queue.AtMost(8)
		} else {
			d.Spec.MaxRunningApplications = queue.AtMost(12)
		}
		l.ObserveQueue(d)
	}
	l.Lead(1)
	without := func(s v1alpha1.QueueStatus) v1alpha1.QueueStatus {
		s.Effective, s.Limits = nil, nil
		return s
	}
	random, before, changed, alive := rand.New(rand.NewPCG(1, 2)), map[queue.Path]v1alpha1.QueueStatus{}, 0, []ledger.Pod{}
	for step := range int64(3000) {
		switch {
		case len(alive) < 60 && random.IntN(2) == 0:
			name := strconv.FormatInt(step, 10)
			p := ledger.Pod{
				UID: ledger.UID(name), Namespace: "ns", Name: name, Queue: []string{"root.a", "root.b"}[random.IntN(2)],
				Application: "app" + strconv.Itoa(random.IntN(40)), Request: amounts(1, 1), Created: step,
			}
			if random.IntN(3) == 0 {
				p.Role = application.Driver
			}
			l.ObservePod(p, step)
			alive = append(alive, p)
		case len(alive) > 0 && random.IntN(2) == 0: // somebody binds it, or it is seen bound
			i := random.IntN(len(alive))
			alive[i].Node = "n"
			l.ObservePod(alive[i], step)
		case len(alive) > 0:
			i := random.IntN(len(alive))
			l.ForgetPod(alive[i].UID, step)
			alive = append(alive[:i], alive[i+1:]...)
		}
		l.Settle(step)
		for _, q := range l.Snapshot().Queues {
			is := Status(q, before[q.Path], 1, metav1.NewTime(start))
			was := before[q.Path]
			before[q.Path] = is
			if step == 0 || equality.Semantic.DeepEqual(is.Limits, was.Limits) {
				continue
			}
			changed++
			if equality.Semantic.DeepEqual(without(is), without(was)) {
				t.Fatalf("step %d: only the limits of %s have changed:\n%s", step, q.Path, cmp.Diff(was.Limits, is.Limits))
			}
		}
	}
	if changed < 1000 {
		t.Errorf("the limits changed %d times only", changed)
	}
}
