package integration

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// The case of the document: 800Gi and 200 cpu. busy (weight 1) holds 720Gi and 180 cpu in long pods, sometimes-busy (weight 3) 80Gi and 20 cpu, and
// asks for much more. It is owed 600Gi and 150 cpu: 65 pods more of 2 cpu and 8Gi.
const (
	documentTimeout = 2 * time.Second
	documentWait    = time.Second
	documentGrace   = 5 * time.Second
	documentOwed    = 65
	documentSize    = "2" // cpu of a pod; a share of 50 cpu is 25 pods
)

// TestPreemptionGivesTheShareBackOnTime: the allocations become 200Gi/50 and 600Gi/150 in time, evicting what is owed and nothing else, and
// what the owners of the evicted pods create again neither comes back above the share nor is evicted again.
func TestPreemptionGivesTheShareBackOnTime(t *testing.T) {
	w := newWorldAlone(t, 10, "20", "80Gi")
	w.queue("root preemption.interval=1s preemption.maxWaitBeforeKill=" + documentWait.String())
	k := &taking{world: w, history: w.record(), runs: &process{base: w}, name: "a"}
	k.runs.start()
	k.queues("busy weight=1", "sometimes-busy weight=3 preemption.fairShareThreshold=0.5 preemption.fairShareTimeout="+documentTimeout.String())
	size := withSize(documentSize, "8Gi")
	grace := int64(documentGrace / time.Second)
	k.fill("busy", 0, 45, size, stopping(2, grace))
	k.fill("busy", 45, 45, size, func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = &grace }) // gone at once
	k.running("busy", 90)
	k.fill("sometimes-busy", 0, 10, size)
	k.running("sometimes-busy", 10)

	owners := k.recreate("busy", 90, size)
	starved := k.leaf("sometimes-busy")
	k.fill("sometimes-busy", 10, 100, size)
	since := k.below(starved, documentTimeout)
	k.untilStatus(k.leaf("busy"), "50", "200Gi")
	k.untilStatus(starved, "150", "600Gi")
	owners()
	k.paid()

	k.evictedAre(map[string]int{"busy-": documentOwed})
	k.onceEach()
	k.inTime(since)
	k.documentAnnounced()
	for _, p := range k.running("busy", 25) {
		if n := number(t, p.Name); n >= 90 {
			t.Errorf("pod %s was made for one that was evicted, and has a place", p.Name)
		}
	}
	k.served(starved)
	k.toldOf(starved)
	if page := scrapePage(t); !strings.Contains(page, fmt.Sprintf("fairway_preemption_victims_total{step=\"evicted\"} %d\n", documentOwed)) {
		t.Error("the metrics do not count the evictions")
	}
	k.books()
	k.agree()
}

// below waits until the status says since when the queue is starved, and when that is due.
func (k *taking) below(queue string, timeout time.Duration) (since time.Time) {
	k.t.Helper()
	k.until("the status says that "+queue+" is below its fair share", func() (bool, string) {
		s := k.getQueue(queue).Status
		if s.BelowFairShareSince == nil || s.Preemption == nil || s.Preemption.FairShareDue == nil {
			return false, fmt.Sprintf("%v %v", s.BelowFairShareSince, s.Preemption)
		}
		since = s.BelowFairShareSince.Time
		due := s.Preemption.FairShareDue.Time
		if d := due.Sub(since); d < timeout-time.Second || d > timeout+time.Second { // each is cut to whole seconds
			k.t.Errorf("%s is below since %s, and preemption is due %s", queue, since, due)
		}
		return true, ""
	})
	return since
}

// served waits until the status of a queue says nothing of starvation any more.
func (k *taking) served(queue string) {
	k.t.Helper()
	k.until("the status says that "+queue+" has its share", func() (bool, string) {
		s := k.getQueue(queue).Status
		starved := true
		for _, c := range s.Conditions {
			if c.Type == v1alpha1.ConditionStarved {
				starved = c.Status != metav1.ConditionFalse
			}
		}
		return s.BelowFairShareSince == nil && s.Preemption == nil && !starved, fmt.Sprintf("%v %v %v", s.BelowFairShareSince, s.Preemption, s.Conditions)
	})
}

