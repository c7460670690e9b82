package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const theUsers = "{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.users}, spec: {children: " +
	"{max: {cpu: 50%}, template: {weight: 2, maxRunningApplications: 7}}}}"

// ofUser stamps a pod as the admission policy does.
func ofUser(p *v1.Pod, user string, groups ...string) *v1.Pod {
	p.Annotations = map[string]string{v1alpha1.KeyUser: user, v1alpha1.KeyGroups: strings.Join(groups, ",")}
	return p
}

func (w *world) placement(spec string) {
	w.t.Helper()
	w.apply("{apiVersion: scheduling.fairway.dev/v1alpha1, kind: PlacementPolicy, metadata: {name: default}, spec: {" + spec + "}}")
}

// queueEvents counts how often each Queue was created and deleted, from now on.
type queueEvents struct {
	mu               sync.Mutex
	created, deleted map[string]int
}

func (w *world) countQueues() *queueEvents {
	w.t.Helper()
	n := &queueEvents{created: map[string]int{}, deleted: map[string]int{}}
	events, err := w.client.Watch(w.ctx, &v1alpha1.QueueList{})
	w.must(err)
	w.t.Cleanup(events.Stop)
	go func() {
		for e := range events.ResultChan() {
			q, ok := e.Object.(*v1alpha1.Queue)
			if !ok {
				continue
			}
			n.mu.Lock()
			switch e.Type {
			case watch.Added:
				n.created[q.Name]++
			case watch.Deleted:
				n.deleted[q.Name]++
			}
			n.mu.Unlock()
		}
	}()
	return n
}

// A thousand users come at once, a fifth of them with names that look like that of another one, and each with two pods. Each user gets one queue, once,
// with what root.users states for it; all pods run in the queues of their users; and a scheduler that starts again finds them there.
func TestAThousandUsersLandAtOnceAndEachQueueIsCreatedOnce(t *testing.T) {
	w := newWorld(t, 10, "100", "400Gi")
	w.apply(theUsers)
	w.placement("rules: [{type: Specified, create: false}, {type: User, parent: root.users}]")
	s, stop := w.scheduler(ledger.Options{})
	w.until("root.default is there", func() (bool, string) {
		return strings.Contains(w.kubectl("get", "queues", "-o", "name"), "root.default"), ""
	})
	seen := w.countQueues()
	const users = 1000
	userOf := func(i int) string {
		switch {
		case i%10 == 8:
			return fmt.Sprintf("Team_%d", i/10)
		case i%10 == 9:
			return fmt.Sprintf("team-%d", i/10)
		}
		return fmt.Sprintf("User.%d@corp", i)
	}
	var pods []*v1.Pod
	for i := range users {
		for j := range 2 {
			pods = append(pods, ofUser(pod(fmt.Sprintf("p-%d-%d", i, j), "", "100m", "100Mi"), userOf(i), "staff"))
		}
	}
	w.create(pods...)
	w.untilBound(len(pods))

	queues := &v1alpha1.QueueList{}
	w.must(w.client.List(w.ctx, queues))
	owner := map[string]string{}
	for _, q := range queues.Items {
		if q.Labels[v1alpha1.KeyCreatedBy] == "" {
			continue
		}
		owner[q.Name] = q.Annotations[v1alpha1.KeyCreatedFor]
		if q.Spec.Max[v1.ResourceCPU].Text != "50%" || q.Spec.Weight == nil || q.Spec.Weight.String() != "2" || *q.Spec.MaxRunningApplications != 7 {
			t.Fatalf("%s begins with %+v", q.Name, q.Spec)
		}
	}
	if len(owner) != users {
		t.Errorf("%d queues were created for %d users", len(owner), users)
	}
	for name, p := range w.pods() {
		user, in := p.Annotations[v1alpha1.KeyUser], p.Annotations[v1alpha1.KeyPlacedQueue]
		if owner[in] != user {
			t.Fatalf("pod %s of %s is in %s, which was created for %q", name, user, in, owner[in])
		}
		if plain := strings.NewReplacer("User.", "root.users.user-dot-", "@corp", "-at-corp").Replace(user); strings.HasPrefix(user, "User") && in != plain {
			t.Errorf("pod %s of %s is in %s", name, user, in)
		}
	}
	seen.mu.Lock()
	for name, n := range seen.created {
		if n != 1 || seen.deleted[name] > 0 {
			t.Errorf("%s was created %d times, and deleted %d times", name, n, seen.deleted[name])
		}
	}
	if len(seen.created) < users {
		t.Errorf("the watch saw %d queues", len(seen.created))
	}
	seen.mu.Unlock()
	w.sound(s, stop)
}

// placedWorld has one node with two cores, and asks the ledger where pods are.
type placedWorld struct {
	*world
	s   *app.Scheduler
	uid map[string]types.UID
}

func (w *placedWorld) submit(p *v1.Pod) {
	w.t.Helper()
	w.must(w.client.Create(w.ctx, p))
	w.uid[p.Name] = p.UID
}

