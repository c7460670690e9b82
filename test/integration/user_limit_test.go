package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// With a minSharePercent of 25, one user has all of a queue of 12 cores, two have a half each, three a third, four a quarter. Users whose pods are all gone
// count no more. The users are named by the annotation, but for bob, who is a service account.
func TestAUserHasAPartOfTheQueue(t *testing.T) {
	w := newWorld(t, 2, "6", "64Gi")
	w.queue("root.q capacity=100% users.minSharePercent=25")
	w.must(w.client.Create(w.ctx, &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bob", Namespace: "default"}}))
	const bob = "system:serviceaccount:default:bob"
	s, stop := w.scheduler(ledger.Options{})
	comes := func(user string, pods int) {
		var all []*v1.Pod
		for i := range pods {
			p := pod(fmt.Sprintf("%s-%d", user, i), "q", "1", "1Gi")
			if user == "bob" {
				p.Spec.ServiceAccountName = "bob"
			} else {
				p.Annotations = map[string]string{v1alpha1.KeyUser: user}
			}
			all = append(all, p)
		}
		w.create(all...)
	}

	comes("ann", 30)
	w.untilUsersHave(map[string]int{"ann": 12})
	w.untilUserIsHeld("ann", "in queue root.q, user ann may use at most 12 cpu: the user has 12 cpu and this pod asks for 1 cpu; it waits until a pod of the user ends")
	w.untilUserMayHave("12", "12", "ann")

	comes("bob", 15)
	w.endPodsOf("ann", 7)
	w.untilUsersHave(map[string]int{"ann": 6, "bob": 6})
	w.untilUserIsHeld("ann", "in queue root.q, user ann may use at most ")
	w.untilUserIsHeld("bob", "in queue root.q, user "+bob+" may use at most ")
	w.untilUserMayHave("6", "6", "ann", bob)

	comes("cat", 15)
	w.endPodsOf("ann", 3)
	w.endPodsOf("bob", 3)
	w.untilUsersHave(map[string]int{"ann": 4, "bob": 4, "cat": 4})
	w.untilUserMayHave("4", "4", "ann", bob, "cat")

	comes("dan", 15)
	w.endPodsOf("ann", 2)
	w.endPodsOf("bob", 2)
	w.endPodsOf("cat", 2)
	w.untilUsersHave(map[string]int{"ann": 3, "bob": 3, "cat": 3, "dan": 3})
	w.untilUserMayHave("3", "3", "ann", bob, "cat", "dan")

	comes("eve", 15) // a quarter is the least
	w.untilUserMayHave("3", "3", "ann", bob, "cat", "dan")
	w.untilUserMayHave("3", "0", "eve")

	w.userLeaves("bob")
	w.untilUsersHave(map[string]int{"ann": 3, "cat": 3, "dan": 3, "eve": 3})

	w.userLeaves("cat")
	w.userLeaves("dan")
	w.userLeaves("eve")
	w.untilUsersHave(map[string]int{"ann": 12})
	w.sound(s, stop)
}

// untilUserMayHave waits until the command says that each of these users may have so many cores of the queue, has some, and asks for more. A user who has
// all is held by that.
func (w *world) untilUserMayHave(limit, has string, users ...string) {
	w.t.Helper()
	type inQueue struct {
		Queue, Weight, Reason string
		Limit, Allocated      struct{ CPU string }
		Active                bool
	}
	want := inQueue{Queue: "root.q", Active: true, Weight: "1"}
	want.Limit.CPU, want.Allocated.CPU = limit, has
	if limit == has {
		want.Reason = "UserLimit"
	}
	w.until(fmt.Sprintf("%v may have %s cpu and have %s", users, limit, has), func() (bool, string) {
		var shown struct {
			Users []struct {
				User   string
				Limits []inQueue
			}
		}
		w.must(json.Unmarshal([]byte(w.fairway("", "users", "--kubeconfig", w.cluster.Kubeconfig(), "-o", "json")), &shown))
		say := 0
		for _, u := range shown.Users {
			if !slices.Contains(users, u.User) {
				continue
			}
			if len(u.Limits) == 1 && u.Limits[0].Allocated.CPU == "" {
				u.Limits[0].Allocated.CPU = "0"
			}
			if !slices.Equal(u.Limits, []inQueue{want}) {
				return false, fmt.Sprintf("%s: %+v", u.User, u.Limits)
			}
			say++
		}
		return say == len(users), fmt.Sprint(shown.Users)
	})
}

// untilUsersHave waits until the pods of these users, and no others, have nodes: so many of each.
func (w *world) untilUsersHave(want map[string]int) {
	w.t.Helper()
	w.until(fmt.Sprintf("users have %v pods", want), func() (bool, string) {
		have := map[string]int{}
		for name, p := range w.pods() {
			if user, _, _ := strings.Cut(name, "-"); p.Spec.NodeName != "" {
				have[user]++
			}
		}
		return maps.Equal(have, want), fmt.Sprint(have)
	})
}

// untilUserIsHeld waits until all waiting pods of the user say that the user's limit holds them.
func (w *world) untilUserIsHeld(user, sentence string) {
	w.t.Helper()
	w.until(fmt.Sprintf("pods of %s say: %s", user, sentence), func() (bool, string) {
		waits := 0
		for name, p := range w.pods() {
			if of, _, _ := strings.Cut(name, "-"); of != user || p.Spec.NodeName != "" {
				continue
			}
			waits++
			if c := queuedCondition(p); c == nil || c.Reason != "UserLimit" || !strings.HasPrefix(c.Message, sentence) {
				return false, fmt.Sprintf("%s says %v", name, c)
			}
		}
		return waits > 0, "none waits"
	})
}

// endPodsOf ends so many pods of a user that have nodes.
func (w *world) endPodsOf(user string, n int) {
	w.t.Helper()
	w.endOf(user, true, n)
}

// userLeaves ends all pods of a user. Those that wait go first, or some would take the places of those that run.
func (w *world) userLeaves(user string) {
	w.t.Helper()
	w.endOf(user, false, math.MaxInt)
	w.endOf(user, true, math.MaxInt)
}

func (w *world) endOf(user string, running bool, n int) {
	w.t.Helper()
	for name, p := range w.pods() {
		if of, _, _ := strings.Cut(name, "-"); n > 0 && of == user && (p.Spec.NodeName != "") == running {
			w.must(w.client.Delete(w.ctx, p, client.GracePeriodSeconds(0)))
			n--
		}
	}
}
