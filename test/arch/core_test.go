package arch

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func coreLaws() []law {
	return []law{
		{name: "the core has no floats", check: checkFloats, samples: floatSamples},
		{name: "the core ranges over no map", check: checkMapRanges, samples: mapRangeSamples},
	}
}

// The core is type-checked instead of matched by pattern: math.Inf(1) is a float
// without the word, and a map may hide behind a named type. This is possible
// because the core needs nothing but the standard library, whose sources come
// with Go.
type coreChecker struct {
	tree     *tree
	standard types.Importer
	packages map[string]*types.Package // by import path
	info     *types.Info
	problems []string
}

func checkCore(tr *tree) *coreChecker {
	c := &coreChecker{
		tree:     tr,
		standard: importer.ForCompiler(tr.fset, "source", nil),
		packages: map[string]*types.Package{},
		info:     &types.Info{Types: map[ast.Expr]types.TypeAndValue{}},
	}
	for _, f := range coreFiles(tr, "pkg/core") {
		if _, err := c.Import(module + "/" + f.dir); err != nil {
			c.problems = append(c.problems, fmt.Sprintf("%s does not compile: %v", f.dir, err))
			break
		}
	}
	return c
}

func coreFiles(tr *tree, folder string) []*goFile {
	return slices.DeleteFunc(slices.Clone(tr.files), func(f *goFile) bool { return f.test || !under(f.dir, folder) })
}

// Import implements types.Importer: ours from the tree, the rest from Go.
func (c *coreChecker) Import(pkg string) (*types.Package, error) {
	dir, ours := strings.CutPrefix(pkg, module+"/")
	if !ours {
		return c.standard.Import(pkg)
	}
	if known := c.packages[pkg]; known != nil {
		return known, nil
	}
	var files []*ast.File
	for _, f := range coreFiles(c.tree, dir) {
		if f.dir == dir {
			files = append(files, f.syntax)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no package %s", pkg)
	}
	config := types.Config{Importer: c}
	checked, err := config.Check(pkg, c.tree.fset, files, c.info)
	if err != nil {
		return nil, err
	}
	c.packages[pkg] = checked
	return checked, nil
}

// each calls visit with every node of the core and returns what visit said,
// once per line.
func (c *coreChecker) each(visit func(ast.Node) string) []string {
	violations := slices.Clone(c.problems)
	seen := map[string]bool{}
	for _, f := range coreFiles(c.tree, "pkg/core") {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			if why := visit(n); why != "" && !seen[c.tree.at(n.Pos())] {
				seen[c.tree.at(n.Pos())] = true
				violations = append(violations, c.tree.at(n.Pos())+": "+why)
			}
			return true
		})
	}
	return violations
}

func checkFloats(tr *tree) []string {
	c := checkCore(tr)
	return c.each(func(n ast.Node) string {
		const why = "a float: the core counts in integers and compares by cross-multiplication"
		if literal, ok := n.(*ast.BasicLit); ok && (literal.Kind == token.FLOAT || literal.Kind == token.IMAG) {
			return why
		}
		expr, ok := n.(ast.Expr)
		if !ok || c.info.Types[expr].Type == nil {
			return ""
		}
		basic, ok := c.info.Types[expr].Type.Underlying().(*types.Basic)
		if ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0 {
			return why
		}
		return ""
	})
}

// checkMapRanges also refuses the iterators of package maps: they are a range
// over a map in other words.
func checkMapRanges(tr *tree) []string {
	c := checkCore(tr)
	return c.each(func(n ast.Node) string {
		const why = "ranges over a map, whose order is random: keep a sorted slice, use maps for lookup only"
		switch n := n.(type) {
		case *ast.RangeStmt:
			if ranged := c.info.Types[n.X].Type; ranged != nil && isMap(ranged) {
				return why
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && x.Name == "maps" && slices.Contains([]string{"All", "Keys", "Values"}, n.Sel.Name) {
				return why
			}
		}
		return ""
	})
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

var floatSamples = []sample{
	{
		about: "a field",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\ntype spec struct { weight float64 }\n"},
		want:  "pkg/core/queue/a.go:2: a float",
	},
	{
		about: "a literal that would fit an integer",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nvar giga int64 = 1e9\n"},
		want:  "a float",
	},
	{
		about: "a result without the word",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nimport \"math\"\nvar infinite = math.Inf(1)\n"},
		want:  "a.go:3: a float",
	},
	{
		about: "a named type of another package",
		files: map[string]string{
			"pkg/core/queue/a.go": "package queue\ntype Ratio = int64\n",
			"pkg/core/limit/a.go": "package limit\nimport \"" + module + "/pkg/core/queue\"\nfunc half(r queue.Ratio) bool { return float32(r) > 0 }\n",
		},
		want: "pkg/core/limit/a.go:3: a float",
	},
	{
		about: "code that does not compile",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nvar a int = \"\"\n"},
		want:  "does not compile",
	},
	{
		about: "integers, and floats in a test's oracle",
		files: map[string]string{
			"pkg/core/queue/a.go":      "package queue\nimport \"math\"\nconst Unlimited int64 = math.MaxInt64\n",
			"pkg/core/queue/a_test.go": "package queue\nvar oracle float64\n",
		},
	},
}

var mapRangeSamples = []sample{
	{
		about: "a map behind a named type",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\ntype index map[string]int\nfunc sum(i index) (n int) {\n\tfor _, v := range i {\n\t\tn += v\n\t}\n\treturn n\n}\n"},
		want:  "pkg/core/queue/a.go:4: ranges over a map",
	},
	{
		about: "an iterator over a map",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nimport \"maps\"\nvar keys = maps.Keys(map[int]int{})\n"},
		want:  "ranges over a map",
	},
	{
		about: "a slice, and a map for lookup",
		files: map[string]string{"pkg/core/queue/a.go": "package queue\nfunc find(names []string, at map[string]int) (n int) {\n\tfor _, name := range names {\n\t\tn += at[name]\n\t}\n\treturn n\n}\n"},
	},
}
