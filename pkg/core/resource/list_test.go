package resource_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	gi  int64         = 1 << 30
	gpu resource.Name = "nvidia.com/gpu"
)

// list takes cpu in milli-cores and memory in bytes; nothing else is left out.
func list(cpu, memory int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory})
}

func only(n resource.Name, v int64) resource.List {
	return resource.Of(resource.Entry{Name: n, Value: v})
}

// lists draws lists over few names, so that two of them overlap often.
func lists() *rapid.Generator[resource.List] {
	return rapid.Map(rapid.SliceOfN(entries(), 0, 5), func(es []resource.Entry) resource.List { return resource.Of(es...) })
}

func entries() *rapid.Generator[resource.Entry] {
	return rapid.Custom(func(t *rapid.T) resource.Entry {
		return resource.Entry{
			Name:  rapid.SampledFrom([]resource.Name{"a", "b", resource.CPU, resource.Memory, gpu}).Draw(t, "name"),
			Value: amounts().Draw(t, "value"),
		}
	})
}

func TestAListIsSortedAndSumsDuplicates(t *testing.T) {
	l := resource.Of(
		resource.Entry{Name: gpu, Value: 1},
		resource.Entry{Name: resource.CPU, Value: 500},
		resource.Entry{Name: gpu, Value: 2},
	)
	if l.Len() != 2 || l.At(0) != (resource.Entry{Name: resource.CPU, Value: 500}) || l.At(1) != (resource.Entry{Name: gpu, Value: 3}) {
		t.Errorf("got %v", l)
	}
	if got := resource.Of(resource.Entry{Name: "a", Value: math.MaxInt64}, resource.Entry{Name: "a", Value: 1}); got.Get("a") != math.MaxInt64 {
		t.Errorf("duplicates do not saturate: %v", got)
	}
}

func TestAListDoesNotShareItsInput(t *testing.T) {
	in := []resource.Entry{{Name: "b", Value: 2}, {Name: "a", Value: 1}}
	l := resource.Of(in...)
	in[0].Value, in[1].Value = 99, 99
	if l.Get("a") != 1 || l.Get("b") != 2 {
		t.Errorf("the list changed with the slice it was made of: %v", l)
	}
}

func TestListArithmetic(t *testing.T) {
	pod, queue := list(1500, 2*gi), resource.Of(
		resource.Entry{Name: resource.CPU, Value: 4000}, resource.Entry{Name: gpu, Value: 2})
	for name, c := range map[string]struct{ got, want resource.List }{
		"add takes the resources of both": {
			pod.Add(queue), list(5500, 2*gi).Add(only(gpu, 2))},
		"sub may go below zero": {
			pod.Sub(queue), list(-2500, 2*gi).Add(only(gpu, -2))},
		"min reads an absent amount as 0": {
			pod.Min(queue), list(1500, 0)},
		"max takes the larger": {
			pod.Max(queue), list(4000, 2*gi).Add(only(gpu, 2))},
		"a cap that is absent is no cap": {
			pod.CapBy(only(resource.CPU, 1000)), list(1000, 2*gi)},
		"a cap adds nothing": {
			pod.CapBy(only(gpu, 7)), pod},
		"an empty list adds nothing": {
			pod.Add(resource.List{}), pod},
		"add saturates": {
			only(gpu, math.MaxInt64).Add(only(gpu, 1)), only(gpu, resource.Unlimited)},
	} {
		t.Run(name, func(t *testing.T) {
			if !c.got.Equal(c.want) {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		})
	}
}

func TestListQuestions(t *testing.T) {
	for name, c := range map[string]struct{ got, want bool }{
		"an empty list is zero":                         {resource.List{}.IsZero(), true},
		"a list of zeros is zero":                       {list(0, 0).IsZero(), true},
		"one byte is not zero":                          {list(0, 1).IsZero(), false},
		"an absent amount equals 0":                     {only(resource.CPU, 5).Equal(list(5, 0)), true},
		"an absent amount does not equal 1":             {only(resource.CPU, 5).Equal(list(5, 1)), false},
		"a pod fits into exactly its size":              {list(5, 5).Fits(list(5, 5)), true},
		"a pod does not fit into one less":              {list(5, 5).Fits(list(5, 4)), false},
		"what asks for a resource needs it to be there": {only(gpu, 1).Fits(list(5, 5)), false},
		"asking for 0 of it does not":                   {only(gpu, 0).Fits(list(5, 5)), true},
		"nothing fits into nothing":                     {resource.List{}.Fits(resource.List{}), true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %t, want %t", c.got, c.want)
			}
		})
	}
	if v, ok := list(5, 0).Lookup(resource.Memory); v != 0 || !ok {
		t.Error("a stated 0 is not absent")
	}
	if _, ok := list(5, 0).Lookup(gpu); ok {
		t.Error("an absent amount is found")
	}
}

// The twin is a map, with absent as 0 for free.
func asMap(l resource.List) map[resource.Name]int64 {
	out := map[resource.Name]int64{}
	for i := range l.Len() {
		out[l.At(i).Name] = l.At(i).Value
	}
	return out
}

func TestListsBehaveLikeMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := lists().Draw(t, "a"), lists().Draw(t, "b")
		x, y := asMap(a), asMap(b)
		names := map[resource.Name]bool{}
		for n := range x {
			names[n] = true
		}
		for n := range y {
			names[n] = true
		}
		equal, fits := true, true
		for n := range names {
			equal = equal && x[n] == y[n]
			if v, stated := x[n]; stated {
				fits = fits && v <= y[n]
			}
			limited := x[n]
			if limit, ok := y[n]; ok {
				limited = min(limited, limit)
			}
			if _, stated := x[n]; !stated {
				limited = 0 // a cap adds nothing
			}
			for what, c := range map[string]struct{ got, want int64 }{
				"Get":   {a.Get(n), x[n]},
				"Add":   {a.Add(b).Get(n), resource.SatAdd(x[n], y[n])},
				"Sub":   {a.Sub(b).Get(n), resource.SatSub(x[n], y[n])},
				"Min":   {a.Min(b).Get(n), min(x[n], y[n])},
				"Max":   {a.Max(b).Get(n), max(x[n], y[n])},
				"CapBy": {a.CapBy(b).Get(n), limited},
			} {
				if c.got != c.want {
					t.Fatalf("%s of %s: got %d, want %d", what, n, c.got, c.want)
				}
			}
		}
		if a.Equal(b) != equal || a.Fits(b) != fits {
			t.Fatalf("Equal %t, want %t; Fits %t, want %t", a.Equal(b), equal, a.Fits(b), fits)
		}
		for _, l := range []resource.List{a.Add(b), a.Sub(b), a.Min(b), a.Max(b), a.CapBy(b)} {
			for i := 1; i < l.Len(); i++ {
				if l.At(i-1).Name >= l.At(i).Name {
					t.Fatalf("not sorted, or a name twice: %v", l)
				}
			}
		}
		if !a.Equal(resource.Of(fromMap(x)...)) || !b.Equal(resource.Of(fromMap(y)...)) {
			t.Fatal("an operation changed its operand")
		}
	})
}

func fromMap(m map[resource.Name]int64) []resource.Entry {
	var out []resource.Entry
	for n, v := range m {
		out = append(out, resource.Entry{Name: n, Value: v})
	}
	return out
}
