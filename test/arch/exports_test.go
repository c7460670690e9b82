package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

func exportLaws() []law {
	return []law{{name: "binaries use what pkg exports", check: checkExports, samples: exportSamples}}
}

// Functions and methods that only tests call, each with the reason. One that a binary uses by now is a violation.
var forTests = map[string]string{
	"pkg/ledger.Ledger.Check":                       "all that Inspect looks at in parts, and more, at once: tests of several packages call it after every step",
	"pkg/core/preemption.EvictionMemory.Unreplaced": "tests of this package and of the ledger see to it that the memory does not grow",
	"pkg/demo/spark.Operator.Busy":                  "tests wait for a played operator that has nothing to do; demos only watch it",
	"pkg/localcluster.Child.Ended":                  "tests compare when a process ended with what its successor did",
	"pkg/localcluster.Cluster.Restart":              "tests kill parts of the control plane; demos do not",
}

// checkExports looks for functions and methods that nothing under cmd or pkg names, tests apart. It compares names; where two types have a method of
// that name, also receivers, as far as declarations show them (receivers). So it misses some and never finds one too many. Methods that upstream
// calls through an interface are not named here either: see calledByOthers.
func checkExports(tr *tree) []string {
	var all []export
	used := map[string][]string{} // by name: of which types; "" is any
	in := receiversOf(tr)
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
			if !function.Name.IsExported() || !under(f.dir, "pkg") {
				continue
			}
			if e := (export{function, f.dir, ""}); function.Recv == nil {
				all = append(all, e)
			} else if e.of = typeName(function); !calledByOthers(function) {
				all = append(all, e)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				own[n.Sel] = true
				used[n.Sel.Name] = append(used[n.Sel.Name], in.types(f.dir, n)...)
			case *ast.Ident:
				if !own[n] {
					used[n.Name] = append(used[n.Name], "")
				}
			}
			return true
		})
	}
	var violations []string
	for _, e := range all {
		is := slices.ContainsFunc(used[e.Name.Name], func(of string) bool { return of == "" || e.of == "" || of == e.of })
		switch _, excepted := forTests[e.String()]; {
		case excepted && is:
			violations = append(violations, tr.at(e.Pos())+": a binary uses "+e.Name.Name+": take its exception out of test/arch")
		case !excepted && !is:
			violations = append(violations, fmt.Sprintf("%s: no binary uses %s: what only tests use is in a test file or under test/", tr.at(e.Pos()), e.Name.Name))
		}
	}
	return violations
}

// An export is a function, or a method of a type.
type export struct {
	*ast.FuncDecl
	dir, of string
}

func (e export) String() string {
	if e.of == "" {
		return e.dir + "." + e.Name.Name
	}
	return e.dir + "." + e.of + "." + e.Name.Name
}

// calledByOthers reports whether a method is there for an interface of the standard library or of upstream: its comment says so, or its name is one
// of those that fmt, errors, io and json call.
func calledByOthers(method *ast.FuncDecl) bool {
	return strings.Contains(method.Doc.Text(), " implements ") || slices.Contains([]string{"String", "Error", "Unwrap", "Write", "MarshalJSON", "UnmarshalJSON"}, method.Name.Name)
}

// receivers are the types that fields, parameters and variables are declared with; "" is one that no declaration shows.
type receivers struct {
	fields, variables map[string][]string // by folder and name
	methods           map[string][]string // by name of the method: the types that have it
	embedded          map[string][]string // by type
}

