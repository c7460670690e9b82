package arch

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

func ownerLaws() []law {
	return []law{
		{name: "the types of the ledger write their fields themselves", check: checkOwners, samples: ownerSamples},
		{name: "the ledger has its state on its lowest floor, which changes none of it", check: checkFloors, samples: floorSamples},
	}
}

// ledgerDir has the type Ledger. Its state is in the fields of its lowest floor, of types that own it: see pkg/ledger/floors.go.
const ledgerDir = "pkg/ledger"

// checkOwners looks for assignments to a field of a type of the ledger outside of that type's methods. It also counts the elements of a map or slice
// and the parts of a struct in such a field, but nothing behind a pointer. Constructors are free. It type-checks the ledger without the standard
// library, so it misses a field of a value that comes out of a function from there, and never finds one too many.
func checkOwners(tr *tree) []string {
	o := ownersIn(tr)
	var violations []string
	for _, f := range o.filesOf(ledgerDir) {
		for _, d := range f.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok || function.Body == nil || function.Recv == nil && strings.HasPrefix(strings.ToLower(function.Name.Name), "new") {
				continue
			}
			of := ""
			if function.Recv != nil {
				of = typeName(function)
			}
			for _, place := range writes(function.Body) {
				for _, field := range o.fields(place) {
					owner, _, _ := strings.Cut(field, ".")
					if o.types[owner] && owner != of {
						violations = append(violations, tr.at(place.Pos())+": "+function.Name.Name+" writes "+field+
							": give "+owner+" a method that says what it means")
					}
				}
			}
		}
	}
	return violations
}

// checkFloors looks for state outside of the lowest floor, and for methods of the lowest floor that change it: by an assignment to what their receiver
// holds, or through a method that assigns to a field of its own. What a method that is called calls in its turn is not followed, so caches may be filled.
func checkFloors(tr *tree) (violations []string) {
	o := ownersIn(tr)
	for _, field := range o.between {
		violations = append(violations, field+": state belongs on the lowest floor of the ledger, "+o.lowest)
	}
	changes := map[string]bool{} // methods of the types that own state, as type.method
	o.methods(func(of string, f *ast.FuncDecl) {
		for _, place := range writes(f.Body) {
			for _, field := range o.fields(place) {
				owner, _, _ := strings.Cut(field, ".")
				changes[of+"."+f.Name.Name] = changes[of+"."+f.Name.Name] || o.types[of] && owner == of
			}
		}
	})
	o.methods(func(of string, f *ast.FuncDecl) {
		if of != o.lowest {
			return
		}
		for _, place := range writes(f.Body) {
			if _, whole := place.(*ast.Ident); !whole && rootOf(place) == receiverOf(f) {
				violations = append(violations, tr.at(place.Pos())+": "+f.Name.Name+" writes: a method of "+o.lowest+" only answers")
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if called := o.called(n); changes[called] {
				violations = append(violations, tr.at(n.Pos())+": "+f.Name.Name+" calls "+called+", which writes: a method of "+o.lowest+" only answers")
			}
			return true
		})
	})
	return violations
}

// receiverOf is the name of a method's receiver; "" if it has none.
func receiverOf(f *ast.FuncDecl) string {
	if names := f.Recv.List[0].Names; len(names) > 0 {
		return names[0].Name
	}
	return ""
}

// called is the method of the ledger's package that is called here, as type.method; "" for anything else.
func (o *owners) called(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	s := o.info.Selections[selector]
	if s == nil || s.Kind() != types.MethodVal {
		return ""
	}
	receiver := s.Obj().(*types.Func).Signature().Recv()
	return nameOf(receiver.Type()) + "." + selector.Sel.Name
}

// methods passes on the methods of the ledger's package.
func (o *owners) methods(yield func(of string, f *ast.FuncDecl)) {
	for _, f := range o.filesOf(ledgerDir) {
		for _, d := range f.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Recv != nil && function.Body != nil {
				yield(typeName(function), function)
			}
		}
	}
}

// owners finds which field of which type a place in the code belongs to.
type owners struct {
	tree    *tree
	info    *types.Info
	done    map[string]*types.Package
	types   map[string]bool // those of the fields of Ledger and of the floors below it
	lowest  string          // the floor that embeds no other; "" where Ledger has no floors
	between []string        // fields of the floors above that one and below Ledger, but for the floor that each embeds
}

