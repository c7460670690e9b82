package admission

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// tree is root with a (a.x, a.y) and b.
func tree(root, a, x, y, b queue.Limit) map[string]*Queue {
	qs := map[string]*Queue{"root": {Path: "root", Most: root}}
	qs["a"] = &Queue{Path: "root.a", Parent: qs["root"], Most: a}
	qs["b"] = &Queue{Path: "root.b", Parent: qs["root"], Most: b}
	qs["x"] = &Queue{Path: "root.a.x", Parent: qs["a"], Most: x}
	qs["y"] = &Queue{Path: "root.a.y", Parent: qs["a"], Most: y}
	return qs
}

func names(as []*Application) (all []string) {
	for _, a := range as {
		all = append(all, a.Name)
	}
	return all
}

// A queue below a full parent: the freed slot goes to the application below the parent that was submitted
// first, in whichever leaf.
func TestAFreedSlotGoesByOrderOfSubmission(t *testing.T) {
	no := queue.Limit{}
	qs := tree(no, queue.AtMost(1), no, no, no)
	var s Slots
	runs := &Application{Leaf: qs["x"], Name: "runs", User: "u"}
	s.Start(runs)
	later := &Application{Leaf: qs["x"], Name: "later", User: "u", Submitted: 3}
	cousin := &Application{Leaf: qs["y"], Name: "cousin", User: "v", Submitted: 2}
	for _, a := range []*Application{later, cousin} {
		why, fits := s.Fits(a.Leaf, a.User, a.Submitted, Open)
		if want := (reason.Reason{Code: reason.MaxRunningApplications, Queue: "root.a", Details: reason.Applications{Most: 1, Running: 1}}); fits || why != want {
			t.Fatalf("%s: fits %v, %+v", a.Name, fits, why)
		}
		s.Wait(a)
	}
	if got := names(s.HandOn(s.End(runs))); !slices.Equal(got, []string{"cousin"}) {
		t.Errorf("%v got the slot", got)
	}
	if got := names(s.Waiting()); !slices.Equal(got, []string{"later"}) || qs["root"].Running != 1 || s.OfUser(qs["x"], "u") != 0 {
		t.Errorf("%v wait, %d run", got, qs["root"].Running)
	}
}

// A user at its limit frees a slot of its own, besides that of the queue.
func TestAUsersSlotGoesToTheUser(t *testing.T) {
	no := queue.Limit{}
	qs := tree(no, no, queue.AtMost(1), no, no)
	s := Slots{PerUser: queue.AtMost(1)}
	runs := &Application{Leaf: qs["x"], Name: "runs", User: "u"}
	s.Start(runs)
	for i, a := range []*Application{{Leaf: qs["x"], Name: "same queue", User: "v"}, {Leaf: qs["b"], Name: "same user", User: "u"}, {Leaf: qs["b"], Name: "same user too", User: "u"}} {
		a.Submitted = int64(i)
		s.Wait(a)
	}
	if got := names(s.HandOn(s.End(runs))); !slices.Equal(got, []string{"same queue", "same user"}) {
		t.Errorf("%q got the slots", got)
	}
	why, fits := s.Fits(qs["y"], "u", 0, Open)
	if want := (reason.Reason{Code: reason.UserMaxRunningApplications, Queue: "root", Details: reason.Applications{User: "u", Most: 1, Running: 1}}); fits || why != want {
		t.Errorf("fits %v, %+v", fits, why)
	}
}

// A stopped queue lets in what was submitted before, within the limits, and says which queues keep it stopped.
func TestAStoppedQueueTakesNoNewApplications(t *testing.T) {
	no := queue.Limit{}
	qs := tree(no, queue.AtMost(1), no, no, no)
	qs["x"].Stop = Stop{Since: 5, By: "root.a root.a.x"}
	var s Slots
	why, fits := s.Fits(qs["x"], "u", 5, Open)
	want := reason.Reason{Code: reason.QueueStopped, Queue: "root.a.x", Details: reason.Stop{By: "root.a root.a.x", Since: 5}}
	if fits || why != want {
		t.Errorf("submitted later: %v, %+v", fits, why)
	}
	if _, fits := s.Fits(qs["x"], "u", 4, Open); !fits {
		t.Error("submitted before: it does not fit")
	}
	s.Start(&Application{Leaf: qs["y"], Name: "runs"})
	if why, _ := s.Fits(qs["x"], "u", 4, Open); why.Code != reason.MaxRunningApplications {
		t.Errorf("submitted before, with the queue above full: %+v", why)
	}
	if _, fits := s.Fits(qs["x"], "u", 4, Bootstrapping); fits {
		t.Error("before all applications have been seen, it is known which one goes on")
	}
}

func TestModes(t *testing.T) {
	no := queue.Limit{}
	qs := tree(no, queue.AtMost(5), no, no, no)
	var s Slots
	for _, c := range []struct {
		leaf string
		mode Mode
		fits bool
	}{{"x", Open, true}, {"x", Bootstrapping, false}, {"b", Bootstrapping, true}, {"x", Closed, false}, {"b", Closed, false}} {
		if _, fits := s.Fits(qs[c.leaf], "u", 0, c.mode); fits != c.fits {
			t.Errorf("%s in mode %d: fits %v", c.leaf, c.mode, fits)
		}
	}
}

