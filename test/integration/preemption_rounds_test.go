package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// Which queues pay, how fast, and when none does, on one control plane: 16 nodes with room for 4 pods each.
func TestPreemptionTakesFromTheRightQueuesInTime(t *testing.T) {
	k := takingWorld(t, 16, "")
	k.scene("ideal", (*taking).takesWhatIsAboveTheIdeal)
	k.scene("factor", (*taking).takesHalfInARound)
	k.scene("ignored", (*taking).declinesWhatNobodyMayPay)
}

// takesWhatIsAboveTheIdeal: of 16 nodes, a and d are to have 8 each. a has 9 and asks for no more. d.e has 7 and asks for more, d.f asks for 1. So d
// is short by 1, d.e has what it is to have of the 8, though 3 more than its share, and a has 1 too much: a pays.
func (k *taking) takesWhatIsAboveTheIdeal() {
	node := withSize("4", "16Gi")
	k.queues("a", "d"+claims, "d.e", "d.f")
	k.fill("a", 0, 9, node)
	k.running("a", 9)
	k.fill("d.e", 0, 7, node)
	k.running("d.e", 7)
	k.fill("d.e", 7, 9, node)
	asked := time.Now()
	k.fill("d.f", 0, 1, node)
	k.running("d.f", 1)
	k.t.Logf("the pod runs %s after it was created; the timeout and the wait are 1s each", time.Since(asked).Round(100*time.Millisecond))
	rest(k.t, k.world, k.runs.s)
	k.paid()
	k.evictedAre(map[string]int{"a-": 1})
}

// The same where queues share by capacity, and one user may have more than the capacity.
func TestPreemptionByCapacityTakesItsPartInTime(t *testing.T) {
	k := takingWorld(t, 16, "")
	k.scene("capacity", func(k *taking) { k.takesHalf("hog capacity=50% users.shareFactor=2", "starved capacity=50%"+claims) })
}

// takesHalfInARound has queues that share by weight.
func (k *taking) takesHalfInARound() { k.takesHalf("hog", "starved"+claims) }

// takesHalf: of 64 cpu starved is owed 32. With a factor of 0.5, rounds of 16, 8, 4, 2, 1 and 1 pods pay that: more than 95% in five times the wait,
// and none is announced before the last have been evicted.
func (k *taking) takesHalf(queues ...string) {
	const wait = 2 * time.Second
	k.root("naturalTerminationFactor", "0.5")
	k.root("maxWaitBeforeKill", wait.String())
	k.queues(queues...)
	k.fill("hog", 0, 64)
	k.running("hog", 64)
	k.fill("starved", 0, 32)
	k.running("starved", 32)
	k.paid()
	k.evictedAre(map[string]int{"hog-": 32})
	var told []time.Time
	for _, f := range k.fates() {
		told = append(told, f.told)
	}
	slices.SortFunc(told, time.Time.Compare)
	var rounds []int
	var began []time.Time
	for _, at := range told { // both are cut to whole seconds
		if len(rounds) == 0 || at.Sub(began[len(began)-1]) >= wait {
			rounds, began = append(rounds, 0), append(began, at)
		}
		rounds[len(rounds)-1]++
	}
	if want := []int{16, 8, 4, 2, 1, 1}; !slices.Equal(rounds, want) {
		k.t.Fatalf("the rounds take %v, want %v", rounds, want)
	}
	k.t.Logf("rounds of %v pods, %v after the first; the wait is %v: 31 of 32 are evicted after %v", rounds, sinceFirst(began), wait, began[4].Add(wait).Sub(began[0]))
}

func sinceFirst(at []time.Time) (out []time.Duration) {
	for _, t := range at {
		out = append(out, t.Sub(at[0]))
	}
	return out
}

// declinesWhatNobodyMayPay: hog has twice its share, and that much is ignored. The claim ends with an event and a condition that say why. When less is
// ignored, the claim is paid, and hog goes down to its ideal, not just to what is ignored.
func (k *taking) declinesWhatNobodyMayPay() {
	k.root("maxIgnoredOverCapacity", "1")
	k.queues("hog", "starved"+claims)
	k.fill("hog", 0, 64)
	k.running("hog", 64)
	k.fill("starved", 0, 40)
	asked := time.Now()
	k.until("an event says that the claim has ended", func() (bool, string) {
		events := k.eventsOf(k.leaf("starved"))
		return slices.ContainsFunc(events, func(e v1.Event) bool {
			return e.Reason == "PreemptionDeclined" && strings.Contains(e.Message, "is still owed 32 cpu") && strings.Contains(e.Message, "maxIgnoredOverCapacity")
		}), fmt.Sprint(events)
	})
	k.t.Logf("the claim ends %s after the pods were created; the timeout is 1s", time.Since(asked).Round(100*time.Millisecond))
	k.until("the condition says why, and when it opens again", func() (bool, string) {
		c := meta.FindStatusCondition(k.getQueue(k.leaf("starved")).Status.Conditions, v1alpha1.ConditionStarved)
		return c != nil && strings.Contains(c.Message, "its claim ended at") && strings.Contains(c.Message, "it opens again at"), fmt.Sprint(c)
	})
	if n := k.announced(); n != 0 {
		k.t.Errorf("%d pods are announced", n)
	}
	k.root("maxIgnoredOverCapacity", "0.5")
	k.running("starved", 32)
	k.paid()
	k.evictedAre(map[string]int{"hog-": 32})
}
