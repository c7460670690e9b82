package preemption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// estate is a cluster of one node on which root.ads has children with more guaranteed than it has.
type estate struct {
	*preemption.World
	filters
	at map[string]int
}

// use adds a queue with an entitlement, that many pods of 1 cpu in it, and what it is guaranteed (0: nothing).
func (e *estate) use(path string, entitlement, pods, guaranteed int64) {
	q := addQueue(e.World, queue.Path("root."+path), cpu(entitlement))
	e.at[path] = q
	if guaranteed > 0 {
		e.Queues[q].Guaranteed = cpu(guaranteed)
	}
	for i := range pods {
		run(e.World, 0, preemption.Candidate{UID: fmt.Sprint(path, i), Queue: q, Request: cpu(1), Bound: i})
	}
}

// claims lets a queue claim for so many pods.
func (e *estate) claims(path string, kind preemption.Kind, target int64, pods int) {
	claim(e.World, e.at[path], cpu(target), cpu(1), pods).Kind = kind
}

// victims counts them by queue, and adds why claims are not paid in full.
func (e *estate) victims(t *testing.T) string {
	t.Helper()
	p := preemption.Make(*e.World, &e.filters)
	e.done = nil
	if faults := invariant.Plan(*e.World, p, &e.filters); len(faults) > 0 {
		t.Errorf("the plan breaks its promises: %s", strings.Join(faults, "; "))
	}
	var out []string
	for i := range e.Queues {
		n := 0
		for _, v := range p.Victims {
			if v.Queue == i {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d of %s", n, e.Queues[i].Path))
		}
	}
	for _, c := range p.Claims {
		if c.Unpaid != "" {
			out = append(out, string(c.Unpaid))
		}
	}
	return strings.Join(out, ", ")
}

// ads runs 10 pods in root.ads.etl, on 10 cpu of which root.ads and root.web are entitled to 5 each.
func ads(guaranteed int64) *estate {
	e := newEstate(10)
	e.use("ads", 5, 0, 0)
	e.use("ads.etl", guaranteed, 10, guaranteed)
	e.use("web", 5, 0, 5)
	return e
}

func newEstate(total int64) *estate {
	e := &estate{World: worldOf(cpu(total)), at: map[string]int{}}
	addNode(e.World, cpu(total))
	return e
}

func TestGuaranteesThatAQueueHasNoShareFor(t *testing.T) {
	const guaranteed, fair = preemption.BelowGuaranteed, preemption.BelowFairShare
	for name, c := range map[string]struct {
		world func() *estate
		want  string
	}{
		"shield nothing from a claim of a fair share": {func() *estate {
			e := ads(1000)
			e.claims("web", fair, 5, 9)
			return e
		}, "5 of root.ads.etl"},
		"nor from one of a guarantee": {func() *estate {
			e := ads(1000)
			e.claims("web", guaranteed, 5, 9)
			return e
		}, "5 of root.ads.etl"},
		"nor further inside": {func() *estate {
			e := newEstate(10)
			e.use("ads", 5, 0, 0)
			e.use("ads.etl", 1000, 0, 1000)
			e.use("ads.etl.day", 600, 6, 0)
			e.use("ads.etl.night", 400, 4, 0)
			e.use("web", 5, 0, 0)
			e.claims("web", fair, 5, 5)
			return e
		}, "3 of root.ads.etl.day, 2 of root.ads.etl.night"}, // 5 x 600/1000 and 5 x 400/1000 stay
		"count in full among siblings": {func() *estate {
			e := newEstate(12)
			e.use("ads", 6, 0, 0)
			e.use("ads.adhoc", 4, 0, 4)
			e.use("ads.etl", 8, 8, 8)
			e.use("web", 6, 4, 0)
			e.claims("ads.adhoc", guaranteed, 4, 4)
			return e
		}, "NoSurplus"},
		"count in full among siblings, while others count what is covered": {func() *estate {
			e := newEstate(12)
			e.use("ads", 6, 0, 0)
			e.use("ads.adhoc", 4, 0, 4)
			e.use("ads.etl", 8, 9, 8)
			e.use("web", 6, 3, 0)
			e.claims("ads.adhoc", guaranteed, 4, 4) // 1 of 9
			e.claims("web", fair, 6, 3)             // 3 of the 4 that are above 8 x 6/12
			return e
		}, "4 of root.ads.etl, NoSurplus"},
		"claim nothing": {func() *estate {
			e := newEstate(12)
			e.use("ads", 4, 0, 0)
			e.use("ads.etl", 1000, 4, 1000)
			e.use("small", 4, 1, 0)
			e.use("web", 4, 7, 0) // ideally 5.5, like ads
			e.claims("ads.etl", guaranteed, 8, 4)
			return e
		}, "NoSurplus"},
		"claim nothing as a fair share": {func() *estate {
			e := newEstate(12)
			e.use("ads", 4, 0, 0)
			e.use("ads.etl", 1000, 4, 1000)
			e.use("small", 4, 1, 0)
			e.use("web", 4, 7, 0)
			e.claims("ads.etl", fair, 8, 4)
			return e
		}, "NoSurplus"},
		"claim what is covered": {func() *estate {
			e := newEstate(12)
			e.use("ads", 4, 0, 0)
			e.use("ads.etl", 1000, 2, 1000)
			e.use("small", 4, 1, 0)
			e.use("web", 4, 9, 0)
			e.claims("ads.etl", fair, 8, 6)
			return e
		}, "2 of root.web, NoSurplus"},
		"do not let others pay first": {func() *estate {
			e := newEstate(12)
			e.use("ads", 4, 0, 0)
			e.use("ads.etl", 1000, 7, 1000)
			e.use("else", 4, 5, 0) // ideally 5; ads 6
			e.use("web", 4, 0, 0)
			e.claims("web", fair, 1, 1)
			return e
		}, "1 of root.ads.etl"},
		"make no dead zone": {func() *estate {
			e := ads(1000)
			e.Settings.MaxIgnoredOverCapacity = 900 // 9.5 of the 5 that are covered
			e.claims("web", fair, 5, 5)
			return e
		}, "5 of root.ads.etl"},
		"have the dead zone of what is covered": {func() *estate {
			e := ads(1000)
			e.Settings.MaxIgnoredOverCapacity = 1000
			e.claims("web", fair, 5, 5)
			return e
		}, "InDeadZone"},
		"of a resource that the cluster lacks": {func() *estate {
			e := ads(5)
			gpu := resource.Of(resource.Entry{Name: "nvidia.com/gpu", Value: 0})
			e.Total, e.Queues[0].Entitlement = e.Total.Add(gpu), e.Queues[0].Entitlement.Add(gpu)
			for _, q := range []string{"ads", "web"} {
				e.Queues[e.at[q]].Entitlement = e.Queues[e.at[q]].Entitlement.Add(gpu)
			}
			devices := resource.Of(resource.Entry{Name: "nvidia.com/gpu", Value: 5})
			e.Queues[e.at["ads.etl"]].Entitlement = e.Queues[e.at["ads.etl"]].Entitlement.Add(devices)
			e.claims("web", fair, 5, 5)
			return e
		}, "5 of root.ads.etl"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.world().victims(t); got != c.want {
				t.Errorf("the plan takes %s", got)
			}
		})
	}
}
