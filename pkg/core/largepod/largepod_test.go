package largepod_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/largepod"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const second int64 = 1e9

func amounts(cpu, memory int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory})
}

func TestWhichPodsPassALargeOne(t *testing.T) {
	for name, c := range map[string]struct {
		placed, waits resource.List
		want          bool
	}{
		"less of all":                   {amounts(1, 1), amounts(16, 16), true},
		"less of one thing":             {amounts(16, 1), amounts(16, 16), true},
		"an equal pod":                  {amounts(16, 16), amounts(16, 16), false},
		"a larger pod":                  {amounts(20, 16), amounts(16, 16), false},
		"less cpu and more memory":      {amounts(1, 20), amounts(16, 16), false},
		"something that this one lacks": {resource.Of(resource.Entry{Name: "gpu", Value: 1}), amounts(16, 16), false},
		"nothing":                       {resource.List{}, amounts(16, 16), true},
	} {
		if got := largepod.Passes(c.placed, c.waits); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestATenthOfTheNodesMayBeHeld(t *testing.T) {
	for nodes, want := range map[int]int{0: 1, 1: 1, 9: 1, 19: 1, 20: 2, 40: 4, 5000: 500} {
		if got := largepod.MostHeld(nodes); got != want {
			t.Errorf("of %d nodes %d may be held, want %d", nodes, got, want)
		}
	}
}

// Times are seconds after now, of Since before it. All pods ask for 4.
func TestHowANodeComesToHaveRoom(t *testing.T) {
	now := 1000 * second
	ends := func(in int64) largepod.Running {
		return largepod.Running{Request: amounts(4, 4), Since: now - second, Ends: now + in*second}
	}
	runs := func(since int64) largepod.Running {
		return largepod.Running{Request: amounts(4, 4), Since: now - since*second}
	}
	for name, c := range map[string]struct {
		lacks int64
		pods  []largepod.Running
		want  largepod.Drain
		some  bool
	}{
		"nothing is lacking":                    {0, []largepod.Running{ends(10)}, largepod.Drain{At: now}, true},
		"one pod":                               {4, []largepod.Running{ends(10)}, largepod.Drain{At: now + 10*second}, true},
		"too little runs":                       {5, []largepod.Running{ends(10)}, largepod.Drain{At: now + 10*second}, false},
		"two of three, in the order of the end": {8, []largepod.Running{ends(30), ends(10), ends(20)}, largepod.Drain{At: now + 20*second}, true},
		"one is late already":                   {4, []largepod.Running{ends(-5)}, largepod.Drain{At: now}, true},
		"a known end comes first": {8, []largepod.Running{runs(100), ends(20)},
			largepod.Drain{At: now + 20*second, Unknown: 1, Since: now - 100*second}, true},
		"of unknown ones the oldest first": {8, []largepod.Running{runs(10), runs(300), runs(20)}, largepod.Drain{At: now, Unknown: 2, Since: now - 20*second}, true},
		"one ends too late":                {8, []largepod.Running{ends(10), ends(301)}, largepod.Drain{At: now + 10*second}, false},
		"just soon enough":                 {8, []largepod.Running{ends(10), ends(300)}, largepod.Drain{At: now + 300*second}, true},
	} {
		if got, some := largepod.DrainOf(amounts(c.lacks, 0), c.pods, now); got != c.want || some != c.some {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, some, c.want, c.some)
		}
	}
}

func TestWhichNodeHasRoomFirst(t *testing.T) {
	inOrder := []largepod.Drain{
		{At: 5},
		{At: 100},
		{At: 10, Unknown: 2, Since: 5},
		{At: 50, Unknown: 1, Since: 10},
		{At: 10, Unknown: 1, Since: 20},
		{At: 30, Unknown: 1, Since: 20},
		{At: 10, Unknown: 2, Since: 20},
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%+v against %+v: %d", a, b, got)
			}
		}
	}
}

// The twin tries one moment after the other, and adds up from the start what has ended by then.
func twin(lacks resource.List, pods []largepod.Running, now int64) (largepod.Drain, bool) {
	endedBy := func(at int64) (sum resource.List) {
		for _, p := range pods {
			if p.Ends != 0 && p.Ends <= at {
				sum = sum.Add(p.Request)
			}
		}
		return sum
	}
	last := now
	for at := now; at <= now+largepod.LongestUseful; at += second {
		if !endedBy(at).Equal(endedBy(last)) {
			last = at
		}
		if lacks.Fits(endedBy(at)) {
			return largepod.Drain{At: at}, true
		}
	}
	var since []int64
	for _, p := range pods {
		if p.Ends == 0 {
			since = append(since, p.Since)
		}
	}
	slices.Sort(since)
	for n := 1; n <= len(since); n++ {
		sum := endedBy(now + largepod.LongestUseful)
		for _, p := range pods {
			if p.Ends == 0 && p.Since <= since[n-1] {
				sum = sum.Add(p.Request)
			}
		}
		if lacks.Fits(sum) {
			return largepod.Drain{At: last, Unknown: n, Since: since[n-1]}, true
		}
	}
	return largepod.Drain{}, false
}

func TestDrainOfEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := 1000 * second
		var pods []largepod.Running
		for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
			p := largepod.Running{Request: amounts(rapid.Int64Range(1, 6).Draw(t, "cpu"), rapid.Int64Range(0, 6).Draw(t, "memory"))}
			p.Since = now - rapid.Int64Range(0, 50).Draw(t, "since")*100 - int64(i) // no two are equally old
			if rapid.Bool().Draw(t, "known") {
				p.Ends = now + rapid.Int64Range(-3, 400).Draw(t, "ends")*second
			}
			pods = append(pods, p)
		}
		lacks := amounts(rapid.Int64Range(0, 20).Draw(t, "lacks cpu"), rapid.Int64Range(0, 20).Draw(t, "lacks memory"))
		want, some := twin(lacks, pods, now)
		if got, ok := largepod.DrainOf(lacks, pods, now); ok != some || ok && got != want {
			t.Fatalf("lacks %v, pods %+v: %+v, %v; want %+v, %v", lacks, pods, got, ok, want, some)
		}
	})
}
