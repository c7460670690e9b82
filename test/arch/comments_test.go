package arch

import (
	"go/ast"
	"path"
	"strings"
)

func commentLaws() []law {
	return []law{{name: "every package says what it is for", check: checkPackageComments, samples: commentSamples}}
}

// checkPackageComments wants "Package name ..." once per package. For a command
// the first word is free (Go's own convention: the name of the binary), but
// there has to be a sentence.
func checkPackageComments(tr *tree) []string {
	type pkg struct{ dir, name string }
	var order []pkg
	commented := map[pkg]bool{}
	for _, f := range tr.files {
		p := pkg{f.dir, strings.TrimSuffix(f.syntax.Name.Name, "_test")}
		if _, known := commented[p]; !known {
			commented[p] = false
			order = append(order, p)
		}
		commented[p] = commented[p] || introduces(f.syntax.Doc, p.name)
	}
	var violations []string
	for _, p := range order {
		if !commented[p] {
			violations = append(violations, p.dir+": package "+p.name+" has no comment: say its job, its inputs and outputs, and what it must not do")
		}
	}
	return violations
}

func introduces(doc *ast.CommentGroup, name string) bool {
	if doc == nil {
		return false
	}
	text := strings.TrimSpace(doc.Text())
	if name == "main" {
		return strings.Contains(text, " ")
	}
	return strings.HasPrefix(text, "Package "+path.Base(name)+" ")
}

var commentSamples = []sample{
	{
		about: "no comment",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\n", "pkg/ledger/b.go": "package ledger\n"},
		want:  "pkg/ledger: package ledger has no comment",
	},
	{
		about: "a build constraint and a directive are no comment",
		files: map[string]string{"pkg/ledger/a.go": "//go:build linux\n\n//nolint:all\npackage ledger\n"},
		want:  "has no comment",
	},
	{
		about: "in one file of several, and a command",
		files: map[string]string{
			"pkg/ledger/a.go":      "package ledger\n",
			"pkg/ledger/ledger.go": "// Package ledger keeps the books.\npackage ledger\n",
			"pkg/ledger/x_test.go": "package ledger_test\n",
			"cmd/fairway/main.go":  "// fairway runs everything.\npackage main\n",
		},
	},
}
