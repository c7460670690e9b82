package queue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// inForce spells what is in force: "what value from".
func inForce(tree queue.Tree, p queue.Path) []string {
	i, _ := tree.Find(p)
	is, spec := tree.Effective()[i], tree.Nodes[i].Spec
	timeout := func(t queue.Timeout) string {
		if !t.Stated || t.Never {
			return "never"
		}
		return fmt.Sprint(t.Nanoseconds)
	}
	lines := []string{
		"policy " + spec.Policy.String() + " " + string(is.PolicyFrom),
		"fairResource " + string(spec.Rule().Resource) + " " + string(is.FairResourceFrom),
		fmt.Sprint("threshold ", is.Preemption.Threshold(), " ", is.ThresholdFrom),
		"fairShareTimeout " + timeout(is.Preemption.FairShareTimeout) + " " + string(is.FairShareTimeoutFrom),
		"guaranteedTimeout " + timeout(is.Preemption.GuaranteedTimeout) + " " + string(is.GuaranteedTimeoutFrom),
		fmt.Sprint("preemptible ", is.Preemption.Preemptible.Allowed(), " ", is.PreemptibleFrom),
	}
	for _, a := range is.MaxPod {
		lines = append(lines, "pod "+resource.Of(a.Entry).String()+" "+string(a.From))
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

func podsOf(l resource.List) func(*queue.Declaration) {
	return states(func(s *queue.Spec) { s.MaxPod = l })
}

func TestWhatIsInForceAndWhereItComesFrom(t *testing.T) {
	tree := queue.Build([]queue.Declaration{
		declare("root", timeout, podsOf(cpu(8).Add(memory(64)))),
		declare("root.a", policy(queue.Fair), states(func(s *queue.Spec) {
			s.FairResource = "cpu"
			s.Preemption.FairShareThreshold = queue.AtMost(800)
			s.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Never: true}
		}), preemptible(false)),
		declare("root.a.b", preemptible(true), podsOf(cpu(4)), guaranteeIn),
		declare("root.a.c", preemptible(false), podsOf(cpu(9)), policy(queue.DominantResourceFairness)),
		declare("root.d", preemptible(true), policy(queue.FIFO)),
	}, nil, resource.List{})
	for p, want := range map[queue.Path][]string{
		"root": {
			"policy DominantResourceFairness", "fairResource memory", "threshold 500", "fairShareTimeout 1 root", "guaranteedTimeout never",
			"preemptible true", "pod cpu=8 root", "pod memory=64Gi root",
		},
		"root.a": {
			"policy Fair root.a", "fairResource cpu root.a", "threshold 800 root.a", "fairShareTimeout never root.a", "guaranteedTimeout never",
			"preemptible false root.a", "pod cpu=8 root", "pod memory=64Gi root",
		},
		"root.a.b": {
			"policy Fair root.a", "fairResource cpu root.a", "threshold 800 root.a", "fairShareTimeout never root.a", "guaranteedTimeout 1 root.a.b",
			"preemptible false root.a", "pod cpu=4 root.a.b", "pod memory=64Gi root",
		},
		"root.a.c": { // its policy and its maximum are not allowed
			"policy Fair root.a", "fairResource cpu root.a", "threshold 800 root.a", "fairShareTimeout never root.a", "guaranteedTimeout never",
			"preemptible false root.a.c", "pod cpu=8 root", "pod memory=64Gi root",
		},
		"root.d": {
			"policy FIFO root.d", "fairResource memory", "threshold 500", "fairShareTimeout 1 root", "guaranteedTimeout never",
			"preemptible true root.d", "pod cpu=8 root", "pod memory=64Gi root",
		},
	} {
		if diff := cmp.Diff(want, inForce(tree, p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}

// With a capacity, a queue below one that protects its pods may say otherwise; and with the calculator Memory, the resource of Fair is root's.
func TestWhatIsInForceOfCapacitiesAndOfTheCalculator(t *testing.T) {
	tree := queue.Build([]queue.Declaration{
		declare("root", states(func(s *queue.Spec) { s.Calculator = queue.MemoryCalculator })),
		declare("root.a", preemptible(false)),
		declare("root.a.b", preemptible(true), byCapacity(queue.Whole), policy(queue.Fair)),
		declare("root.a.b.c"),
	}, nil, resource.List{})
	for p, from := range map[queue.Path]string{"root.a.b": "preemptible true root.a.b", "root.a.b.c": "preemptible true root.a.b"} {
		if got := inForce(tree, p); got[5] != from || got[1] != "fairResource memory root" {
			t.Errorf("%s: %v", p, got)
		}
	}
}

// What is in force is what the nearest queue above that states it says, or the default.
func TestTheNearestQueueThatStatesAValueDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var declared []queue.Declaration
		path := queue.Path("root")
		for range rapid.IntRange(1, 6).Draw(t, "levels") {
			d := declare(path)
			p := &d.Spec.Preemption
			if rapid.Bool().Draw(t, "threshold") {
				p.FairShareThreshold = queue.AtMost(rapid.Int64Range(1, 1000).Draw(t, "value"))
			}
			if rapid.Bool().Draw(t, "timeout") {
				p.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: rapid.Int64Range(1, 9).Draw(t, "time")}
			}
			p.Preemptible = rapid.SampledFrom([]queue.Preemptible{queue.PreemptibleUnstated, queue.PreemptibleNo, queue.PreemptibleYes}).Draw(t, "preemptible")
			declared, path = append(declared, d), path+".a"
		}
		tree := queue.Build(declared, nil, resource.List{})
		for i, is := range tree.Effective() {
			threshold, thresholdFrom, wait, waitFrom, may := queue.DefaultFairShareThreshold, queue.Path(""), int64(0), queue.Path(""), true
			for _, d := range declared[:i+1] {
				p := d.Spec.Preemption
				if p.FairShareThreshold.Stated {
					threshold, thresholdFrom = p.FairShareThreshold.Most, d.Path
				}
				if p.FairShareTimeout.Stated {
					wait, waitFrom = p.FairShareTimeout.Nanoseconds, d.Path
				}
				may = may && p.Preemptible != queue.PreemptibleNo
			}
			if is.Preemption.Threshold() != threshold || is.ThresholdFrom != thresholdFrom ||
				is.Preemption.FairShareTimeout.Nanoseconds != wait || is.FairShareTimeoutFrom != waitFrom || is.Preemption.Preemptible.Allowed() != may {
				t.Fatalf("%s: %+v", tree.Nodes[i].Path, is)
			}
			states := queue.PreemptibleUnstated
			if is.PreemptibleFrom != "" {
				from, _ := tree.Find(is.PreemptibleFrom)
				states = declared[from].Spec.Preemption.Preemptible
			}
			if states.Allowed() != may {
				t.Fatalf("%s: %s does not say %v", tree.Nodes[i].Path, is.PreemptibleFrom, may)
			}
		}
	})
}