// in waits until a pod is in a queue, "Waiting root.a", or says why it is in none, "Waiting PlacementRejected".
func (w *placedWorld) in(want string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.until(name+" is "+want, func() (bool, string) {
			p, _ := w.s.Ledger.PodState(ledger.UID(w.uid[name]))
			is := fmt.Sprintf("%s %s", p.State, p.Leaf)
			if p.Leaf == "" {
				is = fmt.Sprintf("%s %s", p.State, p.BlockedBy.Code)
			}
			return is == want || want == "waits in "+string(p.Leaf) && !strings.HasPrefix(is, "Bound"), is
		})
	}
}

// An administrator edits the policy, breaks it, mends it, and declares queues, while pods run and wait in created queues and the scheduler restarts. Pods that
// run stay in the queues that they were placed in; pods that wait go where the policy says; queues that are empty go, unless somebody changed them.
func TestPlacedPodsLiveThroughEditsAndRestarts(t *testing.T) {
	w := &placedWorld{world: newWorld(t, 1, "2", "8Gi"), uid: map[string]types.UID{}}
	w.placement("rules: [{type: Specified, create: false}, {type: User, parent: root.users}]")
	s, stop := w.scheduler(ledger.Options{})
	w.s = s
	w.submit(ofUser(pod("ann-runs", "", "2", "1Gi"), "Ann"))
	w.in("Bound root.users.ann", "ann-runs")
	w.submit(ofUser(pod("ann-waits", "", "2", "1Gi"), "Ann"))
	w.submit(ofUser(pod("bob-waits", "", "2", "1Gi"), "bob"))
	w.in("waits in root.users.ann", "ann-waits")
	w.in("waits in root.users.bob", "bob-waits")
	restart := func() {
		t.Helper()
		rest(t, w.world, w.s)
		before := placedAt(w)
		stop()
		w.s, stop = w.scheduler(ledger.Options{})
		w.until("a scheduler that starts finds pods where they were", func() (bool, string) {
			after := placedAt(w)
			return before == after, "before:\n" + before + "after:\n" + after
		})
		for _, wrong := range w.s.Ledger.Check() {
			t.Error(wrong)
		}
	}
	restart()

	// Another policy: those that wait move, the one that runs stays.
	w.placement("rules: [{type: NestedUserQueue, nested: {type: Specified, create: false}}, {type: User, parent: root.people}]")
	w.in("waits in root.people.ann", "ann-waits")
	w.in("waits in root.people.bob", "bob-waits")
	w.in("Bound root.users.ann", "ann-runs")
	restart()

	// A mistake: nothing changes, also for pods that come later and for the next scheduler.
	w.placement("rules: [{type: User, parent: root.people}, {type: Reject}]")
	w.until("the policy says that it cannot be used", func() (bool, string) {
		out := w.kubectl("get", "placementpolicies", "--no-headers")
		return strings.HasPrefix(strings.Join(strings.Fields(out), " "), "default False RulesInvalid"), out
	})
	w.submit(ofUser(pod("eve-waits", "", "2", "1Gi"), "eve"))
	w.in("waits in root.people.eve", "eve-waits")
	restart()
	w.in("waits in root.people.eve", "eve-waits")

	// A leaf as the parent passes to the next rule; a queue that is for children gets the user's queue, and takes no pods itself.
	w.queue("root.leaf")
	w.apply("{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.teams}, spec: {children: {maxCreated: 1}}}")
	w.placement("rules: [{type: NestedUserQueue, nested: {type: Specified, create: false}}, {type: Default, queue: root.teams}]")
	w.submit(ofUser(pod("in-leaf", "root.leaf", "2", "1Gi"), "fay"))
	w.in("Waiting QueueNotLeaf", "in-leaf") // by Default
	w.submit(ofUser(pod("in-teams", "root.teams", "2", "1Gi"), "fay"))
	w.in("waits in root.teams.fay", "in-teams")
	w.submit(ofUser(pod("too-many", "root.teams", "2", "1Gi"), "gus"))
	w.in("Waiting PlacementRejected", "too-many")
	restart()

	// Empty queues go. root.users.bob was edited, and stays, and so does what somebody declared.
	w.patch("root.users.bob", `{"weight":3}`)
	w.placement("rules: [{type: Specified, create: false}, {type: Default}], removeEmptyAfter: 1s")
	for name := range w.uid {
		w.kubectl("delete", "pod", name, "--grace-period=0", "--force")
	}
	w.until("only declared and edited queues are left", func() (bool, string) {
		out := strings.Fields(w.kubectl("get", "queues", "-o", `jsonpath={.items[*].metadata.name}`))
		slices.Sort(out)
		return slices.Equal(out, []string{"root", "root.default", "root.leaf", "root.teams", "root.users", "root.users.bob"}), fmt.Sprint(out)
	})
}

// placedAt is where all pods are, and why they are not.
func placedAt(w *placedWorld) string {
	var lines []string
	for name, uid := range w.uid {
		p, _ := w.s.Ledger.PodState(ledger.UID(uid))
		lines = append(lines, fmt.Sprintf("%s: %v %s %s\n", name, p.State == ledger.Bound, p.Leaf, p.BlockedBy.Code))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
