package reservation_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// sized is so many cores and Gi.
func sized(cpu, memory int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000}, resource.Entry{Name: resource.Memory, Value: memory << 30})
}

// Of 20 cores and 80Gi, what is left has at most 4Gi for each core, or a core for each 4Gi.
func TestInProportion(t *testing.T) {
	p := reservation.Plan{Capacity: sized(20, 80)}
	for name, tc := range map[string]struct {
		have []resource.List
		want string
	}{
		"nothing":                    {nil, ""},
		"in a gap":                   {[]resource.List{{}}, "()"},
		"in proportion":              {[]resource.List{sized(5, 20)}, "(cpu=5 memory=20Gi)"},
		"few memory: 11 of 20 left":  {[]resource.List{sized(9, 9)}, "(cpu=9 memory=36Gi)"},
		"cores only":                 {[]resource.List{cpus(20)}, "(cpu=20 memory=80Gi)"},
		"much memory: 20 of 80 left": {[]resource.List{sized(2, 60)}, "(cpu=15 memory=60Gi)"},
		"two, 20Gi more as 8 to 2":   {[]resource.List{sized(8, 8), sized(2, 12)}, "(cpu=8 memory=24Gi) (cpu=2 memory=16Gi)"},
		"one has none of it":         {[]resource.List{sized(10, 8), sized(0, 12)}, "(cpu=10 memory=28Gi) (cpu=0 memory=12Gi)"},
		"more than there is":         {[]resource.List{sized(25, 10)}, "(cpu=25 memory=80Gi)"},
	} {
		t.Run(name, func(t *testing.T) {
			var gs []reservation.Guarantee
			for _, l := range tc.have {
				gs = append(gs, reservation.Guarantee{Amounts: l})
			}
			var got []string
			for _, g := range p.InProportion(gs) {
				got = append(got, "("+g.Amounts.String()+")")
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("%s, want %s", text, tc.want)
			}
		})
	}
}

// Nobody gets less, all together no more than there is, and of no resource is a larger part left than of the one of which the smallest part was left before.
func TestInProportionForAnyAmounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, most int64) resource.List {
			var entries []resource.Entry
			for _, name := range []resource.Name{"a", "b", "c"} {
				entries = append(entries, resource.Entry{Name: name, Value: rapid.Int64Range(0, most).Draw(t, what)})
			}
			return resource.Of(entries...)
		}
		p := reservation.Plan{Capacity: draw("capacity", 1<<40)}
		gs := make([]reservation.Guarantee, rapid.IntRange(0, 4).Draw(t, "reservations"))
		var before, after resource.List
		for i := range gs {
			gs[i].Amounts = draw("amount", 1<<38).Min(p.Capacity.Sub(before))
			before = before.Add(gs[i].Amounts)
		}
		for i, g := range p.InProportion(gs) {
			if !gs[i].Amounts.Fits(g.Amounts) {
				t.Fatalf("%s became %s", gs[i].Amounts, g.Amounts)
			}
			after = after.Add(g.Amounts)
		}
		if !after.Fits(p.Capacity) {
			t.Fatalf("%s of %s", after, p.Capacity)
		}
		least := [2]int64{1, 1}
		for i := range p.Capacity.Len() {
			if e := p.Capacity.At(i); e.Value > 0 && resource.CompareFractions(e.Value-before.Get(e.Name), e.Value, least[0], least[1]) < 0 {
				least = [2]int64{e.Value - before.Get(e.Name), e.Value}
			}
		}
		for i := range p.Capacity.Len() {
			e := p.Capacity.At(i)
			if left := e.Value - after.Get(e.Name); e.Value > 0 && !before.IsZero() && resource.CompareFractions(left, e.Value, least[0], least[1]) > 0 {
				t.Fatalf("%d of %d %s are left, of another %v", left, e.Value, e.Name, least)
			}
		}
	})
}

// Room is made early for whole pods: of all resources the same part.
func TestEarlyRoomIsInProportion(t *testing.T) {
	p := reservation.Plan{Capacity: sized(10, 40), Policy: reservation.DefaultPolicy()}
	p, _ = p.Submit(0, "a", "ann", one(sized(8, 8), 0, 200, 100))
	p, _ = p.Submit(0, "b", "bob", one(sized(8, 16), 0, 300, 100))
	if got := guarantees(p, 180, 20); got != "a(cpu=8 memory=8Gi) b(cpu=2 memory=4Gi)" { // 2 cores are free, a quarter of what b is to have
		t.Error(got)
	}
}
