package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// otherProfile is a second schedulerName of the same scheduler.
const otherProfile = "fairway-too"

const twoProfiles = `
profiles:
- schedulerName: fairway
  plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}
- schedulerName: ` + otherProfile + `
  plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}
`

// What preemption takes, what it leaves alone and to whom it gives, on one control plane: 4 nodes with room for 4 pods each.
func TestPreemptionTakesWhatTheRulesSay(t *testing.T) {
	k := takingWorld(t, 4, twoProfiles)
	k.must(k.client.Create(k.ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1_000_000}))
	k.scene("exempt", (*taking).exemptsWhatItMust)
	k.scene("guarantee", (*taking).guaranteesGoFirst)
	k.scene("whole", (*taking).wholeNodesForLargePods)
	k.scene("kept", (*taking).keepsTheRoomThatIsMade)
	k.scene("fits", (*taking).choosesWhereTheClaimantsFit)
	k.scene("leaf", (*taking).priorityCountsInsideALeafOnly)
	k.scene("observe", (*taking).observesOnly)
}

const claims = " preemption.fairShareTimeout=1s"

func urgent(p *v1.Pod) { p.Spec.PriorityClassName = "urgent" }

// driverOf and executorOf make pods of one application.
func executorOf(application string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Labels[v1alpha1.KeyApplication], p.Labels[v1alpha1.KeyRole] = application, v1alpha1.RoleExecutor
	}
}

func (k *taking) groupOf(name string, minMember int) func(*v1.Pod) {
	k.t.Helper()
	g := podGroupObject(k.name+"-"+name, minMember, nil)
	k.must(k.client.Create(k.ctx, g))
	k.t.Cleanup(func() { k.must(client.IgnoreNotFound(k.client.Delete(k.ctx, g))) })
	return labelled(podgroup.PodGroupLabel, g.GetName())
}

// exemptsWhatItMust: 16 cpu, of which 4 are guaranteed to one queue. The other 12 are divided 1 : 1 : 1 : 9, so the claim is 9. Taken are the three
// executors of one application and a whole group of four. Left alone are its driver, for which the application's queue has its share; a group
// of two of which one alone would have to go; what has no more than its guarantee; and what is not preemptible. The claim stays open, unpaid by 2.
func (k *taking) exemptsWhatItMust() {
	k.queues("safe preemption.preemptible=false", "guarded weight=0 guaranteed.cpu=4 guaranteed.memory=16Gi", "app", "gang weight=0", "pair", "starved weight=9"+claims)
	k.fill("safe", 0, 2)
	k.fill("guarded", 0, 4)
	k.fill("pair", 0, 2, k.groupOf("pair", 2))
	k.fill("gang", 0, 4, k.groupOf("gang", 4))
	app := k.name + "-one"
	driver := k.fill("app", 0, 1, driving(app))[0]
	k.running("app", 1)
	k.fill("app", 1, 3, executorOf(app))
	for queue, n := range map[string]int{"safe": 2, "guarded": 4, "app": 4, "gang": 4, "pair": 2} {
		k.running(queue, n)
	}
	k.fill("starved", 0, 12)
	k.running("starved", 7)
	rest(k.t, k.world, k.runs.s)
	k.evictedAre(map[string]int{"app-": 3, "gang-": 4})
	if p := k.mine()[driver.Name]; p == nil || p.DeletionTimestamp != nil {
		k.t.Error("the driver was evicted")
	}
	k.until("the claim stays open for the rest", func() (bool, string) {
		s := k.getQueue(k.leaf("starved")).Status.Preemption
		if s == nil {
			return false, "there is none"
		}
		owed := s.Owed[v1.ResourceCPU]
		return s.ClaimOpen && owed.Value() == 2, fmt.Sprintf("open %t, owed %s", s.ClaimOpen, owed.String())
	})
}

// guaranteesGoFirst: what is below its guarantee is paid up to it, by its own timeout; its fair share has none in force.
func (k *taking) guaranteesGoFirst() {
	k.queues("hog weight=7", "sure weight=1 guaranteed.cpu=4 guaranteed.memory=16Gi preemption.guaranteedTimeout=1s")
	k.fill("hog", 0, 16)
	k.running("hog", 16)
	k.fill("sure", 0, 6)
	k.running("sure", 4)
	k.paid()
	k.evictedAre(map[string]int{"hog-": 4})
	for _, f := range k.fates() {
		if want := v1alpha1.PreemptionMessage + k.leaf("sure") + ", which is below its guarantee, for pod default/"; !strings.HasPrefix(f.message, want) {
			k.t.Errorf("pod %s says %q, want %q", f.name, f.message, want)
		}
	}
}

// wholeNodesForLargePods: of 8 cpu that are owed, two pods of 3 cpu make use. They need two nodes, and of pods of 2 cpu the two that are on each of
// them. Nobody goes for what is left of the claim, since it is less than a pod.
func (k *taking) wholeNodesForLargePods() {
	k.queues("hog", "starved"+claims)
	k.fill("hog", 0, 8, withSize("2", "8Gi"))
	k.running("hog", 8)
	k.fill("starved", 0, 3, withSize("3", "12Gi"))
	k.running("starved", 2)
	rest(k.t, k.world, k.runs.s)
	k.evictedAre(map[string]int{"hog-": 4})
	nodes := map[string]bool{}
	for _, f := range k.fates() {
		nodes[f.node] = true
	}
	if len(nodes) != 2 {
		k.t.Errorf("victims were on %v", nodes)
	}
}

