package locality

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestWhichLevelAPodAccepts(t *testing.T) {
	nodes, racks, both, neither := Names{Nodes: true}, Names{Racks: true}, Names{true, true}, Names{}
	for _, c := range []struct {
		name   string
		missed Missed
		delay  Delay
		has    Names
		want   Level
		until  int32
	}{
		{"nothing is missed yet", 0, Delay{40, -1}, nodes, Node, 40},
		{"the last one that it declines", 39, Delay{40, -1}, nodes, Node, 40},
		{"after as many as the delay, any node", 40, Delay{40, -1}, nodes, Any, 0},
		{"after its nodes, its rack", 40, Delay{40, 10}, both, Rack, 50},
		{"the last one that it declines for its rack", 49, Delay{40, 10}, both, Rack, 50},
		{"after its rack, any node", 50, Delay{40, 10}, both, Any, 0},
		{"the delay for racks is off", 40, Delay{40, -1}, both, Any, 0},
		{"no delay for racks is as off", 40, Delay{40, 0}, both, Any, 0},
		{"a pod without a rack skips it", 40, Delay{40, 10}, nodes, Any, 0},
		{"a pod that names racks alone begins with them", 0, Delay{40, 10}, racks, Rack, 10},
		{"and waits for them no longer than the delay for racks", 10, Delay{40, 10}, racks, Any, 0},
		{"racks alone, and their delay is off", 0, Delay{40, -1}, racks, Any, 0},
		{"a pod that may use none of what it names", 0, Delay{40, 10}, neither, Any, 0},
		{"the delay is off", 0, Delay{-1, -1}, both, Any, 0},
		{"only that for nodes is off", 0, Delay{-1, 5}, both, Rack, 5},
	} {
		if got, until := c.missed.Accepted(c.delay, c.has), c.missed.Until(c.delay, c.has); got != c.want || until != c.until {
			t.Errorf("%s: %v until %d, want %v until %d", c.name, got, until, c.want, c.until)
		}
	}
}

func TestADelayIsAtMostTheNumberOfNodes(t *testing.T) {
	for _, c := range []struct {
		delay Delay
		nodes int
		want  Delay
	}{
		{Delay{40, -1}, 100, Delay{40, 0}},
		{Delay{40, -1}, 3, Delay{3, 0}},
		{Delay{40, 10}, 45, Delay{40, 5}}, // both together
		{Delay{40, 10}, 40, Delay{40, 0}},
		{Delay{-1, -1}, 9, Delay{0, 0}},
		{Delay{-1, 20}, 9, Delay{0, 9}},
		{Delay{40, 10}, 0, Delay{0, 0}},
		{Delay{math.MaxInt32, math.MaxInt32}, 7, Delay{7, 0}},
	} {
		if got := c.delay.Within(c.nodes); got != c.want {
			t.Errorf("%v on %d nodes: %v, want %v", c.delay, c.nodes, got, c.want)
		}
	}
}

func TestWhatCounts(t *testing.T) {
	for _, c := range []struct {
		missed Missed
		o      Opportunity
		want   Missed
	}{
		{0, Declined, 1}, {39, Declined, 40}, {math.MaxInt32, Declined, math.MaxInt32},
		{7, Preferred, 0}, {0, Preferred, 0},
		{40, Elsewhere, 40}, {3, Elsewhere, 3},
	} {
		if got := c.missed.Next(c.o); got != c.want {
			t.Errorf("%d after %d: %d, want %d", c.missed, c.o, got, c.want)
		}
	}
}

// The dumb twin keeps the whole history, and offers a pod one opportunity after the other.
func TestEqualsTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Delay{rapid.Int32Range(-1, 5).Draw(t, "node"), rapid.Int32Range(-1, 5).Draw(t, "rack")}.Within(rapid.IntRange(0, 12).Draw(t, "nodes"))
		has := Names{rapid.Bool().Draw(t, "has nodes"), rapid.Bool().Draw(t, "has racks")}
		var history []Opportunity
		var missed Missed
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			o := Opportunity(rapid.IntRange(0, 2).Draw(t, "what"))
			history, missed = append(history, o), missed.Next(o)
			if got, want := missed.Accepted(d, has), accepted(history, d, has); got != want {
				t.Fatalf("after %v with %v and %v: %v, want %v", history, d, has, got, want)
			}
		}
	})
}

func accepted(history []Opportunity, d Delay, has Names) Level {
	var left []Level // what it declines, opportunity by opportunity
	for range d.Node {
		if has.Nodes {
			left = append(left, Node)
		}
	}
	for range d.Rack {
		if has.Racks {
			left = append(left, Rack)
		}
	}
	for i := len(history) - 1; i >= 0 && history[i] != Preferred; i-- {
		if history[i] == Declined && len(left) > 0 {
			left = left[1:]
		}
	}
	if len(left) == 0 {
		return Any
	}
	return left[0]
}
