package integration

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// submitted is a world in which applications come one after the other, each in a second of its own: the API knows creation times to the
// second, and applications of one second go by name. Names come in the opposite order, so that going by name shows.
type submitted struct {
	*world
	s    *app.Scheduler
	last metav1.Time
	next byte
	pods map[string][]*v1.Pod
}

// app submits an application of n pods of a user ("" for none: then the service account is the user) and returns its name.
func (c *submitted) app(queue, user string, n int) string {
	c.t.Helper()
	c.until("a second has passed since the last application", func() (bool, string) {
		return time.Now().After(c.last.Add(time.Second)), c.last.String()
	})
	name := string(c.next)
	c.next--
	for i := range n {
		p := pod(fmt.Sprintf("%s-%d", name, i), queue, "1", "1Gi")
		p.Labels[v1alpha1.KeyApplication] = name
		if user != "" {
			p.Annotations = map[string]string{"fairway.dev/user": user}
		}
		c.create(p)
		c.pods[name] = append(c.pods[name], p)
		c.last = p.CreationTimestamp
	}
	return name
}

// end deletes the pods of an application.
func (c *submitted) end(app string) {
	c.t.Helper()
	for _, p := range c.pods[app] {
		c.must(c.client.Delete(c.ctx, p, client.GracePeriodSeconds(0)))
	}
	delete(c.pods, app)
}

// run waits until exactly these applications run, with all their pods, and nothing is under way.
func (c *submitted) run(apps ...string) {
	c.t.Helper()
	want := map[string]int{}
	for _, app := range apps {
		want[app] = len(c.pods[app])
	}
	c.until(fmt.Sprintf("%v run", apps), func() (bool, string) {
		is := map[string]int{}
		for _, p := range c.world.pods() {
			if p.Spec.NodeName != "" {
				is[p.Labels[v1alpha1.KeyApplication]]++
			}
		}
		return maps.Equal(is, want), fmt.Sprint(is)
	})
	(&failing{world: c.world, s: c.s}).settled()
}

// says waits until every pod of the application says in its condition, and in one event, what holds it.
func (c *submitted) says(app, reason, message string) {
	c.t.Helper()
	for _, p := range c.pods[app] {
		c.held(p.Name, reason, message)
		c.until("an event says why "+p.Name+" is held", func() (bool, string) {
			var notes []string
			for _, e := range c.eventsOf(p.Name) {
				if e.Type == v1.EventTypeWarning && e.Reason == reason {
					notes = append(notes, e.Message)
				}
			}
			return slices.Equal(notes, []string{message}), fmt.Sprintf("%q", notes)
		})
	}
}

// goes waits until the pods of an application that runs say that nothing holds them.
func (c *submitted) goes(app string) {
	c.t.Helper()
	for _, p := range c.pods[app] {
		c.until(p.Name+" says that it is accepted", func() (bool, string) {
			c.must(c.client.Get(c.ctx, client.ObjectKeyFromObject(p), p))
			q := queuedCondition(p)
			return q != nil && q.Status == v1.ConditionFalse && q.Reason == "Accepted" && q.Message == "", fmt.Sprint(q)
		})
	}
}

func queueRuns(queue string, n int) string {
	return fmt.Sprintf("queue %s may run at most %d applications and runs %d; this one follows when an application ends, or with a higher maxRunningApplications", queue, n, n)
}

func userRuns(user string, n int) string {
	return fmt.Sprintf("user %s may run at most %d applications and runs %d; this one follows when one of them ends, or with a higher "+
		"users.maxRunningApplications of queue root", user, n, n)
}

