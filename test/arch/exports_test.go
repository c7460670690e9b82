package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

func exportLaws() []law {
	return []law{{name: "binaries use what pkg exports", check: checkExports, samples: exportSamples}}
}

// Functions that only tests call, each with the reason. One that a binary uses by now is a violation.
var forTests = map[string]string{
	"pkg/core/reason.UnpaidCauses":    "the closed list of causes: a test sees to it that each has a sentence",
	"pkg/core/reason.WithdrawnCauses": "the closed list of causes: a test sees to it that each has a sentence",
}

// checkExports looks for functions and methods of the ledger that nothing under cmd or pkg names, tests apart. It compares names only, so it
// misses some and never finds one too many.
func checkExports(tr *tree) []string {
	used := map[string]bool{}
	var all []*ast.FuncDecl
	label := map[*ast.FuncDecl]string{}
	for _, f := range tr.code() {
		if under(f.dir, "test") {
			continue
		}
		own := map[*ast.Ident]bool{}
		for _, d := range f.syntax.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			own[function.Name] = true
			ofLedger := f.dir == "pkg/ledger" && function.Recv != nil && strings.HasSuffix(typeName(function), "Ledger")
			if function.Name.IsExported() && under(f.dir, "pkg") && (function.Recv == nil || ofLedger) {
				all, label[function] = append(all, function), f.dir+"."+function.Name.Name
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && !own[name] {
				used[name.Name] = true
			}
			return true
		})
	}
	var violations []string
	for _, d := range all {
		switch _, excepted := forTests[label[d]]; {
		case excepted && used[d.Name.Name]:
			violations = append(violations, tr.at(d.Pos())+": a binary uses "+d.Name.Name+": take its exception out of test/arch")
		case !excepted && !used[d.Name.Name]:
			violations = append(violations, fmt.Sprintf("%s: no binary uses %s: what only tests use is in a test file or under test/",
				tr.at(d.Pos()), d.Name.Name))
		}
	}
	return violations
}

// typeName is the type of a method's receiver.
func typeName(method *ast.FuncDecl) string {
	of := method.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

var exportSamples = []sample{
	{
		about: "a method for tests",
		files: map[string]string{
			"pkg/ledger/a.go":      "package ledger\ntype Ledger struct{}\nfunc (l *Ledger) Peek() {}\n",
			"pkg/ledger/a_test.go": "package ledger\nvar _ = (*Ledger).Peek\n",
			"test/simulator/a.go":  "package simulator\nfunc f(l interface{ Peek() }) { l.Peek() }\n",
		},
		want: "pkg/ledger/a.go:3: no binary uses Peek",
	},
	{
		about: "a function for tests",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nfunc Sum() {}\n"},
		want:  "no binary uses Sum",
	},
	{
		about: "in use, and unexported",
		files: map[string]string{
			"pkg/ledger/a.go": "package ledger\ntype Ledger struct{}\nfunc (l *Ledger) Peek() {}\nfunc sum() {}\n",
			"pkg/app/a.go":    "package app\nfunc f(l interface{ Peek() }) { l.Peek() }\n",
		},
	},
}
