package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// withDrivers are the applications with a driver and with other pods, as operators write them, by file and name.
func withDrivers(t *testing.T) map[string][]*v1.Pod {
	t.Helper()
	paths, err := filepath.Glob("../convert/testdata/applications/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]*v1.Pod{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var written []struct {
			Application string `json:"application"`
			Pod         v1.Pod `json:"pod"`
		}
		if err := yaml.Unmarshal(data, &written); err != nil {
			t.Fatal(err)
		}
		for i := range written {
			p, name := &written[i].Pod, filepath.Base(path)+" "+written[i].Application
			p.UID, p.Spec.SchedulerName, p.Spec.NodeName = types.UID(fmt.Sprint(name, i)), "fairway", ""
			if p.Labels == nil {
				p.Labels = map[string]string{}
			}
			p.Labels["fairway.dev/queue"] = "root.a"
			delete(p.Labels, "scheduling.x-k8s.io/pod-group") // the group would be missing
			all[name] = append(all[name], p)
		}
	}
	for name, pods := range all {
		if drivers := slices.DeleteFunc(slices.Clone(pods), func(p *v1.Pod) bool { return !isDriver(p) }); len(drivers) == 0 || len(drivers) == len(pods) {
			delete(all, name)
		}
	}
	return all
}

func isDriver(p *v1.Pod) bool {
	_, role := convert.ApplicationOf(p)
	return role == application.Driver
}

// fed is a scheduler that sees the pods in this order while it leads.
func fed(pods []*v1.Pod) *ledger.Ledger {
	f := &Feed{
		Ledger: ledger.New(ledger.Options{}), Ours: func(string) bool { return true }, Gate: gateOf, Now: now.UnixNano, Kick: func() {},
		Classes: &Classes{Relabel: func() {}},
	}
	f.Queues().OnAdd(queueOf("root.a", "uid", "1"), true)
	f.Nodes().OnAdd(readyNode("n", "1000", func(n *v1.Node) {
		n.Status.Allocatable = v1.ResourceList{
			"cpu": resource.MustParse("1000"), "memory": resource.MustParse("1000Gi"), "nvidia.com/gpu": resource.MustParse("100"), "pods": resource.MustParse("100"),
		}
	}), true)
	f.Ledger.Lead(now.UnixNano())
	for _, p := range pods {
		f.ObservePod(p)
	}
	return f.Ledger
}

// Whatever an operator creates first, the driver starts first. While something keeps it back, none of the others starts, and each names it.
func TestOtherPodsOfEveryKindWaitWithTheirDriver(t *testing.T) {
	apps := withDrivers(t)
	if len(apps) < 10 {
		t.Fatalf("%d applications with a driver and others", len(apps))
	}
	for name, pods := range apps {
		t.Run(name, func(t *testing.T) {
			for n := range pods {
				order := slices.Concat(pods[n:], pods[:n])
				released := map[ledger.UID]bool{}
				l := fed(order)
				for r, ok := l.Choose(now.UnixNano()); ok; r, ok = l.Choose(now.UnixNano()) {
					if s, _ := l.PodState(r.UID); len(released) == 0 && s.Role != application.Driver {
						t.Errorf("%s goes first, of %d", r.UID, len(pods))
					}
					if why, ok := l.Reserve(r.UID, "n", now.UnixNano()); !ok {
						t.Errorf("%s is refused: %s", r.UID, why.Text())
					}
					released[r.UID] = true
				}
				if len(released) != len(pods) {
					t.Errorf("%d of %d pods are released", len(released), len(pods))
				}
				gated(t, order)
			}
		})
	}
}

// gated puts a gate on the drivers.
func gated(t *testing.T, pods []*v1.Pod) {
	t.Helper()
	var all []*v1.Pod
	var drivers []string
	for _, p := range pods {
		if isDriver(p) {
			p = p.DeepCopy()
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}}
			drivers = append(drivers, p.Name)
		}
		all = append(all, p)
	}
	l := fed(all)
	if r, ok := l.Choose(now.UnixNano()); ok {
		t.Errorf("%s is released, and its driver has a gate", r.UID)
	}
	for _, s := range l.Pods() {
		switch why := s.BlockedBy; {
		case s.Role == application.Driver && why.Code == reason.SchedulingGate:
		case s.Role != application.Driver && why.Code == reason.WaitingForDriver && slices.Contains(drivers, reason.As[reason.Driver](why).Pod):
		default:
			t.Errorf("%s waits: %s", s.Name, why.Text())
		}
	}
}