// Limits of 3 and 2 on two levels of a path, and of 2 for each user over all queues. Applications that come when one of them is reached
// wait and say which; a slot that falls free goes to the application submitted first under the highest queue that was full, or of the user
// who was, of those that fit now.
func TestApplicationsWaitForASlotAndGoInOrderOfSubmission(t *testing.T) {
	w := newWorld(t, 2, "40", "40Gi")
	root := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RootQueue}}
	root.Spec.Users = &v1alpha1.QueueUsers{MaxRunningApplications: count(w, "2")}
	w.must(w.client.Create(w.ctx, root))
	w.queue("root.team maxRunningApplications=3")
	w.queue("root.team.a maxRunningApplications=2")
	w.queue("root.team.b")
	w.queue("root.solo")
	c := &submitted{world: w, next: 'z', pods: map[string][]*v1.Pod{}}
	c.s, _ = w.scheduler(ledger.Options{})
	const byQueue, byUser, anybody = "MaxRunningApplications", "UserMaxRunningApplications", "system:serviceaccount:default:default"

	z := c.app("root.team.a", "alice", 2) // each line: alice's and bob's applications, those of team, of team.a
	y := c.app("root.team.a", "bob", 1)
	c.run(z, y) // 1 1 2 2
	x := c.app("root.team.a", "alice", 3)
	c.says(x, byQueue, queueRuns("root.team.a", 2))
	v := c.app("root.team.b", "alice", 1)
	c.run(z, y, v) // 2 1 3 2
	c.says(x, byUser, userRuns("alice", 2))
	u := c.app("root.team.b", "bob", 2)
	c.says(u, byQueue, queueRuns("root.team", 3))
	s := c.app("root.solo", "alice", 1)
	c.says(s, byUser, userRuns("alice", 2))
	r := c.app("root.solo", "bob", 1)
	c.run(z, y, v, r) // 2 2 3 2
	q := c.app("root.solo", "bob", 1)
	c.says(q, byUser, userRuns("bob", 2))
	p := c.app("root.solo", "", 1)
	o := c.app("root.solo", "", 1)
	n := c.app("root.solo", "", 1)
	c.says(n, byUser, userRuns(anybody, 2))
	c.run(z, y, v, r, p, o)
	w.agree()

	// team was full, not only its child a; so was bob. x came first, but alice runs 2. Then u: and with it bob runs 2 again, so q waits.
	c.end(y)
	c.run(z, v, r, p, o, u) // 2 2 3 1
	c.goes(u)
	c.end(v)                // team was full, and alice: x came before s, and with it alice runs 2
	c.run(z, r, p, o, u, x) // 2 2 3 2
	c.goes(x)
	c.end(r)                // bob was full
	c.run(z, p, o, u, x, q) // 2 2 3 2
	c.end(z)                // alice's last
	c.run(p, o, u, x, q, s) // 2 2 2 1
	c.goes(s)

	// The pod that was blocked last says now what blocks it: a limit was lowered, and the number used is above it.
	w.patch("root", `{"users":{"maxRunningApplications":1}}`)
	c.held(n+"-0", byUser, "user "+anybody+" may run at most 1 application and runs 2; this one follows when one of them ends, or with a higher "+
		"users.maxRunningApplications of queue root")
	c.end(p) // above its limit a user frees no slot
	c.run(o, u, x, q, s)
	w.agree()
	w.patch("root", `{"users":null}`)
	c.run(o, u, x, q, s, n)
	c.goes(n)
}

// Applications in one queue of one slot go in the order in which they were submitted, though their names say the opposite; and so they
// do after a restart.
func TestOneSlotServesApplicationsInOrderOfSubmission(t *testing.T) {
	w := newWorld(t, 1, "40", "40Gi")
	w.queue("root.line maxRunningApplications=1")
	c := &submitted{world: w, next: 'z', pods: map[string][]*v1.Pod{}}
	var stop func()
	c.s, stop = w.scheduler(ledger.Options{})
	var apps []string
	for i := range 5 {
		apps = append(apps, c.app("root.line", "", 1+i%2))
	}
	c.run(apps[0])
	for len(apps) > 1 {
		if len(apps) == 3 {
			stop()
			c.s, stop = w.scheduler(ledger.Options{})
		}
		for _, waits := range apps[1:] {
			c.says(waits, "MaxRunningApplications",
				"queue root.line may run at most 1 application and runs 1; this one follows when an application ends, or with a higher maxRunningApplications")
		}
		c.end(apps[0])
		apps = slices.Delete(apps, 0, 1)
		c.run(apps[0])
		c.goes(apps[0])
	}
}
