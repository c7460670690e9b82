package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// The floors of the house. A package may import its own floor and the floors
// from lowest up to it, and of the world outside what its floor admits.
// A package that is on no floor is a violation: place it before filling it.
// Where two floors name a folder, the first counts: the drivers under test/ keep
// the laws of what they drive.
type floor struct {
	number  int
	folders []string
	lowest  int // the lowest of our floors it may import
	outside func(pkg string) string
}

var floors = []floor{
	{0, []string{"manifests", "pkg/apis"}, 0, wireTypes},
	{1, []string{"pkg/core"}, 1, rules},
	{2, []string{"pkg/ledger", "pkg/dispatch", "pkg/picture", "pkg/console/history", "pkg/console/view", "pkg/report", "pkg/reservations", "pkg/yarn", "test/fingerprint", "test/scenario", "test/simulator"}, 1, noKubernetes},
	{3, []string{"pkg/plugin", "pkg/turnstile", "pkg/controllers", "pkg/kube", "pkg/metrics"}, 0, noScheduler},
	{4, []string{"pkg/app", "pkg/cli", "pkg/console", "pkg/demo", "pkg/localcluster", "pkg/tty", "pkg/world"}, 0, noKubernetes},
	{5, []string{"cmd"}, 0, noKubernetes},
	{6, []string{"test", "hack/promql", "hack/operators", "hack/progress"}, 0, anything},
}

// An exception lets the packages in folder import what starts with imports,
// against the law of their floor. One that nobody uses any more is a violation.
type exception struct {
	folder, imports, reason string
}

var exceptions = []exception{
	{"pkg/apis", "k8s.io/api/core/v1", "ResourceList: users write a queue's amounts as they write a pod's"},
	{"pkg/app", "k8s.io", "the composition: it sets kube-scheduler up as upstream's own command does"},
	{"pkg/plugin", "k8s.io/kubernetes", "PostFilter is upstream's preemption by priority, kept to one leaf queue"},
	{"pkg/localcluster", "k8s.io", "it talks to the control plane that it starts"},
	{"pkg/demo", "k8s.io", "it plays the users of that control plane, and shows what its API says"},
	{"cmd/fairway-scheduler", "k8s.io", "upstream's command line wrapper: flags, logging, exit codes"},
}

// What the standard library offers beyond values and computation. A rule that
// wants one of these wants to be in another room.
var bannedInCore = []struct{ pkg, reason string }{
	{"context", "a rule does not wait, so there is nothing to cancel"},
	{"crypto/rand", "same input, same answer"},
	{"log", "a rule returns its reasons"},
	{"math/rand", "same input, same answer"},
	{"net", "a rule reaches nobody"},
	{"os", "a rule reads nothing but its arguments"},
	{"sync", "values need no lock; the ledger has the one lock"},
	{"syscall", "a rule reads nothing but its arguments"},
	{"unsafe", "values are copied, not reinterpreted"},
}

// Libraries that the tests of floors 0 to 2 may use.
var testLibraries = []string{
	"github.com/cockroachdb/datadriven", "github.com/google/go-cmp", "pgregory.net/rapid",
}

// What lies under a Kubernetes domain and knows nothing of Kubernetes: each imports
// the standard library only.
var notKubernetes = []string{"sigs.k8s.io/yaml", "k8s.io/apimachinery/pkg/util/duration"}

func isStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

func isKubernetes(pkg string) bool {
	within := func(folder string) bool { return under(pkg, folder) }
	return (within("k8s.io") || within("sigs.k8s.io")) && !slices.ContainsFunc(notKubernetes, within)
}

// The outside functions return why a package may not be imported, or "".

func wireTypes(pkg string) string {
	if isStandard(pkg) || under(pkg, "k8s.io/apimachinery") {
		return ""
	}
	return "floor 0 imports the standard library and k8s.io/apimachinery only"
}

func rules(pkg string) string {
	if !isStandard(pkg) {
		return "floor 1 imports the standard library only"
	}
	for _, banned := range bannedInCore {
		if under(pkg, banned.pkg) {
			return "floor 1 does without it: " + banned.reason
		}
	}
	return ""
}

