package integration

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// edited is a cluster whose administrator edits Queues with kubectl, and which pods must live through that.
type edited struct {
	*world
	running map[string]*v1.Pod
}

// The worked example of the Fair Scheduler's documents: 1000 GB and 200 cores, weights 0.25 and 0.75, a minimum of 20000 mb and 10 vcores
// and a maximum of 2000000 mb and 1000 vcores, which change nothing here. Every edit is in force at once and ends no pod.
func TestLiveEditsAreInForceAtOnceAndEndNoPod(t *testing.T) {
	w := newWorld(t, 20, "10", "50Gi")
	e := &edited{world: w, running: map[string]*v1.Pod{}}
	w.queue("root.default weight=0")
	w.queue("root.quarter guaranteed.cpu=10 guaranteed.memory=20000Mi max.cpu=1000 max.memory=2000000Mi")
	w.queue("root.rest")
	w.queue("root.zero weight=0")
	s, _ := w.scheduler(ledger.Options{})
	w.until("the scheduler creates root", func() (bool, string) {
		err := w.client.Get(w.ctx, client.ObjectKey{Name: v1alpha1.RootQueue}, &v1alpha1.Queue{})
		return err == nil, fmt.Sprint(err)
	})
	for i := range 6 {
		e.runs(pod(fmt.Sprintf("rest-%d", i), "root.rest", "2", "8Gi"))
		if i < 5 {
			e.runs(pod(fmt.Sprintf("quarter-%d", i), "root.quarter", "2", "8Gi"))
		}
	}
	for _, part := range []struct {
		name string
		of   func()
	}{
		{"weights", e.weights}, {"percent", e.percent}, {"max", e.max}, {"maxRunningApplications", e.maxRunningApplications},
		{"maxPodResources", e.maxPodResources},
	} {
		part.of()
		e.alive(part.name)
	}
	e.leftovers()
	(&failing{world: w, s: s}).settled()
}

