package app

import (
	"context"
	"errors"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

// profileOf is a framework that answers only which share of nodes to score.
type profileOf struct {
	framework.Framework
	percentage *int32
}

func (p profileOf) PercentageOfNodesToScore() *int32 { return p.percentage }

var podUID = types.UID("p")

// released is a scheduler with two nodes more than kube-scheduler always looks at, and a released pod.
func released(t *testing.T, config string, edits ...func(*ledger.Pod)) *Scheduler {
	t.Helper()
	s, err := setup(t, config)
	if err != nil {
		t.Fatal(err)
	}
	one := resource.Of(resource.Entry{Name: resource.CPU, Value: 1000})
	for i := range smallCluster + 2 {
		s.Ledger.ObserveNode(ledger.Node{Name: fmt.Sprintf("node-%d", i), Usable: true, Allocatable: one})
	}
	s.Ledger.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
	p := ledger.Pod{UID: ledger.UID(podUID), Name: "p", Queue: "a", Class: "c", Application: "x", Request: one}
	for _, edit := range edits {
		edit(&p)
	}
	s.Ledger.ObservePod(p, 1)
	s.Ledger.Lead(2)
	if _, ok := s.Ledger.Choose(2); !ok {
		t.Fatal("the pod was not released")
	}
	return s
}

// attempts runs one cycle of the pod and returns to how many nodes each attempt was restricted, 0 for all.
func attempts(s *Scheduler, percentage *int32, pod *v1.Pod, answers ...error) (restricted []int, err error) {
	pod.UID = podUID
	kept := func(_ context.Context, _ framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		n := 0
		if nodes := plugin.Restriction(state); nodes != nil {
			n = nodes.NodeNames.Len()
		}
		restricted = append(restricted, n)
		return scheduler.ScheduleResult{}, answers[len(restricted)-1]
	}
	info := &framework.QueuedPodInfo{PodInfo: &framework.PodInfo{Pod: pod}}
	_, err = s.schedulePod(kept)(context.Background(), profileOf{percentage: percentage}, framework.NewCycleState(), info)
	return restricted, err
}

func TestAPodIsTriedOnCandidatesAndOnMisfitOnAllNodes(t *testing.T) {
	s := released(t, "")
	broken, misfit := errors.New("broken"), error(&framework.FitError{})
	for _, c := range []struct {
		name    string
		answers []error
		want    string
		err     error
	}{
		{"fits", []error{nil}, "[32]", nil},
		{"fits elsewhere", []error{misfit, nil}, "[32 0]", nil},
		{"fits nowhere", []error{misfit, misfit}, "[32 0]", misfit},
		{"breaks", []error{broken}, "[32]", broken},
	} {
		got, err := attempts(s, nil, &v1.Pod{}, c.answers...)
		if fmt.Sprint(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: restricted to %v nodes, want %v; error %v, want %v", c.name, got, c.want, err, c.err)
		}
	}
}

func TestWhenAPodIsTriedOnAllNodesAtOnce(t *testing.T) {
	whole := func(name string, s *Scheduler, percentage *int32, pod *v1.Pod) {
		t.Helper()
		if got, _ := attempts(s, percentage, pod, nil); fmt.Sprint(got) != "[0]" {
			t.Errorf("%s: restricted to %v nodes, want all", name, got)
		}
	}
	s, thirty := released(t, ""), int32(30)
	volume := func(source v1.VolumeSource) *v1.Pod {
		return &v1.Pod{Spec: v1.PodSpec{Volumes: []v1.Volume{{VolumeSource: source}}}}
	}
	whole("the profile says how many", s, &thirty, &v1.Pod{})
	whole("preferred nodes", s, nil, &v1.Pod{Spec: v1.PodSpec{Affinity: &v1.Affinity{}}})
	whole("spread", s, nil, &v1.Pod{Spec: v1.PodSpec{TopologySpreadConstraints: make([]v1.TopologySpreadConstraint, 1)}})
	whole("devices", s, nil, &v1.Pod{Spec: v1.PodSpec{ResourceClaims: make([]v1.PodResourceClaim, 1)}})
	whole("a volume claim", s, nil, volume(v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{}}))
	whole("an ephemeral volume", s, nil, volume(v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}))
	whole("a nominated node", s, nil, &v1.Pod{Status: v1.PodStatus{NominatedNodeName: "node-1"}})
	profile := "profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}}]\n"
	whole("the configuration says how many", released(t, profile+"percentageOfNodesToScore: 30\n"), nil, &v1.Pod{})
	whole("an extender", released(t, profile+"extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter}]\n"), nil, &v1.Pod{})
}

