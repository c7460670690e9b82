package ledger

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// nodesTwin keeps what was observed, and adds everything up again for every question.
type nodesTwin struct {
	nodes   map[string]Node
	foreign map[UID]Pod
	bound   map[*record]bool
	assumed map[*record]string
}

// total is what usable nodes allow, less foreign pods there, never below nothing, plus what our pods use on other nodes.
func (w *nodesTwin) total() resource.List {
	var sum resource.Sum
	for _, n := range w.nodes {
		if !n.Usable {
			continue
		}
		left := n.Allocatable
		for _, p := range w.foreign {
			if p.Node == n.Name {
				left = left.Sub(p.Request)
			}
		}
		sum.Add(left.Max(resource.List{}))
	}
	for r := range w.bound {
		if !w.nodes[r.Node].Usable {
			sum.Add(r.Request)
		}
	}
	return sum.List()
}

// hasRoom: some usable node takes one more pod of this size.
func (w *nodesTwin) hasRoom(request resource.List) bool {
	for _, n := range w.nodes {
		left, pods := n.Allocatable.Sub(request), 1
		for _, p := range w.foreign {
			if p.Node == n.Name {
				left, pods = left.Sub(p.Request), pods+1
			}
		}
		for r, name := range w.assumed {
			if name == n.Name {
				left, pods = left.Sub(r.Request), pods+1
			}
		}
		if n.Usable && left.Equal(left.Max(resource.List{})) && (n.Pods == 0 || pods <= n.Pods) {
			return true
		}
	}
	return false
}

func TestNodesAddUpAndEveryClassFindsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newNodeTable()
		twin := nodesTwin{map[string]Node{}, map[UID]Pod{}, map[*record]bool{}, map[*record]string{}}
		name := func() string { return fmt.Sprint("n", rapid.IntRange(0, 4).Draw(t, "node")) }
		size := func() resource.List { return amounts(rapid.Int64Range(1, 4).Draw(t, "cpu"), 1) }
		var classes []*class
		var pods []*record
		observed := func(totalMoved bool, before resource.List) {
			if !before.Equal(table.total.List()) && !totalMoved {
				t.Fatalf("the total went from %v to %v, and nobody was told", before, table.total.List())
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"node": func(t *rapid.T) {
				n := Node{Name: name(), Allocatable: amounts(rapid.Int64Range(0, 9).Draw(t, "cpu"), 9), Usable: rapid.Bool().Draw(t, "usable"),
					Pods: rapid.IntRange(0, 3).Draw(t, "pods")}
				before := table.total.List()
				changed, moved := table.observe(n)
				observed(moved, before)
				if again, _ := table.observe(n); again || changed == (twin.nodes[n.Name].Name != "" && fmt.Sprint(twin.nodes[n.Name]) == fmt.Sprint(n)) {
					t.Fatalf("%v after %v: changed is %v, at once again %v", n, twin.nodes[n.Name], changed, again)
				}
				twin.nodes[n.Name] = n
			},
			"node gone": func(t *rapid.T) {
				n, before := name(), table.total.List()
				observed(table.forget(n), before)
				delete(twin.nodes, n)
			},
			"foreign": func(t *rapid.T) {
				p, before := Pod{UID: UID(name()), Node: name(), Request: size()}, table.total.List()
				observed(table.observeForeign(p), before)
				twin.foreign[p.UID] = p
			},
			"foreign gone": func(t *rapid.T) {
				uid, before := UID(name()), table.total.List()
				observed(table.forgetForeign(uid), before)
				delete(twin.foreign, uid)
			},
			"class": func(*rapid.T) {
				c := &class{room: room{request: size()}}
				classes = append(classes, c)
				table.watch(&c.room)
			},
			"class gone": func(t *rapid.T) {
				if len(classes) > 0 {
					i := rapid.IntRange(0, len(classes)-1).Draw(t, "class")
					table.unwatch(&classes[i].room)
					classes = append(classes[:i], classes[i+1:]...)
				}
			},
			"released": func(t *rapid.T) {
				r := &record{Pod: Pod{Request: size(), Node: name()}, state: Released}
				pods = append(pods, r)
				table.assume(r, table.get(r.Node))
				twin.assumed[r] = r.Node
			},
			"bound": func(t *rapid.T) {
				for _, r := range pods {
					if !twin.bound[r] {
						before := table.total.List()
						r.state = Bound
						observed(table.count(r, 1), before)
						table.assume(r, table.get(r.Node))
						twin.bound[r] = true
						return
					}
				}
			},
			"ended": func(t *rapid.T) {
				if len(pods) == 0 {
					return
				}
				r, before := pods[0], table.total.List()
				pods = pods[1:]
				if twin.bound[r] {
					observed(table.count(r, -1), before)
				}
				r.state = Gone
				table.assume(r, nil)
				delete(twin.bound, r)
				delete(twin.assumed, r)
			},
			"": func(t *rapid.T) {
				if got, want := table.total.List(), twin.total(); !got.Equal(want) {
					t.Fatalf("total %v, added up %v", got, want)
				}
				for _, c := range classes {
					asked, got := table.anyFits(&c.room), table.roomFor(&c.room)
					if want := twin.hasRoom(c.request); asked != want || (got != nil) != want || want && !table.mayFind(&c.room) {
						t.Fatalf("room for %v: asked %v, found %v, want %v", c.request, asked, got, want)
					}
				}
				for n, e := range table.byName {
					if !e.known && e.pods == 0 && e.assumed == 0 {
						t.Fatalf("node %s is gone, and nothing names it", n)
					}
				}
			},
		})
	})
}