func noKubernetes(pkg string) string {
	if isKubernetes(pkg) {
		return "only floor 3 imports Kubernetes; translate there"
	}
	return ""
}

func noScheduler(pkg string) string {
	if under(pkg, "k8s.io/kubernetes") {
		return "only the packages that an upgrade has to mend import k8s.io/kubernetes"
	}
	return ""
}

func anything(string) string { return "" }

func floorOf(dir string) (floor, bool) {
	for _, f := range floors {
		if slices.ContainsFunc(f.folders, func(folder string) bool { return under(dir, folder) }) {
			return f, true
		}
	}
	return floor{}, false
}

func importLaws() []law {
	return []law{
		{name: "imports only go down", check: checkImports, samples: importSamples},
		{name: "every exception is in use", check: checkExceptions, samples: exceptionSamples},
	}
}

func checkImports(tr *tree) []string {
	var violations []string
	unplaced := map[string]bool{}
	for _, f := range tr.files {
		home, ok := floorOf(f.dir)
		if !ok {
			if !unplaced[f.dir] {
				violations = append(violations, fmt.Sprintf("%s: on no floor; give the package a place in test/arch and docs/architecture.md", f.dir))
			}
			unplaced[f.dir] = true
			continue
		}
		for _, spec := range f.syntax.Imports {
			if why := refusal(f, home, importPath(spec)); why != "" {
				violations = append(violations, fmt.Sprintf("%s: imports %s: %s", tr.at(spec.Pos()), importPath(spec), why))
			}
		}
	}
	return violations
}

// refusal says why f, which lives on home, may not import pkg. Tests from floor
// 3 up may reach anything; below that, a test that needs Kubernetes is a sign
// that the rule is not pure.
func refusal(f *goFile, home floor, pkg string) string {
	if f.test && home.number >= 3 {
		return ""
	}
	if pkg == module || strings.HasPrefix(pkg, module+"/") {
		dir := strings.TrimPrefix(pkg, module+"/")
		if under(dir, "test") && !under(f.dir, "test") && !f.test {
			return "what serves no binary is under test/, and no binary imports it"
		}
		return refusalOfOurs(home, dir)
	}
	if f.test && isAllowedInTests(pkg) {
		return ""
	}
	why := home.outside(pkg)
	if why != "" && slices.ContainsFunc(exceptions, func(e exception) bool { return e.covers(f.dir, pkg) }) {
		return ""
	}
	return why
}

func refusalOfOurs(home floor, dir string) string {
	target, ok := floorOf(dir)
	switch {
	case !ok:
		return "" // reported once, at the package itself
	case target.number > home.number:
		return fmt.Sprintf("floor %d does not import floor %d: imports only go down", home.number, target.number)
	case target.number < home.lowest:
		return fmt.Sprintf("floor %d does not import floor %d: pkg/kube/convert translates wire types", home.number, target.number)
	}
	return ""
}

func isAllowedInTests(pkg string) bool {
	return isStandard(pkg) || slices.ContainsFunc(testLibraries, func(library string) bool { return under(pkg, library) })
}

func (e exception) covers(dir, pkg string) bool {
	return under(dir, e.folder) && under(pkg, e.imports)
}

// checkExceptions looks only at folders that exist: the table may name a room
// before somebody moves in.
func checkExceptions(tr *tree) []string {
	var violations []string
	for _, e := range exceptions {
		exists, used := false, false
		for _, f := range tr.files {
			exists = exists || under(f.dir, e.folder)
			used = used || !f.test && slices.ContainsFunc(f.syntax.Imports, func(spec *ast.ImportSpec) bool {
				return e.covers(f.dir, importPath(spec))
			})
		}
		if exists && !used {
			violations = append(violations, fmt.Sprintf("%s no longer imports %s: take the exception out of test/arch", e.folder, e.imports))
		}
	}
	return violations
}