// Its few nodes are those that it prefers, also where no sample of the others would do.
func TestAPodIsTriedOnItsPreferredNodesFirst(t *testing.T) {
	prefers := func(names string) func(*ledger.Pod) {
		return func(p *ledger.Pod) { p.PreferredNodes = names }
	}
	misfit := error(&framework.FitError{})
	spread := v1.PodSpec{TopologySpreadConstraints: make([]v1.TopologySpreadConstraint, 1)}
	for _, c := range []struct {
		name, prefers string
		pod           v1.Pod
		answers       []error
		want          string
	}{
		{"two with room", "node-3,node-7", v1.Pod{}, []error{nil}, "[2]"},
		{"one of them does not exist", "node-3,node-x", v1.Pod{}, []error{nil}, "[1]"},
		{"none exists", "node-x", v1.Pod{}, []error{nil}, "[32]"},
		{"filters refuse them", "node-3,node-7", v1.Pod{}, []error{misfit, nil}, "[2 0]"},
		{"no sample would do", "node-3", v1.Pod{Spec: spread}, []error{nil}, "[1]"},
		{"no sample would do, and filters refuse it", "node-3", v1.Pod{Spec: spread}, []error{misfit, nil}, "[1 0]"},
		{"room is made for it elsewhere", "node-3", v1.Pod{Status: v1.PodStatus{NominatedNodeName: "node-1"}}, []error{nil}, "[0]"},
	} {
		got, err := attempts(released(t, "", prefers(c.prefers)), nil, &c.pod, c.answers...)
		if fmt.Sprint(got) != c.want || err != nil {
			t.Errorf("%s: restricted to %v nodes, want %v; error %v", c.name, got, c.want, err)
		}
	}
	if got, _ := attempts(released(t, "", prefers("node-3")), ptr.To(int32(30)), &v1.Pod{}, nil); fmt.Sprint(got) != "[1]" {
		t.Errorf("the profile says how many nodes to score: restricted to %v nodes, want 1", got)
	}
}

// If other plugins refuse the pod on other nodes, held room is one reason among others why it fits on none. If
// it is the only reason, the ledger says when the pod may be tried again.
func TestHeldRoomIsAMisfitIfOtherPluginsRefuseToo(t *testing.T) {
	for _, c := range []struct {
		name       string
		plugins    sets.Set[string]
		restricted bool
		want       ledger.Failure
	}{
		{"a port is taken, elsewhere room is kept", sets.New("NodePorts", plugin.Name), false, ledger.NoFit},
		{"all room is kept", sets.New(plugin.Name), false, ledger.Refused},
		{"nodes are kept for a pod group", sets.New("NodePorts", plugin.Name), true, ledger.Refused},
		{"nobody keeps room", sets.New("NodePorts"), false, ledger.NoFit},
	} {
		state := framework.NewCycleState()
		if c.restricted {
			plugin.Restrict(state, sets.New("node"))
		}
		misfit := &framework.FitError{Diagnosis: framework.Diagnosis{UnschedulablePlugins: c.plugins}}
		if got := judge(fwk.NewStatus(fwk.Unschedulable).WithError(withoutOurs(misfit, state))); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if err := withoutOurs(nil, framework.NewCycleState()); err != nil {
		t.Error(err)
	}
}
