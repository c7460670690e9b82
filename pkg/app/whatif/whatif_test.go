package whatif

import (
	"context"
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

func nodes(ns ...*st.NodeWrapper) (all []*v1.Node) {
	for _, n := range ns {
		all = append(all, n.Obj())
	}
	return all
}

func pods(ps ...*st.PodWrapper) (all []*v1.Pod) {
	for _, p := range ps {
		all = append(all, p.Obj())
	}
	return all
}

func TestRoomIsWhatTheOthersLeave(t *testing.T) {
	c := newCluster(t, nodes(node("a"), node("b")), pods(pod("x", "a", 3), pod("y", "a", 1), pod("z", "b", 2), pod("new", "", 2)))
	a := c.look()
	c.want(a, "b", "new")
	c.want(a, "b", "new", "y")
	c.want(a, "a b", "new", "x")
	c.want(a, "b", "new") // asking changes nothing
}

func TestCommitsChangeThePictureAndRollbackRestoresIt(t *testing.T) {
	c := newCluster(t, nodes(node("a"), node("b")), pods(pod("x", "a", 4), pod("z", "b", 2), pod("new-1", "", 2), pod("new-2", "", 2), pod("new-3", "", 2)))
	a := c.look()
	a.Commit(claimant("new-1"), 1, nil)
	c.want(a, "", "new-2")
	c.want(a, "a b", "new-2", "x", "z")
	a.Commit(claimant("new-2"), 0, []string{"x"})
	c.want(a, "a", "new-3")
	if a.Commits() != 2 {
		t.Errorf("%d commits stand", a.Commits())
	}
	a.Rollback(1)
	c.want(a, "", "new-2")
	a.Commit(claimant("new-2"), 0, []string{"x", "z"}) // z runs on another node: its group goes with x
	c.want(a, "a b", "new-3")
	a.Rollback(0)
	c.want(a, "b", "new-1")
	c.want(c.look(), "b", "new-1")
}

func TestALookShowsWhatChangedInTheCluster(t *testing.T) {
	c := newCluster(t, nodes(node("a")), pods(pod("x", "a", 4), pod("new", "", 2)))
	a := c.look()
	a.Commit(claimant("new"), 0, []string{"x"})
	c.want(c.look(), "", "new") // what was planned was not carried out
	if err := c.cache.RemovePod(klogOf(t), c.pods["x"]); err != nil {
		t.Fatal(err)
	}
	b := node("b").Obj()
	c.cache.AddNode(klogOf(t), b)
	c.world.Nodes = append(c.world.Nodes, preemption.Node{Name: "b"}, preemption.Node{Name: "unknown"})
	c.want(c.look(), "a b", "new")
}

// The world says what leaves and what comes: this is so from the first question on, and no rollback undoes it.
func TestWhatEarlierPlansDecidedIsThereAlready(t *testing.T) {
	c := newCluster(t, nodes(node("a"), node("b")), pods(pod("x", "a", 4), pod("y", "b", 4), pod("old", "", 3), pod("new-1", "", 1), pod("new-2", "", 1)))
	c.world.Gone = []string{"x", "unknown"}
	c.world.Coming = []preemption.Nomination{{UID: "old", Node: 0}}
	a := c.look()
	c.want(a, "a", "new-1")
	a.Commit(claimant("new-1"), 0, nil)
	c.want(a, "", "new-2")
	a.Rollback(0)
	c.want(a, "a", "new-2")
}

func TestTaintsAndNodeAffinity(t *testing.T) {
	c := newCluster(t, nodes(node("a").Taints([]v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}), node("b"), node("c").Unschedulable(true)),
		pods(pod("x", "b", 4), pod("plain", "", 1), pod("tolerant", "", 1).Toleration("gpu"),
			pod("far", "", 1).Toleration("gpu").NodeAffinityIn("zone", []string{"b"}, st.NodeSelectorTypeMatchExpressions),
			// PreFilter turns a name in the affinity into a list of nodes.
			pod("named", "", 1).NodeAffinityIn("metadata.name", []string{"b"}, st.NodeSelectorTypeMatchFields)))
	a := c.look()
	c.want(a, "", "plain")
	c.want(a, "b", "plain", "x")
	c.want(a, "a b", "tolerant", "x")
	c.want(a, "b", "far", "x")
	c.want(a, "b", "named", "x")
	c.want(a, "", "named")
}

