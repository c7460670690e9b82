// Package arch holds the laws of the source tree as tests: which floor may
// import which, how long a file may grow, which words and hosts may not appear,
// and that docs/rules.md names things that exist.
//
// Input is the tree itself, read and parsed once; output is one line per
// violation, naming the place and what to do. The package reads sources only: it
// never runs the go command, builds anything or imports another package of the
// project, so it stays the fastest test there is.
package arch

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// A law is a checker with its proofs. A checker that finds nothing looks the
// same as a checker that is broken; therefore every law brings small trees that
// it must refuse, and where the border is fine, ones that it must accept.
type law struct {
	name    string
	check   func(*tree) []string
	samples []sample
}

// A sample is a small tree: path -> text. go.mod is added.
type sample struct {
	about string
	files map[string]string
	want  string // part of the one expected violation; "" when the law is kept
}

func laws() []law {
	return slices.Concat(
		importLaws(), coreLaws(), clockLaws(), budgetLaws(), commentLaws(), wordLaws(), textLaws(), ruleTableLaws(),
		documentLaws(), linkLaws(), exportLaws(), ownerLaws(),
	)
}

func TestRepositoryKeepsTheLaws(t *testing.T) {
	repository := repository(t)
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			for _, violation := range l.check(repository) {
				t.Error(violation)
			}
		})
	}
}

func TestLawsCatchViolations(t *testing.T) {
	for _, l := range laws() {
		if !slices.ContainsFunc(l.samples, func(s sample) bool { return s.want != "" }) {
			t.Errorf("the law %q has no sample that it refuses", l.name)
		}
		for _, s := range l.samples {
			t.Run(l.name+"/"+s.about, func(t *testing.T) {
				got := l.check(sampleTree(t, s.files))
				switch {
				case s.want == "" && len(got) > 0:
					t.Errorf("refused although the law is kept:\n%s", strings.Join(got, "\n"))
				case s.want != "" && len(got) != 1:
					t.Errorf("got %d violations, want one with %q:\n%s", len(got), s.want, strings.Join(got, "\n"))
				case s.want != "" && !strings.Contains(got[0], s.want):
					t.Errorf("got %q, want a violation with %q", got[0], s.want)
				}
			})
		}
	}
}

var repositoryOnce = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../..")) })

func repository(t *testing.T) *tree {
	t.Helper()
	tr, err := repositoryOnce()
	if err != nil {
		t.Fatalf("the tree cannot be read: %v", err)
	}
	return tr
}

func sampleTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	sources := fstest.MapFS{"go.mod": {Data: []byte("module " + module + "\n")}}
	for path, text := range files {
		sources[path] = &fstest.MapFile{Data: []byte(text)}
	}
	tr, err := load(fs.FS(sources))
	if err != nil {
		t.Fatalf("the sample cannot be read: %v", err)
	}
	return tr
}
