package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// With the calculator Memory, a bar shows memory alone, and the tree says so. A queue that is not in force has no calculator.
func TestTheCalculatorIsShown(t *testing.T) {
	for _, c := range []struct {
		calculator queue.Calculator
		held       int64
		says       bool
	}{
		{queue.DominantCalculator, 900, false},
		{queue.MemoryCalculator, 250, true},
	} {
		q := Queue{Name: "root", Policy: "Fair", Calculator: c.calculator, Allocated: of(180, 200)}
		if got := QueueBar(q, of(200, 800)).Held; got != c.held {
			t.Errorf("%s: the bar shows %d, want %d thousandths", c.calculator, got, c.held)
		}
		tree := Tree{Cluster: of(200, 800), Queues: []Queue{q, {Name: "root.not-in-force"}}}
		lines := strings.Join(tree.Lines(Layout{}), "\n")
		if strings.Contains(lines, "\n\nCalculator:\n  "+memoryText) != c.says {
			t.Errorf("%s:\n%s", c.calculator, lines)
		}
		var read struct {
			Queues []struct{ ResourceCalculator *string }
		}
		text, err := json.Marshal(tree)
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		if *read.Queues[0].ResourceCalculator != c.calculator.String() || *read.Queues[1].ResourceCalculator != "" {
			t.Errorf("%s: %s", c.calculator, text)
		}
	}
}