// keepsTheRoomThatIsMade: two pods need whole nodes, whose pods stop one after the other. Pods of a queue that comes before theirs in every order,
// of the highest priority and of either profile, would fit into each place that becomes free, and get none.
func (k *taking) keepsTheRoomThatIsMade() {
	k.queues("hog", "small", "starved weight=2"+claims)
	for i := range 16 {
		k.fill("hog", i, 1, stopping(int64(1+i%3), 10))
	}
	k.running("hog", 16)
	k.fill("starved", 0, 2, withSize("4", "16Gi"))
	k.until("all victims are announced", func() (bool, string) {
		n := k.announced()
		return n == 8, fmt.Sprintf("%d are", n)
	})
	k.fill("small", 0, 4, urgent)
	k.fill("small", 4, 4, urgent, func(p *v1.Pod) { p.Spec.SchedulerName = otherProfile })
	k.until("some of the room is free", func() (bool, string) {
		left := 0
		for name := range k.mine() {
			left += btoi(strings.HasPrefix(name, k.name+"-hog-"))
		}
		return left < 16, "none is"
	})
	for i := range 4 { // each unlike any that was tried before
		k.fill("small", 8+i, 1, urgent, withSize(fmt.Sprintf("%dm", 100*(i+1)), "1Gi"))
	}
	k.running("starved", 2)
	k.evictedAre(map[string]int{"hog-": 8})
	k.paid()
	for _, p := range k.of(func(p *v1.Pod) bool { return strings.HasPrefix(p.Name, k.name+"-small-") && p.Spec.NodeName != "" }) {
		k.t.Fatalf("pod %s got a place on %s", p.Name, p.Spec.NodeName)
	}
}

// choosesWhereTheClaimantsFit: two nodes have a taint that the claimants do not tolerate. Of the others, one has a pod with the port that two claimants
// ask for, and two pods that a third will not be beside. So the first two need the pod with the port and any pod of the last node, and the third
// needs another pod of the last node.
func (k *taking) choosesWhereTheClaimantsFit() {
	const port, taint = 9000, "group"
	f := &failing{world: k.world}
	for _, name := range []string{"node-0", "node-1"} {
		node := nodeNamed(name)
		defer change(f, node, func(n *v1.Node) { n.Spec.Taints = nil })
		change(f, node, func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: taint, Effect: v1.TaintEffectNoSchedule}} })
	}
	tolerant := func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Key: taint, Operator: v1.TolerationOpExists}} }
	onNode2 := withSelector(v1.LabelHostname, "node-2")
	k.queues("hog", "starved"+claims)
	k.fill("hog", 0, 1, tolerant, onNode2, withPort(port))
	k.fill("hog", 1, 2, tolerant, onNode2, labelled("noisy", "true"))
	k.fill("hog", 3, 13, tolerant)
	k.running("hog", 16)
	apart := func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"noisy": "true"}},
		}}}}
	}
	k.fill("starved", 0, 2, withPort(port))
	k.fill("starved", 2, 1, apart)
	k.running("starved", 3)
	k.paid()
	var where []string
	for _, f := range k.fates() {
		where = append(where, f.node)
	}
	slices.Sort(where)
	if want := []string{"node-2", "node-3", "node-3"}; !slices.Equal(where, want) {
		k.t.Errorf("victims were on %v, want %v", where, want)
	}
	if all := k.evicted(); !slices.Contains(all, k.name+"-hog-0") {
		k.t.Errorf("the pod with the port is not among the victims: %v", all)
	}
}

// priorityCountsInsideALeafOnly: pods of high priority take the places of pods of their own queue at once, without any timeout; a queue that has less is
// not given them. A pod of high priority in a queue without pods of lower ones takes nothing.
func (k *taking) priorityCountsInsideALeafOnly() {
	k.queues("a", "b", "c")
	k.fill("a", 0, 8)
	k.fill("b", 0, 8)
	k.running("a", 8)
	k.running("b", 8)
	outside := k.fill("c", 0, 1, urgent)[0]
	k.until("the pod of the empty queue was tried", func() (bool, string) {
		p := k.mine()[outside.Name]
		return p != nil && autoscalersSee(p), "it was not"
	})
	high := k.fill("a", 8, 2, urgent)
	for _, p := range high {
		k.until(p.Name+" has the place of another", func() (bool, string) {
			now := k.mine()[p.Name]
			return now != nil && now.Spec.NodeName != "", fmt.Sprint(k.bound())
		})
	}
	rest(k.t, k.world, k.runs.s)
	k.running("a", 8)
	k.running("b", 8)
	if p := k.mine()[outside.Name]; p.Spec.NodeName != "" {
		k.t.Error("a queue that nobody owes anything got the room of pods that another evicted")
	}
}

// observesOnly: the plan is shown, and nobody is touched until it may be carried out.
func (k *taking) observesOnly() {
	k.queues("hog", "starved"+claims)
	k.fill("hog", 0, 16)
	k.running("hog", 16)
	k.root("observeOnly", "true")
	k.until("the scheduler knows that it is to observe only", func() (bool, string) {
		return strings.Contains(scrapePage(k.t), "fairway_preemption_observe_only 1\n"), "it does not"
	})
	k.fill("starved", 0, 10)
	k.until("the plan is shown", func() (bool, string) {
		page := scrapePage(k.t)
		return strings.Contains(page, "fairway_preemption_plan_victims{observe_only=\"true\"} 8\n"), lines(page, "fairway_preemption")
	})
	if told, evicted := k.announced(), k.evicted(); told+len(evicted) > 0 {
		k.t.Errorf("%d pods were announced, and %v evicted", told, evicted)
	}
	k.running("hog", 16)
	k.root("observeOnly", "false")
	k.running("starved", 8)
	k.paid()
	k.evictedAre(map[string]int{"hog-": 8})
}

// lines are those of a page that contain a word.
func lines(page, word string) string {
	var found []string
	for _, line := range strings.Split(page, "\n") {
		if strings.Contains(line, word) && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}
