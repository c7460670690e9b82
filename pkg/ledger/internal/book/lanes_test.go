package book

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Classes share a lane only while there are more of them than lanes, and then evenly.
func TestClassesHaveLanesOfTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table LaneTable[int]
		lanes := map[int]Lane{}
		most := rapid.SampledFrom([]int{LaneCount, 2*LaneCount + 5}).Draw(t, "most classes")
		for c := range rapid.IntRange(1, 300).Draw(t, "steps") {
			if oldest := c - most; oldest >= 0 {
				table.Remove(oldest, lanes[oldest])
				delete(lanes, oldest)
			}
			lane := table.Add(c, "any")
			lanes[c] = lane
			for l := range Lane(LaneCount) {
				if len(table.Classes(l)) < len(table.Classes(lane))-1 {
					t.Fatalf("class %d has a lane with %d classes, lane %d has %d", c, len(table.Classes(lane)), l, len(table.Classes(l)))
				}
			}
			for c, lane := range lanes {
				if !slices.Contains(table.Classes(lane), c) {
					t.Fatalf("class %d is not in its lane %d", c, lane)
				}
			}
			if len(lanes) > LaneCount && !table.Shared() {
				t.Fatalf("%d classes, and no lane is shared", len(lanes))
			}
		}
		if most == LaneCount && table.Shared() {
			t.Fatal("a lane is shared, although there was one for each class")
		}
	})
}

// A class shares a lane with one of another kind only where its own kind came when all lanes were taken.
func TestClassesThatShareALaneAreOfOneKind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table LaneTable[int]
		kinds, first := map[int]string{}, map[string]int{}
		for c := range rapid.IntRange(1, 300).Draw(t, "steps") {
			kind := rapid.SampledFrom([]string{"cpu", "cpu", "cpu", "gpu", "fpga"}).Draw(t, "kind")
			if _, known := first[kind]; !known {
				first[kind] = c
			}
			kinds[c] = kind
			for _, o := range table.Classes(table.Add(c, kind)) {
				if kinds[o] != kind && first[kind] < LaneCount && first[kinds[o]] < LaneCount {
					t.Fatalf("class %d of kind %s shares a lane with one of kind %s", c, kind, kinds[o])
				}
			}
		}
	})
}

func TestLanesAreASet(t *testing.T) {
	all := Lanes(0)
	for l := range Lane(LaneCount) {
		if all&l.Set() != 0 {
			t.Errorf("lane %d is in the set of lower ones", l)
		}
		if (l.Set() | 1<<63).First() != l {
			t.Errorf("the first of lanes %d and 63 is %d", l, (l.Set() | 1<<63).First())
		}
		all |= l.Set()
	}
	if all != ^Lanes(0) {
		t.Errorf("all lanes are %b", all)
	}
}