// Applications that a queue has taken in count for their user in that queue alone, and the reason says of which number its
// limit is a part.
func TestEnteredApplicationsOfAUserCountInEachQueue(t *testing.T) {
	no := queue.Limit{}
	qs := tree(no, no, queue.AtMost(4), no, no)
	qs["x"].Cluster, qs["x"].PerUser = 10, queue.AtMost(1)
	s := Slots{Counts: Entered}
	s.Start(&Application{Leaf: qs["x"], Name: "in x", User: "u"})
	s.Start(&Application{Leaf: qs["y"], Name: "in y", User: "u"})
	s.Start(&Application{Leaf: qs["y"], Name: "in y too", User: "u"})
	why, fits := s.Fits(qs["x"], "u", 0, Open)
	if want := (reason.Reason{Code: reason.UserMaxApplications, Queue: "root.a.x", Details: reason.Applications{User: "u", Most: 1, Running: 1}}); fits || why != want {
		t.Errorf("of the same user: fits %v, %+v", fits, why)
	}
	if _, fits := s.Fits(qs["y"], "u", 0, Open); !fits {
		t.Error("in another queue: it does not fit")
	}
	for _, user := range []string{"v", "w", "x"} {
		s.Start(&Application{Leaf: qs["x"], Name: user, User: user})
	}
	why, fits = s.Fits(qs["x"], "y", 0, Open)
	if want := (reason.Reason{Code: reason.MaxApplications, Queue: "root.a.x", Details: reason.Applications{Most: 4, Running: 4, Cluster: 10}}); fits || why != want {
		t.Errorf("of another user: fits %v, %+v", fits, why)
	}
	if why, _ := s.Fits(qs["x"], "y", 0, Bootstrapping); why != (reason.Reason{Code: reason.MaxApplications, Queue: "root.a.x"}) {
		t.Errorf("before all have been seen: %+v", why)
	}
}

// The twin counts the running applications below every queue and of every user from a plain list, and after
// every step lets in each one that fits, the oldest first. Applications that queues have taken in are counted in the same way.
func TestSlotsEqualTheirTwin(t *testing.T) {
	limits := rapid.Custom(func(t *rapid.T) queue.Limit {
		return queue.Limit{Stated: rapid.Bool().Draw(t, "stated"), Most: rapid.Int64Range(0, 3).Draw(t, "most")}
	})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) queue.Limit { return limits.Draw(t, name) }
		qs := tree(draw("root"), draw("a"), draw("x"), draw("y"), draw("b"))
		s := Slots{Counts: rapid.SampledFrom([]Counts{Running, Entered}).Draw(t, "counts"), PerUser: draw("per user")}
		qs["x"].PerUser = draw("per user in x")
		var all []*Application
		runs := map[*Application]bool{} // the twin's
		fits := func(a *Application) bool {
			ofUser, inLeaf := int64(1), int64(1)
			for o := range runs {
				if o.User == a.User {
					ofUser++
				}
				if o.User == a.User && o.Leaf == a.Leaf {
					inLeaf++
				}
			}
			if s.Counts == Running && !s.PerUser.Admits(ofUser) || s.Counts == Entered && !a.Leaf.PerUser.Admits(inLeaf) {
				return false
			}
			if a.Leaf.Stop.Since != 0 && a.Submitted >= a.Leaf.Stop.Since {
				return false
			}
			for q := a.Leaf; q != nil; q = q.Parent {
				n := int64(1)
				for o := range runs {
					for up := o.Leaf; up != nil; up = up.Parent {
						if up == q {
							n++
						}
					}
				}
				if !q.Most.Admits(n) {
					return false
				}
			}
			return true
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			user, submitted := rapid.SampledFrom([]string{"u", "v"}).Draw(t, "user"), rapid.Int64Range(0, 9).Draw(t, "submitted")
			op := rapid.IntRange(0, 6).Draw(t, "step")
			if op < 2 || len(all) == 0 {
				a := &Application{Leaf: qs[rapid.SampledFrom([]string{"x", "y", "b"}).Draw(t, "leaf")], Name: fmt.Sprint("app", i), User: user, Submitted: submitted}
				all = append(all, a)
				if _, fits := s.Fits(a.Leaf, a.User, a.Submitted, Open); fits {
					s.Start(a)
				} else {
					s.Wait(a)
				}
			} else {
				at := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				a := all[at]
				switch op {
				case 2, 3: // it ends, or gives up waiting
					all = slices.Delete(all, at, at+1)
					delete(runs, a)
					if a.Runs {
						s.HandOn(s.End(a))
					} else {
						s.Leave(a)
					}
				case 4:
					if s.Change(a, user, submitted) || a.Leaf.Stop.Since != 0 { // as the ledger does
						s.Admit(Open)
					}
				case 5:
					qs["a"].Most = draw("a")
					s.Admit(Open)
				case 6: // it is stopped since then, or starts
					qs["x"].Stop.Since = rapid.Int64Range(0, 9).Draw(t, "stop")
					s.Admit(Open)
				}
			}
			for _, a := range slices.SortedFunc(slices.Values(all), Compare) {
				if !runs[a] && fits(a) {
					runs[a] = true
				}
			}
			for _, a := range all {
				if a.Runs != runs[a] || a.Runs == a.Waits {
					t.Fatalf("%s runs %v and waits %v, the twin says %v", a.Name, a.Runs, a.Waits, runs[a])
				}
			}
		}
	})
}