// ownersIn type-checks the ledger.
func ownersIn(tr *tree) *owners {
	o := &owners{tree: tr, done: map[string]*types.Package{}, types: map[string]bool{}}
	o.info = &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}}
	if files := o.filesOf(ledgerDir); len(files) > 0 {
		config := types.Config{Importer: o, Error: func(error) {}}
		pkg, _ := config.Check(module+"/"+ledgerDir, tr.fset, files, o.info) // of what is missing from the standard library there are errors
		o.ledger(pkg)
	}
	return o
}

// Import gives the type checker our own packages, and empty ones for all others.
func (o *owners) Import(name string) (*types.Package, error) {
	if p := o.done[name]; p != nil {
		return p, nil
	}
	dir, ours := strings.CutPrefix(name, module+"/")
	var files []*ast.File
	if ours {
		files = o.filesOf(dir)
	}
	config := types.Config{Importer: o, IgnoreFuncBodies: true, Error: func(error) {}}
	p, _ := config.Check(name, o.tree.fset, files, nil)
	if p == nil {
		return nil, errors.New("no package " + name)
	}
	if len(files) == 0 {
		p.SetName(path.Base(name))
	}
	p.MarkComplete()
	o.done[name] = p
	return p, nil
}

func (o *owners) filesOf(dir string) (files []*ast.File) {
	for _, f := range o.tree.code() {
		if f.dir == dir {
			files = append(files, f.syntax)
		}
	}
	return files
}

// ledger notes the types of the fields of Ledger, and of the floors below it, as far as they are of its package. A floor is embedded.
func (o *owners) ledger(pkg *types.Package) {
	var own []string
	for floor := pkg.Scope().Lookup("Ledger"); floor != nil; {
		is, ok := floor.Type().Underlying().(*types.Struct)
		floor, own = nil, nil
		for i := 0; ok && i < is.NumFields(); i++ {
			of, named := is.Field(i).Type().(*types.Named)
			switch ours := named && of.Obj().Pkg() == pkg; {
			case ours && is.Field(i).Embedded():
				floor = of.Obj()
				continue
			case ours:
				o.types[of.Obj().Name()] = true
			}
			if o.lowest != "" {
				own = append(own, o.lowest+"."+is.Field(i).Name())
			}
		}
		if floor != nil {
			o.lowest, o.between = floor.Name(), append(o.between, own...)
		}
	}
}

// fields are those that change when something is assigned to the place, each as type.field, and the types of which a whole value does.
func (o *owners) fields(place ast.Expr) (fields []string) {
	if of := nameOf(o.info.Types[place].Type); o.types[of] && !isPointer(o.info.Types[place].Type) {
		fields = append(fields, of)
	}
	for {
		switch x := place.(type) {
		case *ast.ParenExpr:
			place = x.X
		case *ast.IndexExpr:
			if place = x.X; isPointer(o.info.Types[place].Type) {
				return fields
			}
		case *ast.SelectorExpr:
			s := o.info.Selections[x]
			if s == nil || s.Kind() != types.FieldVal {
				return fields
			}
			within, pointer := within(s)
			fields = append(fields, within...)
			if pointer {
				return fields
			}
			place = x.X
		default:
			return fields
		}
	}
}

// within are the fields that a selection goes through after the last pointer, the embedded ones included. pointer: it goes through one.
func within(s *types.Selection) (fields []string, pointer bool) {
	t := s.Recv()
	for _, i := range s.Index() {
		of := nameOf(t)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t, fields, pointer = p.Elem(), nil, true
		}
		is, ok := t.Underlying().(*types.Struct)
		if !ok {
			return fields, true
		}
		fields = append(fields, of+"."+is.Field(i).Name())
		t = is.Field(i).Type()
	}
	return fields, pointer
}

func isPointer(t types.Type) bool {
	if t == nil {
		return false
	}
	_, is := t.Underlying().(*types.Pointer)
	return is
}

// nameOf is the name of a type, or of what it points to; "" if it has none.
func nameOf(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

// writes are the places to which a function assigns, or of which it deletes.
func writes(body ast.Node) (places []ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				places = append(places, n.Lhs...)
			}
		case *ast.IncDecStmt:
			places = append(places, n.X)
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if n.Tok == token.ASSIGN && x != nil {
					places = append(places, x)
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"delete", "clear", "copy"}, f.Name) {
				places = append(places, n.Args[0])
			}
		}
		return true
	})
	return places
}