// kubectl runs the program against the cluster.
func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	path := filepath.Join("..", "..", "bin", "tools", "kubectl")
	out, err := exec.CommandContext(w.ctx, path, append([]string{"--kubeconfig", w.cluster.Kubeconfig()}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// patch merges a patch, written as JSON, into the spec of a Queue.
func (w *world) patch(queue, spec string) {
	w.t.Helper()
	w.kubectl("patch", "queue", queue, "--type=merge", "--patch", `{"spec":`+spec+`}`)
}

// rows is the table that kubectl shows, by name of the queue and title of the column.
func (w *world) rows() map[string]map[string]string {
	w.t.Helper()
	lines := strings.Split(strings.TrimSuffix(w.kubectl("get", "queues", "-o", "wide"), "\n"), "\n")
	titles := strings.Fields(lines[0])
	rows := map[string]map[string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, title := range titles {
			from, to := strings.Index(lines[0], title), len(line)
			if i+1 < len(titles) {
				to = min(to, strings.Index(lines[0], titles[i+1]))
			}
			row[title] = strings.TrimSpace(line[min(from, to):to])
		}
		rows[row["NAME"]] = row
	}
	return rows
}

// shows waits until kubectl shows a row for the queue that says, under the titles, what the words say: "WEIGHT=1, FAIR-SHARE=50c 250Gi".
func (w *world) shows(queue, words string) {
	w.t.Helper()
	w.until("kubectl shows "+queue+" with "+words, func() (bool, string) {
		row := w.rows()[queue]
		for _, word := range strings.Split(words, ", ") {
			if title, want, _ := strings.Cut(word, "="); row[title] != want {
				return false, fmt.Sprint(row)
			}
		}
		return true, ""
	})
}

// amounts waits until the status of the queue has the amounts of cpu and memory.
func (w *world) amounts(queue, what, cpu, memory string, of func(v1alpha1.QueueStatus) v1.ResourceList) {
	w.t.Helper()
	want := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
	w.until(fmt.Sprintf("%s of %s is %s and %s", what, queue, cpu, memory), func() (bool, string) {
		is := of(w.getQueue(queue).Status)
		return same(is, want), fmt.Sprint(is)
	})
}

func maxOf(s v1alpha1.QueueStatus) v1.ResourceList        { return s.Max }
func guaranteedOf(s v1alpha1.QueueStatus) v1.ResourceList { return s.Guaranteed }

// runs creates a pod, unless it is there, and waits until it runs.
func (e *edited) runs(p *v1.Pod) {
	e.t.Helper()
	if p.UID == "" {
		e.create(p)
	}
	e.until(p.Name+" runs", func() (bool, string) {
		e.must(e.client.Get(e.ctx, client.ObjectKeyFromObject(p), p))
		return p.Status.Phase == v1.PodRunning, fmt.Sprint(p.Status.Phase, queuedCondition(p))
	})
	e.running[p.Name] = p
}

// alive checks that every pod that ran still runs where it did.
func (e *edited) alive(after string) {
	e.t.Helper()
	now := e.pods()
	for name, p := range e.running {
		if is := now[name]; is == nil || is.UID != p.UID || is.DeletionTimestamp != nil || is.Spec.NodeName != p.Spec.NodeName || is.Status.Phase != v1.PodRunning {
			e.t.Fatalf("after the edits of %s pod %s does not run any more", after, name)
		}
	}
}

func (e *edited) weights() {
	e.shows("root.quarter", "WEIGHT=1, FAIR-SHARE=100c 500Gi, STEADY-SHARE=100c 500Gi, ALLOCATED=10c 40Gi")
	e.patch("root.quarter", `{"weight":"0.25"}`)
	e.patch("root.rest", `{"weight":"0.75"}`)
	e.shows("root.quarter", "WEIGHT=0.25, FAIR-SHARE=50c 250Gi, STEADY-SHARE=50c 250Gi, ALLOCATED=10c 40Gi, READY=True")
	e.shows("root.rest", "WEIGHT=0.75, FAIR-SHARE=150c 750Gi, STEADY-SHARE=150c 750Gi, ALLOCATED=12c 48Gi, READY=True")
	e.shows("root.zero", "WEIGHT=0, FAIR-SHARE=0, STEADY-SHARE=0, ALLOCATED=0, READY=True")
	share := func(s v1alpha1.QueueStatus) v1.ResourceList { return s.FairShare }
	e.amounts("root.quarter", "fairShare", "50", "250Gi", share)
	e.amounts("root.quarter", "guaranteed", "10", "20000Mi", guaranteedOf)
	e.amounts("root.quarter", "max", "1000", "2000000Mi", maxOf)
}

// percent: amounts in percent follow the cluster, and shares follow a max: what rest may not have is quarter's.
func (e *edited) percent() {
	e.patch("root.rest", `{"max":{"cpu":"50%","memory":"60%"},"guaranteed":{"cpu":"12.5%","memory":"1%"}}`)
	e.amounts("root.rest", "max", "100", "600Gi", maxOf)
	e.amounts("root.rest", "guaranteed", "25", "10Gi", guaranteedOf)
	e.shows("root.rest", "FAIR-SHARE=100c 600Gi")
	e.shows("root.quarter", "FAIR-SHARE=100c 400Gi")
	e.must(e.cluster.AddNodes(e.ctx, "more", 1, v1.ResourceList{v1.ResourceCPU: resource.MustParse("10"), v1.ResourceMemory: resource.MustParse("50Gi")}))
	e.amounts("root.rest", "max", "105", "630Gi", maxOf)
	e.amounts("root.rest", "guaranteed", "26250m", "10752Mi", guaranteedOf) // 12.5% of 210, 1% of 1050Gi
	e.shows("root.quarter", "FAIR-SHARE=105c 420Gi")
	used := map[string]bool{"more-0": false}
	for _, p := range e.pods() {
		used[p.Spec.NodeName] = true
	}
	empty := "more-0"
	for i := range 20 {
		if name := fmt.Sprintf("node-%d", i); !used[name] {
			empty = name
		}
	}
	for _, name := range []string{"more-0", empty} {
		e.must(e.client.Delete(e.ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	e.amounts("root.rest", "max", "95", "570Gi", maxOf)
	e.amounts("root.rest", "guaranteed", "23750m", "9728Mi", guaranteedOf) // 12.5% of 190, 1% of 950Gi
	e.shows("root.quarter", "FAIR-SHARE=95c 380Gi")
}

// overLimit waits until the queue says that it is over its max, or that it is not.
func (w *world) overLimit(queue string, want metav1.ConditionStatus, message string) {
	w.t.Helper()
	w.until(fmt.Sprintf("OverLimit of %s is %s", queue, want), func() (bool, string) {
		c := meta.FindStatusCondition(w.getQueue(queue).Status.Conditions, v1alpha1.ConditionOverLimit)
		return c != nil && c.Status == want && c.Message == message, fmt.Sprint(c)
	})
}

// max: rest uses 12 cpu.
func (e *edited) max() {
	e.patch("root.rest", `{"guaranteed":null,"max":{"cpu":"5","memory":null}}`)
	e.overLimit("root.rest", metav1.ConditionTrue,
		"queue root.rest uses 12 cpu, above its max of 5 cpu; nothing is stopped, and nothing more is released until its usage fits")
	waits := pod("rest-6", "root.rest", "2", "8Gi")
	e.create(waits)
	e.shows("root.rest", "FAIR-SHARE=5c 712Gi, ALLOCATED=12c 48Gi, PENDING=1, RUNNING=6") // three quarters of 950Gi are 712.5
	e.patch("root.rest", `{"max":{"cpu":"14"}}`)
	e.runs(waits)
	e.overLimit("root.rest", metav1.ConditionFalse, "")
	e.shows("root.rest", "ALLOCATED=14c 56Gi, PENDING=0, RUNNING=7")
}

// held waits until the pod says what holds it.
func (w *world) held(name, reason, message string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s is held: %s", name, message), func() (bool, string) {
		p := &v1.Pod{}
		w.must(w.client.Get(w.ctx, client.ObjectKey{Namespace: "default", Name: name}, p))
		c := queuedCondition(p)
		return c != nil && c.Status == v1.ConditionTrue && c.Reason == reason && c.Message == message && p.Spec.NodeName == "", fmt.Sprint(c)
	})
}

// maxRunningApplications: quarter runs 5 applications of one pod.
func (e *edited) maxRunningApplications() {
	e.patch("root.quarter", `{"maxRunningApplications":3}`)
	waits := []*v1.Pod{pod("quarter-5", "root.quarter", "2", "8Gi"), pod("quarter-6", "root.quarter", "2", "8Gi")}
	for _, p := range waits {
		e.create(p)
		e.held(p.Name, "MaxRunningApplications",
			"queue root.quarter may run at most 3 applications and runs 5; this one follows when an application ends, or with a higher maxRunningApplications")
	}
	e.patch("root.quarter", `{"maxRunningApplications":6}`)
	e.runs(waits[0])
	e.held(waits[1].Name, "MaxRunningApplications",
		"queue root.quarter may run at most 6 applications and runs 6; this one follows when an application ends, or with a higher maxRunningApplications")
	e.patch("root", `{"maxRunningApplications":1}`) // quarter runs 6, rest 7
	e.patch("root.quarter", `{"maxRunningApplications":null}`)
	byRoot := "queue root may run at most 1 application and runs 13; this one follows when an application ends, or with a higher maxRunningApplications"
	e.held(waits[1].Name, "MaxRunningApplications", byRoot)
	e.until("an event names the other queue", func() (bool, string) {
		var notes []string
		for _, event := range e.eventsOf(waits[1].Name) {
			notes = append(notes, event.Message)
		}
		return slices.Contains(notes, byRoot), fmt.Sprintf("%q", notes)
	})
	e.patch("root", `{"maxRunningApplications":null}`)
	e.runs(waits[1])
	e.shows("root.quarter", "PENDING=0, RUNNING=7")
}

func (e *edited) maxPodResources() {
	e.patch("root.quarter", `{"maxPodResources":{"cpu":"1"}}`) // less than the pods that run
	waits := pod("quarter-large", "root.quarter", "4", "8Gi")
	e.create(waits)
	e.held(waits.Name, "MaxPodResources",
		"queue root.quarter takes pods of at most 1 cpu, and this pod asks for 4 cpu; ask for less, or raise maxPodResources")
	e.patch("root", `{"maxPodResources":{"cpu":"6","memory":"40Gi"}}`)
	e.patch("root.quarter", `{"maxPodResources":{"cpu":"2%"}}`) // of 190
	e.held(waits.Name, "MaxPodResources",
		"queue root.quarter takes pods of at most 3800m cpu, and this pod asks for 4 cpu; ask for less, or raise maxPodResources")
	e.patch("root", `{"maxPodResources":{"cpu":"3","memory":"40Gi"}}`) // less than quarter says
	e.untilCondition("root.quarter", v1alpha1.ConditionFieldsIgnored, metav1.ConditionTrue, "MaxPodResourcesRaised")
	e.held(waits.Name, "MaxPodResources", "queue root takes pods of at most 3 cpu, and this pod asks for 4 cpu; ask for less, or raise maxPodResources")
	e.patch("root.quarter", `{"maxPodResources":{"cpu":"2.5%"}}`) // more than root takes: not in force
	e.untilCondition("root.quarter", v1alpha1.ConditionFieldsIgnored, metav1.ConditionTrue, "MaxPodResourcesRaised")
	e.patch("root", `{"maxPodResources":{"cpu":"5","memory":"40Gi"}}`)
	e.untilCondition("root.quarter", v1alpha1.ConditionFieldsIgnored, metav1.ConditionFalse, "AllFieldsCount")
	e.runs(waits)
}

// leftovers: 19 nodes for pods of a node each. rest wants 15 of them, zero 8: it gets 4. What falls free is rest's while rest wants it.
func (e *edited) leftovers() {
	for _, name := range slices.Sorted(maps.Keys(e.running)) {
		e.must(e.client.Delete(e.ctx, e.running[name], client.GracePeriodSeconds(0)))
	}
	e.patch("root", `{"maxPodResources":null,"max":{"cpu":"0"}}`)
	e.patch("root.rest", `{"max":null}`)
	e.shows("root", "ALLOCATED=0")
	pods := map[string][]*v1.Pod{}
	for queue, n := range map[string]int{"rest": 15, "zero": 8} {
		for i := range n {
			pods[queue] = append(pods[queue], pod(fmt.Sprintf("whole-%s-%d", queue, i), "root."+queue, "10", "10Gi"))
		}
	}
	e.create(pods["zero"]...)
	e.create(pods["rest"]...)
	e.shows("root.zero", "PENDING=8, RUNNING=0")
	e.shows("root.rest", "PENDING=15, RUNNING=0")
	e.patch("root", `{"max":null}`)
	e.shows("root.rest", "FAIR-SHARE=190c 950Gi, ALLOCATED=150c 150Gi, PENDING=0, RUNNING=15")
	e.shows("root.zero", "FAIR-SHARE=0, ALLOCATED=40c 40Gi, PENDING=4, RUNNING=4")

	more := pod("whole-rest-15", "root.rest", "10", "10Gi")
	e.create(more)
	e.shows("root.rest", "PENDING=1, RUNNING=15")
	e.endOne("root.zero")
	e.runs(more)
	e.shows("root.zero", "PENDING=4, RUNNING=3")
	e.endOne("root.rest") // now rest wants no more
	e.shows("root.zero", "PENDING=3, RUNNING=4")
	e.shows("root.rest", "PENDING=0, RUNNING=15")
	e.agree()
}

// endOne deletes a pod of the queue that runs.
func (e *edited) endOne(queue string) {
	e.t.Helper()
	for _, p := range e.pods() {
		if p.Spec.NodeName != "" && p.Labels[v1alpha1.KeyQueue] == queue {
			e.must(e.client.Delete(e.ctx, p, client.GracePeriodSeconds(0)))
			return
		}
	}
	e.t.Fatalf("no pod of %s runs", queue)
}
