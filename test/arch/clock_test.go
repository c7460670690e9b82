package arch

import (
	"go/ast"
	"slices"
)

func clockLaws() []law {
	return []law{{name: "floors 1 and 2 read no clock", check: checkClock, samples: clockSamples}}
}

// What of package time reads or waits for the wall clock. Durations and
// formatting are values and stay allowed.
var clockFunctions = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

// checkClock looks for uses, not calls: `now := time.Now` would hide one.
func checkClock(tr *tree) []string {
	var violations []string
	for _, f := range tr.code() {
		home, ok := floorOf(f.dir)
		clock := importedAs(f, "time")
		if !ok || home.number < 1 || home.number > 2 || clock == "" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(clockFunctions, selector.Sel.Name) {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && x.Name == clock {
				violations = append(violations,
					tr.at(n.Pos())+": uses time."+selector.Sel.Name+": the clock is a value that the caller hands in, else nothing can be replayed")
			}
			return true
		})
	}
	return violations
}

var clockSamples = []sample{
	{
		about: "the ledger asks for the time",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nimport \"time\"\nvar started = time.Now()\n"},
		want:  "pkg/ledger/a.go:3: uses time.Now",
	},
	{
		about: "the simulator asks for the time",
		files: map[string]string{"test/simulator/a.go": "package simulator\nimport \"time\"\nvar started = time.Now()\n"},
		want:  "test/simulator/a.go:3: uses time.Now",
	},
	{
		about: "under another name, not called",
		files: map[string]string{"pkg/core/limit/a.go": "package limit\nimport t \"time\"\nvar now = t.Now\n"},
		want:  "uses time.Now",
	},
	{
		about: "a duration, a test, and an adapter's clock",
		files: map[string]string{
			"pkg/dispatch/a.go":      "package dispatch\nimport \"time\"\nconst backOff = 5 * time.Second\n",
			"pkg/dispatch/a_test.go": "package dispatch\nimport \"time\"\nvar started = time.Now()\n",
			"pkg/plugin/a.go":        "package plugin\nimport \"time\"\nvar started = time.Now()\n",
		},
	},
}