func receiversOf(tr *tree) receivers {
	in := receivers{fields: map[string][]string{}, variables: map[string][]string{}, methods: map[string][]string{}, embedded: map[string][]string{}}
	for _, f := range tr.code() {
		note := func(to map[string][]string, name, of string) { to[f.dir+" "+name] = append(to[f.dir+" "+name], of) }
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					in.methods[n.Name.Name] = append(in.methods[n.Name.Name], typeName(n))
				}
			case *ast.TypeSpec:
				if is, ok := n.Type.(*ast.StructType); ok {
					for _, field := range is.Fields.List {
						for _, name := range field.Names {
							note(in.fields, name.Name, baseType(field.Type))
						}
						if of := baseType(field.Type); len(field.Names) == 0 {
							note(in.fields, of, of)
							in.embedded[n.Name.Name] = append(in.embedded[n.Name.Name], of)
						}
					}
				}
			case *ast.Field:
				for _, name := range n.Names {
					note(in.variables, name.Name, baseType(n.Type))
				}
			case *ast.ValueSpec:
				for _, name := range n.Names {
					note(in.variables, name.Name, baseType(n.Type))
				}
			case *ast.AssignStmt, *ast.RangeStmt:
				for _, name := range declaredBy(n) {
					note(in.variables, name, "")
				}
			}
			return true
		})
	}
	return in
}

// types are those of which the selected method may be: all of them, which is "", unless each type that the receiver is declared with has a method of
// that name, itself or of a type that it embeds.
func (in receivers) types(dir string, s *ast.SelectorExpr) (of []string) {
	x := s.X
	if element, ok := x.(*ast.IndexExpr); ok {
		x = element.X
	}
	var declared []string
	switch x := x.(type) {
	case *ast.Ident:
		declared = in.variables[dir+" "+x.Name]
	case *ast.SelectorExpr:
		declared = in.fields[dir+" "+x.Sel.Name]
	}
	have := func(t string) bool { return slices.Contains(in.methods[s.Sel.Name], t) }
	for _, t := range declared {
		found := append([]string{t}, in.embedded[t]...)
		i := slices.IndexFunc(found, have)
		if i < 0 {
			return []string{""}
		}
		of = append(of, found[i])
	}
	if len(of) == 0 {
		return []string{""}
	}
	return of
}

// baseType is the name of a type, or of what it points to or holds; "" if it has none.
func baseType(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.StarExpr:
		return baseType(t.X)
	case *ast.ArrayType:
		return baseType(t.Elt)
	case *ast.MapType:
		return baseType(t.Value)
	case *ast.IndexExpr: // of a generic type
		return baseType(t.X)
	}
	return ""
}

// typeName is the type of a method's receiver.
func typeName(method *ast.FuncDecl) string { return baseType(method.Recv.List[0].Type) }

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
		about: "a method of a type, and one of that name that is in use",
		files: map[string]string{
			"pkg/ledger/a.go": "package ledger\ntype Ledger struct{}\nfunc (l *Ledger) Show() {}\n",
			"pkg/other/a.go":  "package other\ntype Other[T any] struct{}\nfunc (o *Other[T]) Show() {}\n",
			"pkg/app/a.go":    "package app\ntype app struct{ all []*other.Other[int] }\nfunc (a *app) f() { a.all[0].Show() }\n",
		},
		want: "pkg/ledger/a.go:3: no binary uses Show",
	},
	{
		about: "a receiver of an interface, one that embeds the type, one without a declared type, and a method for upstream",
		files: map[string]string{
			"pkg/ledger/a.go": "package ledger\ntype Ledger struct{}\nfunc (l *Ledger) Show() {}\nfunc (l *Ledger) Peek() {}\nfunc (l *Ledger) Look() {}\n" +
				"// Clone implements fwk.StateData.\nfunc (l *Ledger) Clone() {}\n",
			"pkg/app/a.go": "package app\ntype some struct{}\nfunc (some) Show() {}\nfunc (some) Look() {}\ntype more struct{ ledger.Ledger }\n" +
				"func f(i checker, m more) { i.Show(); m.Peek(); s := g(); s.Look() }\n",
		},
	},
	{
		about: "in use, and unexported",
		files: map[string]string{
			"pkg/ledger/a.go": "package ledger\ntype Ledger struct{}\nfunc (l *Ledger) Peek() {}\nfunc sum() {}\n",
			"pkg/app/a.go":    "package app\nfunc f(l interface{ Peek() }) { l.Peek() }\n",
		},
	},
}