var importSamples = []sample{
	{
		about: "the core imports another library",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nimport _ \"sigs.k8s.io/yaml\"\n"},
		want:  "standard library only",
	},
	{
		about: "the core reads files",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nimport _ \"os/exec\"\n"},
		want:  "reads nothing but its arguments",
	},
	{
		about: "the core imports wire types",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nimport _ \"" + module + "/pkg/apis/scheduling/v1alpha1\"\n"},
		want:  "floor 1 does not import floor 0",
	},
	{
		about: "a test of the core imports Kubernetes",
		files: map[string]string{"pkg/core/queue/a_test.go": "package queue\nimport _ \"k8s.io/api/core/v1\"\n"},
		want:  "standard library only",
	},
	{
		about: "the ledger imports the dispatcher's user",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nimport _ \"" + module + "/pkg/plugin\"\n"},
		want:  "floor 2 does not import floor 3",
	},
	{
		about: "the dispatcher imports Kubernetes",
		files: map[string]string{"pkg/dispatch/a.go": "package dispatch\nimport _ \"k8s.io/api/core/v1\"\n"},
		want:  "only floor 3 imports Kubernetes",
	},
	{
		about: "wire types import a client",
		files: map[string]string{"pkg/apis/scheduling/v1alpha1/a.go": "package v1alpha1\nimport _ \"k8s.io/client-go/rest\"\n"},
		want:  "k8s.io/apimachinery only",
	},
	{
		about: "an adapter imports kube-scheduler",
		files: map[string]string{"pkg/kube/feed/a.go": "package feed\nimport _ \"k8s.io/kubernetes/pkg/scheduler\"\n"},
		want:  "only the packages that an upgrade has to mend",
	},
	{
		about: "a binary's package imports the simulator",
		files: map[string]string{"pkg/app/a.go": "package app\nimport _ \"" + module + "/test/simulator\"\n"},
		want:  "no binary imports it",
	},
	{
		about: "the simulator imports Kubernetes",
		files: map[string]string{"test/simulator/a.go": "package simulator\nimport _ \"k8s.io/api/core/v1\"\n"},
		want:  "only floor 3 imports Kubernetes",
	},
	{
		about: "the simulator imports an adapter",
		files: map[string]string{"test/simulator/a.go": "package simulator\nimport _ \"" + module + "/pkg/kube/feed\"\n"},
		want:  "floor 2 does not import floor 3",
	},
	{
		about: "a package on no floor",
		files: map[string]string{"pkg/util/a.go": "package util\n", "pkg/util/b.go": "package util\n"},
		want:  "pkg/util: on no floor",
	},
	{
		about: "every floor in order",
		files: map[string]string{
			"pkg/core/limit/a.go":            "package limit\nimport (\n_ \"math/bits\"\n_ \"" + module + "/pkg/core/queue\"\n)\n",
			"pkg/core/limit/a_test.go":       "package limit\nimport (\n_ \"os\"\n_ \"pgregory.net/rapid\"\n)\n",
			"pkg/ledger/a.go":                "package ledger\nimport (\n_ \"sync\"\n_ \"" + module + "/pkg/core/limit\"\n)\n",
			"pkg/plugin/a.go":                "package plugin\nimport (\n_ \"k8s.io/kube-scheduler/framework\"\n_ \"" + module + "/pkg/apis/scheduling/v1alpha1\"\n)\n",
			"pkg/kube/feed/a_test.go":        "package feed\nimport _ \"k8s.io/kubernetes/pkg/scheduler\"\n",
			"cmd/fairway-scheduler/main.go":  "package main\nimport _ \"" + module + "/pkg/app\"\n",
			"test/integration/placed_one.go": "package integration\nimport _ \"k8s.io/kubernetes/pkg/scheduler\"\n",
		},
	},
}

var exceptionSamples = []sample{
	{
		about: "the composition no longer needs kube-scheduler",
		files: map[string]string{"pkg/app/a.go": "package app\n"},
		want:  "pkg/app no longer imports k8s.io",
	},
	{
		about: "nobody has moved in yet",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\n"},
	},
}