// toldOf waits for the events about the begin and the end of a queue's starvation.
func (k *taking) toldOf(queue string) {
	k.t.Helper()
	k.until("events tell of the starvation", func() (bool, string) {
		var reasons []string
		for _, e := range k.eventsOf(queue) {
			reasons = append(reasons, e.Reason)
		}
		text := strings.Join(reasons, " ")
		return strings.Contains(text, "BelowFairShare") && strings.Contains(text, v1alpha1.EventFairShareRestored), text
	})
}

// inTime compares when the last pod of what was owed got its node with the promise.
func (k *taking) inTime(since time.Time) {
	k.t.Helper()
	var last time.Time
	for _, p := range k.running("sometimes-busy", 75) {
		if c := scheduled(p); c != nil && c.LastTransitionTime.After(last) {
			last = c.LastTransitionTime.Time
		}
	}
	took, promised := last.Sub(since), documentTimeout+documentWait+documentGrace+15*time.Second
	k.t.Logf("the share is back after %s, promised are %s", took, promised)
	if took > promised {
		k.t.Errorf("the share is back after %s, promised are %s", took, promised)
	}
}

var wordsOfAVictim = regexp.MustCompile(
	`^Preempted by queue root\.a-sometimes-busy, which is below its fair share, for pod default/a-sometimes-busy-\d+: root\.a-busy has (\d+) cpu above its fair share of 50 cpu`)

// documentAnnounced: every victim says for whom it goes and what its queue has too much: 130 cpu before the first goes, 2 before the last. An event
// says the same, and nobody is asked to stop before the wait is over.
func (k *taking) documentAnnounced() {
	k.t.Helper()
	list, err := k.kube.CoreV1().Events("default").List(k.ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("reason", v1alpha1.EventPreempting).String(),
	})
	k.must(err)
	events := map[string]string{}
	for i := range list.Items {
		events[list.Items[i].InvolvedObject.Name] = list.Items[i].Message
	}
	surplus := map[string]int{}
	for _, f := range k.fates() {
		words := wordsOfAVictim.FindStringSubmatch(f.message)
		if words == nil {
			k.t.Errorf("pod %s says %q", f.name, f.message)
			return
		}
		surplus[words[1]]++
		if !strings.HasPrefix(events[f.name], words[0]) {
			k.t.Errorf("the event of pod %s says %q, it says %q", f.name, events[f.name], f.message)
		}
		// Both are cut to whole seconds, so that a wait of whole seconds shows as such.
		if waited := f.asked.Sub(f.told); waited < documentWait {
			k.t.Errorf("pod %s was told at %s and asked to stop at %s, which is %s later", f.name, f.told, f.asked, waited)
		}
	}
	for i := range documentOwed {
		if n := surplus[strconv.Itoa(2*(i+1))]; n != 1 {
			k.t.Errorf("%d victims say that their queue has %d cpu too much; of all: %v", n, 2*(i+1), surplus)
			break
		}
	}
}

func number(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// recreate plays the owners of a queue's pods: for each that is evicted they create another, with numbers from first on. stop returns when there is
// one for each.
func (k *taking) recreate(queue string, first int, edits ...func(*v1.Pod)) (stop func()) {
	made := map[string]bool{}
	create := func() {
		for _, name := range k.evicted() {
			if !made[name] {
				made[name] = true
				k.fill(queue, first+len(made)-1, 1, edits...)
			}
		}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				create()
				return
			case <-time.After(20 * time.Millisecond):
				create()
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(end); <-ended })
	k.t.Cleanup(stop) // also where the test gives up
	return stop
}