func TestHostPorts(t *testing.T) {
	c := newCluster(t, nodes(node("a"), node("b")), pods(pod("x", "a", 1).HostPort(80), pod("y", "a", 1), pod("new-1", "", 1).HostPort(80), pod("new-2", "", 1).HostPort(80)))
	a := c.look()
	c.want(a, "b", "new-1")
	c.want(a, "b", "new-1", "y")
	c.want(a, "a b", "new-1", "x")
	a.Commit(claimant("new-1"), 1, nil)
	c.want(a, "", "new-2")
	c.want(a, "a", "new-2", "x")
}

func TestAntiAffinityBetweenPods(t *testing.T) {
	lonely := func(name, on string) *st.PodWrapper {
		return pod(name, on, 1).Label("app", name[:1]).PodAntiAffinityIn("app", "zone", []string{"l"}, st.PodAntiAffinityWithRequiredReq)
	}
	c := newCluster(t, nodes(node("a1"), node("a2"), node("b1")), pods(
		lonely("l", "a1"), pod("x", "b1", 4), lonely("l2-1", ""), lonely("l2-2", ""), pod("app", "", 1).Label("app", "l"), pod("other", "", 1)))
	a := c.look()
	c.want(a, "", "l2-1")
	c.want(a, "b1", "l2-1", "x")
	// The victim is on a1, and while it runs no pod like it may be in its zone. a2 is free once the victim is
	// gone, but a plan takes victims only from the node itself.
	c.want(a, "a1", "l2-1", "l")
	c.want(a, "a1 a2", "other")
	a.Commit(claimant("l2-1"), 2, []string{"x"})
	c.want(a, "", "l2-2")
	c.want(a, "", "app") // the anti-affinity of a running pod refuses pods that have none themselves
	a.Rollback(0)
	c.want(a, "b1", "l2-2", "x")
	c.want(a, "b1", "app", "x")
}

// A class without affinity, which no running pod objects to, skips that filter. A new claimant may object.
func TestAClaimantThatComesMayRefuseAnotherClass(t *testing.T) {
	c := newCluster(t, nodes(node("a"), node("b")), pods(
		pod("l", "", 1).PodAntiAffinityIn("app", "zone", []string{"web"}, st.PodAntiAffinityWithRequiredReq), pod("web", "", 1).Label("app", "web")))
	a := c.look()
	c.want(a, "a b", "web")
	a.Commit(claimant("l"), 0, nil)
	c.want(a, "b", "web")
	a.Rollback(0)
	c.want(a, "a b", "web")
}

func TestTopologySpread(t *testing.T) {
	spread := func(name, on string) *st.PodWrapper {
		return pod(name, on, 1).Label("app", "s").
			SpreadConstraint(1, "zone", v1.DoNotSchedule, metav1.SetAsLabelSelector(map[string]string{"app": "s"}), nil, nil, nil, nil)
	}
	c := newCluster(t, nodes(node("a"), node("b"), node("c")), pods(
		spread("s-1", "a"), pod("x", "b", 4), pod("y", "c", 4), spread("s-2", ""), spread("s-3", ""), spread("s-4", ""), spread("s-5", "")))
	a := c.look()
	c.want(a, "", "s-2")
	c.want(a, "b", "s-2", "x")
	c.want(a, "a", "s-2", "s-1") // 0 in every zone
	a.Commit(claimant("s-2"), 1, []string{"x"})
	c.want(a, "", "s-3") // 1, 1, 0: c, which is full
	c.want(a, "c", "s-3", "y")
	a.Commit(claimant("s-3"), 2, []string{"y"})
	c.want(a, "a b c", "s-4") // 1, 1, 1
	a.Commit(claimant("s-4"), 0, nil)
	c.want(a, "b c", "s-5") // 2, 1, 1
	a.Rollback(1)
	c.want(a, "", "s-5")
}

