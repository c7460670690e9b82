package report

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const gi = int64(1) << 30

func of(cores, gib int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000}, resource.Entry{Name: resource.Memory, Value: gib * gi})
}

// The worlds that the golden files show.
var worlds = map[string][]Queue{
	"scenario-a": {
		{Name: "root", Weight: 1000, SteadyFairShare: of(200, 800), FairShare: of(200, 800), Allocated: of(200, 800), Demand: of(320, 1280), Pending: 60, Running: 100, ApplicationsRunning: 16},
		{Name: "root.busy", Weight: 1000, SteadyFairShare: of(50, 200), FairShare: of(50, 200), Allocated: of(180, 720), Demand: of(300, 1200), Pending: 60, Running: 90, ApplicationsRunning: 11},
		{Name: "root.default"},
		{Name: "root.sometimes-busy", Weight: 3000, SteadyFairShare: of(150, 600), FairShare: of(150, 600), Allocated: of(20, 80), Demand: of(20, 80), Running: 10, ApplicationsRunning: 5},
	},
	"scenario-b": {
		{Name: "root", Weight: 1000, SteadyFairShare: of(200, 800), FairShare: of(200, 800), Allocated: of(200, 800), Demand: of(520, 2080), Pending: 160, Running: 100, ApplicationsRunning: 20},
		{Name: "root.busy", Weight: 1000, SteadyFairShare: of(50, 200), FairShare: of(50, 200), Allocated: of(50, 200), Demand: of(170, 680), Pending: 60, Running: 25, ApplicationsRunning: 6},
		{Name: "root.default"},
		{Name: "root.sometimes-busy", Weight: 3000, SteadyFairShare: of(150, 600), FairShare: of(150, 600), Allocated: of(150, 600), Demand: of(350, 1400), Pending: 100, Running: 75, ApplicationsRunning: 14},
	},
	"large": {
		{Name: "root", Weight: 1000, SteadyFairShare: of(96000, 786432), FairShare: of(96000, 786432), Allocated: of(12345, 100000), Demand: of(12345, 100000), Pending: 123456, Running: 98765, ApplicationsRunning: 4321},
		{Name: "root.analytics.adhoc.marketing-and-sales.quarterly-reports", Weight: 125, SteadyFairShare: of(1, 2), Allocated: resource.Of(resource.Entry{Name: resource.CPU, Value: 1500}, resource.Entry{Name: resource.Memory, Value: 3 * gi / 2}, resource.Entry{Name: "example.com/gpu", Value: 8})},
	},
}

func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var world string
			var width int
			d.ScanArgs(t, "world", &world)
			d.ScanArgs(t, "width", &width)
			style := Style{ASCII: d.HasArg("ascii"), Color: d.HasArg("color")}
			var lines []string
			switch d.Cmd {
			case "queues":
				lines = Queues(worlds[world]).Lines(width, style)
			case "bars":
				var bars []Bar
				for _, q := range worlds[world][1:] {
					bars = append(bars, QueueBar(q, worlds[world][0].SteadyFairShare))
				}
				lines = Bars(bars, width, style)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			if !style.Color {
				checkWidth(t, lines, width)
			}
			// The escape character would be invisible in the file.
			return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", `\e`)
		})
	})
}

func checkWidth(t *testing.T, lines []string, width int) {
	t.Helper()
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); width > 0 && n > width {
			t.Errorf("%d characters, at most %d: %q", n, width, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}

func TestEveryWidth(t *testing.T) {
	for name, world := range worlds {
		for width := 1; width <= 220; width++ {
			for _, style := range []Style{{}, {ASCII: true}} {
				lines := Queues(world).Lines(width, style)
				if len(lines) != len(world)+1 {
					t.Fatalf("%s at %d: %d lines", name, width, len(lines))
				}
				checkWidth(t, lines, width)
				checkWidth(t, Bars([]Bar{QueueBar(world[1], world[0].SteadyFairShare)}, width, style), width)
			}
		}
	}
}

func TestWiderShowsNoLess(t *testing.T) {
	for name, world := range worlds {
		before := 0
		for width := 20; width <= 220; width++ {
			columns, _ := Queues(world).fit(width)
			if len(columns) < before {
				t.Errorf("%s at %d: %d columns, %d at the width before", name, width, len(columns), before)
			}
			before = len(columns)
		}
	}
}

func TestThePathsEndIsKept(t *testing.T) {
	lines := Queues(worlds["large"]).Lines(40, Style{})
	if !strings.Contains(lines[2], "…") || !strings.Contains(lines[2], "reports ") {
		t.Errorf("got %q", lines[2])
	}
}

func TestAmounts(t *testing.T) {
	gpu := resource.Entry{Name: "example.com/gpu", Value: 8}
	for _, c := range []struct {
		in   resource.List
		want string
	}{
		{resource.List{}, "0"},
		{of(50, 200), "50c 200Gi"},
		{of(0, 1), "0c 1Gi"},
		{of(1, 0), "1c 0"},
		{of(25_000, 1<<20), "25kc 1Pi"},
		{resource.Of(resource.Entry{Name: resource.CPU, Value: 12_599}), "12.5c 0"},
		{resource.Of(resource.Entry{Name: resource.CPU, Value: 20}), "0.02c 0"},
		{resource.Of(resource.Entry{Name: resource.CPU, Value: 64_000}, resource.Entry{Name: resource.Memory, Value: 1536 * gi}, gpu), "64c 1.5Ti 8gpu"},
		{resource.Of(resource.Entry{Name: resource.CPU, Value: -1000}), "0c 0"},
		{resource.Of(resource.Entry{Name: resource.Memory, Value: resource.Unlimited}), "0c 7.9Ei"},
	} {
		if got := Amounts(c.in); got != c.want {
			t.Errorf("Amounts(%s) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestThousandths(t *testing.T) {
	for _, c := range []struct {
		about    string
		l, total resource.List
		want     int64
	}{
		{"the dominant resource", of(10, 400), of(200, 800), 500},
		{"rounded down", of(1, 0), of(3, 0), 333},
		{"nothing of nothing", resource.List{}, resource.List{}, 0},
		{"something of nothing", of(1, 1), resource.List{}, 0},
		{"more than the whole", of(3, 0), of(2, 0), 1000},
		{"amounts beyond 2^53", resource.Of(resource.Entry{Name: resource.Memory, Value: resource.Unlimited / 2}), resource.Of(resource.Entry{Name: resource.Memory, Value: resource.Unlimited}), 499},
	} {
		if got := thousandths(c.l, c.total); got != c.want {
			t.Errorf("%s: got %d, want %d", c.about, got, c.want)
		}
	}
}

// The columns of kubectl have 11 characters for amounts without devices.
func TestAmountsAreShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpu := rapid.Int64Range(0, 1_000_000_000).Draw(t, "cpu")
		memory := rapid.Int64Range(0, 999<<50).Draw(t, "memory")
		s := Amounts(resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory}))
		if len(s) > 11 {
			t.Fatalf("%q has %d characters", s, len(s))
		}
		Amounts(resource.Of( // what arithmetic may produce must not panic
			resource.Entry{Name: resource.CPU, Value: rapid.Int64().Draw(t, "any cpu")},
			resource.Entry{Name: resource.Memory, Value: rapid.SampledFrom([]int64{math.MinInt64, -1, math.MaxInt64}).Draw(t, "any memory")},
		))
	})
}