// rootOf is the variable through which a place is reached, "" if it is reached through none.
func rootOf(place ast.Expr) string {
	for {
		switch x := place.(type) {
		case *ast.ParenExpr:
			place = x.X
		case *ast.StarExpr:
			place = x.X
		case *ast.IndexExpr:
			place = x.X
		case *ast.SelectorExpr:
			place = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// sampleFloors has two floors and one type that owns fields.
const sampleFloors = "package ledger\ntype Ledger struct{ upper }\ntype upper struct{ lower }\ntype lower struct{ window window; now int }\n" +
	"type window struct{ pods int }\nfunc (w *window) add() { w.pods++ }\nfunc (w *window) fill() { w.add() }\n"

var floorSamples = []sample{
	{
		about: "a question that writes",
		files: map[string]string{"pkg/ledger/a.go": sampleFloors + "func (l *lower) f() { l.now = 1 }\n"},
		want:  "pkg/ledger/a.go:8: f writes: a method of lower only answers",
	},
	{
		about: "a question that has something written",
		files: map[string]string{"pkg/ledger/a.go": sampleFloors + "func (l *lower) f() { l.window.add() }\n"},
		want:  "f calls window.add, which writes: a method of lower only answers",
	},
	{
		about: "state between the floors",
		files: map[string]string{"pkg/ledger/a.go": strings.Replace(sampleFloors, "{ lower }", "{ lower; at int }", 1)},
		want:  "upper.at: state belongs on the lowest floor of the ledger, lower",
	},
	{
		about: "the floor above, a cache, and a variable of its own",
		files: map[string]string{"pkg/ledger/a.go": sampleFloors + "func (l *upper) f() { l.now = 1; l.window.add() }\n" +
			"func (l *lower) f() { l.window.fill(); n := l.now; n++; l = nil }\n"},
	},
}

// sampleLedger has one type that owns fields.
const sampleLedger = "package ledger\ntype Ledger struct{ window window; pods map[string]*pod }\ntype window struct{ pods int; of map[string]int; part part }\n" +
	"type part struct{ n int }\ntype pod struct{ n int }\n"

var ownerSamples = []sample{
	{
		about: "a count",
		files: map[string]string{"pkg/ledger/a.go": sampleLedger + "func (l *Ledger) f() { l.window.pods++ }\n"},
		want:  "pkg/ledger/a.go:6: f writes window.pods: give window a method",
	},
	{
		about: "an element, through a pointer to the type",
		files: map[string]string{"pkg/ledger/a.go": sampleLedger + "func (p *pod) f(l *Ledger) { w := &l.window; delete(w.of, \"\") }\n"},
		want:  "f writes window.of",
	},
	{
		about: "a part of a field, beside code that needs the standard library",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nimport \"slices\"\n" + strings.TrimPrefix(sampleLedger, "package ledger\n") +
			"func (l *Ledger) f() { x := slices.Max([]int{1}); l.window.part.n = x }\n"},
		want: "f writes window.part",
	},
	{
		about: "a field that is promoted from another package",
		files: map[string]string{
			"pkg/core/gang/a.go": "package gang\ntype Holds struct{ Until int }\n",
			"pkg/ledger/a.go": "package ledger\nimport \"" + module + "/pkg/core/gang\"\ntype Ledger struct{ holds holds }\ntype holds struct{ gang.Holds }\n" +
				"func (l *Ledger) f() { l.holds.Until = 1 }\n",
		},
		want: "f writes holds.Holds",
	},
	{
		about: "a field of the floor below",
		files: map[string]string{"pkg/ledger/a.go": sampleFloors + "func (l *upper) f() { l.window.pods++ }\n"},
		want:  "f writes window.pods: give window a method",
	},
	{
		about: "a whole value",
		files: map[string]string{"pkg/ledger/a.go": sampleLedger + "func (l *Ledger) f() { l.window = window{} }\n"},
		want:  "f writes window: give window a method",
	},
	{
		about: "its own methods, the constructor, and what is behind a pointer",
		files: map[string]string{"pkg/ledger/a.go": sampleLedger + "func (w *window) f() { w.pods++; w.part.n++; *w = window{} }\n" +
			"func New() *Ledger { l := &Ledger{}; l.window.pods = 1; l.window = window{}; return l }\n" +
			"func (l *Ledger) f() { l.pods[\"\"] = nil; l.pods[\"a\"].n++; w := l.window.pods; w++ }\n"},
	},
}
