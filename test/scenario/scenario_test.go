package scenario_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/fairway-scheduler/fairway/test/scenario"
)

const files = "../scenarios"

// Each block of a file is a list of statements and what they print. After a change of
// a rule, run this test with -rewrite and read the difference.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, files, func(t *testing.T, path string) {
		w := scenario.New()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return w.Run(d.FullCmd() + "\n" + d.Input)
		})
	})
}

// A scenario is read by people first: it begins with two lines that say what the rule
// is, and no statement in it fails to be understood.
func TestScenariosBeginWithProse(t *testing.T) {
	entries, err := os.ReadDir(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(files + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(string(text), "\n", 3)
		if len(lines) < 3 || !strings.HasPrefix(lines[0], "# ") || !strings.HasPrefix(lines[1], "# ") {
			t.Errorf("%s does not begin with two lines of prose", e.Name())
		}
		if strings.Contains(string(text), "\ncannot run ") {
			t.Errorf("%s has a statement that cannot be run", e.Name())
		}
	}
}