func TestVolumesTiePodsToNodes(t *testing.T) {
	local := st.MakePersistentVolume().Name("pv").StorageClassName("local").AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}).
		NodeAffinityIn("zone", []string{"b"}).Obj()
	local.Spec.ClaimRef = &v1.ObjectReference{Namespace: "team", Name: "pvc", UID: "pvc"}
	class := "local"
	claim := st.MakePersistentVolumeClaim().Namespace("team").Name("pvc").VolumeName("pv").StorageClassName(&class).
		AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}).Annotation("pv.kubernetes.io/bind-completed", "yes").Obj()
	claim.UID = "pvc"
	c := newCluster(t, nodes(node("a"), node("b")), pods(pod("x", "b", 4), pod("user", "b", 0).PVC("pvc"), pod("new-1", "", 1).PVC("pvc"), pod("more", "", 0).PVC("pvc"),
		pod("lost", "", 1).PVC("none")), local, claim)
	a := c.look()
	c.want(a, "", "lost", "x")
	c.want(a, "", "new-1", "x") // one pod at a time may use the claim
	c.want(a, "b", "new-1", "x", "user")
	a.Commit(claimant("new-1"), 1, []string{"x", "user"})
	c.want(a, "", "more")
	a.Rollback(0)
	c.want(a, "b", "more", "user")
}

func TestPodsThatAreUnknownFitNowhere(t *testing.T) {
	c := newCluster(t, nodes(node("a")), pods(pod("foreign", "", 1).SchedulerName("another")))
	a := c.look()
	c.want(a, "", "deleted")
	c.want(a, "", "foreign")
	a.Commit(claimant("deleted"), 0, []string{"deleted"})
	a.Rollback(0)
	if a.Commits() != 0 {
		t.Errorf("%d commits stand", a.Commits())
	}
}

// picky is a foreign plugin that knows at PreFilter which nodes fit, and has no Filter.
type picky struct {
	answer func() (*fwk.PreFilterResult, *fwk.Status)
}

func (picky) Name() string { return "Picky" }

func (p picky) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return p.answer()
}

func (picky) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// A volume is bound, a label changes: filters read that as it is now. What a plan was told stays so for its check.
func TestAYesStaysAYesForTheSameQuestion(t *testing.T) {
	willing := true
	profiles := stockProfiles(t)
	profiles[0].Plugins.PreFilter.Enabled = []config.Plugin{{Name: "Picky"}}
	registry := frameworkruntime.Registry{"Picky": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
		return picky{func() (*fwk.PreFilterResult, *fwk.Status) {
			if willing {
				return nil, nil
			}
			return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
		}}, nil
	}}
	c := newClusterWith(t, profiles, registry, nodes(node("a"), node("b")), pods(pod("x", "a", 4), pod("y", "b", 4), pod("new-1", "", 2), pod("new-2", "", 2)))
	a := c.look()
	c.want(a, "a", "new-1", "x")
	a.Commit(claimant("new-1"), 0, []string{"x"})
	willing = false
	c.want(a, "", "new-2") // nobody has asked this before
	a.Rollback(0)
	clear(a.classes) // as when more was asked than is remembered
	c.want(a, "a", "new-1", "x")
	c.want(a, "", "new-1", "y")
	c.want(a, "", "new-1")
	c.want(c.look(), "", "new-1", "x")
}

func TestNodesPickedAtPreFilterAreRespected(t *testing.T) {
	for name, c := range map[string]struct {
		result *fwk.PreFilterResult
		status *fwk.Status
		want   string
	}{
		"all nodes":  {nil, nil, "a b"},
		"one node":   {&fwk.PreFilterResult{NodeNames: sets.New("b", "unknown")}, nil, "b"},
		"no node":    {nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable), ""},
		"it breaks":  {nil, fwk.AsStatus(errors.New("broken")), ""},
		"it is over": {nil, fwk.NewStatus(fwk.Skip), "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			profiles := stockProfiles(t)
			profiles[0].Plugins.PreFilter.Enabled = []config.Plugin{{Name: "Picky"}}
			registry := frameworkruntime.Registry{"Picky": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
				return picky{func() (*fwk.PreFilterResult, *fwk.Status) { return c.result, c.status }}, nil
			}}
			cluster := newClusterWith(t, profiles, registry, nodes(node("a"), node("b")), pods(pod("new", "", 1)))
			cluster.want(cluster.look(), c.want, "new")
		})
	}
}
