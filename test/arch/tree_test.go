package arch

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is this module's path; load refuses a tree that says otherwise.
const module = "github.com/fairway-scheduler/fairway"

// A tree is what the laws look at.
type tree struct {
	fset  *token.FileSet
	texts []textFile // every text file, in path order, go.sum excepted
	files []*goFile  // the Go files of this module, in path order
	paths map[string]bool
}

type textFile struct {
	path string
	data []byte
}

type goFile struct {
	path, dir string // slash-separated, relative to the root
	syntax    *ast.File
	lines     int
	test      bool // its name ends in _test.go
	generated bool // carries the "Code generated ... DO NOT EDIT." line
}

// load reads every file that is not ignored. It walks instead of asking git so
// that a source archive is judged like a clone, and so that `go test` sees
// which folders it depends on and caches rightly.
func load(root fs.FS) (*tree, error) {
	ignored, err := ignorePatterns(root)
	if err != nil {
		return nil, err
	}
	tr := &tree{fset: token.NewFileSet(), paths: map[string]bool{}}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name != "." && isIgnored(ignored, name) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return tr.add(name, data)
	})
	if err != nil {
		return nil, err
	}
	if !tr.paths["go.mod"] {
		return nil, fmt.Errorf("no go.mod at the root")
	}
	return tr, nil
}

// ignorePatterns reads the one .gitignore at the root. Only what it uses is
// understood: comments, names, "*" and a leading or trailing slash.
func ignorePatterns(root fs.FS) ([]string, error) {
	patterns := []string{"/.git"}
	data, err := fs.ReadFile(root, ".gitignore")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(strings.TrimSpace(line), "/")
		if line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	return patterns, nil
}

func isIgnored(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		subject := path.Base(name)
		if strings.Contains(pattern, "/") {
			pattern, subject = strings.TrimPrefix(pattern, "/"), name
		}
		matched, err := path.Match(pattern, subject)
		return err == nil && matched
	})
}

func (tr *tree) add(name string, data []byte) error {
	tr.paths[name] = true
	base := path.Base(name)
	if base == "go.sum" || bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	tr.texts = append(tr.texts, textFile{path: name, data: data})
	if name == "go.mod" {
		if first, _, _ := strings.Cut(string(data), "\n"); strings.TrimSpace(first) != "module "+module {
			return fmt.Errorf("go.mod starts with %q, want module %s", first, module)
		}
	}
	if path.Ext(base) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
		return nil
	}
	// hack/tools is a module of its own and holds no Go code of ours; hack/promql and those of hack/operators are, and what they hold is ours.
	if strings.HasPrefix(name, "hack/tools/") {
		return nil
	}
	syntax, err := parser.ParseFile(tr.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tr.files = append(tr.files, &goFile{
		path: name, dir: path.Dir(name), syntax: syntax,
		lines:     bytes.Count(data, []byte("\n")),
		test:      strings.HasSuffix(base, "_test.go"),
		generated: ast.IsGenerated(syntax),
	})
	return nil
}

// at names a place the way compilers do, so that editors can jump to it.
func (tr *tree) at(pos token.Pos) string {
	p := tr.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// code is what a person wrote for production: no tests, nothing generated.
func (tr *tree) code() []*goFile {
	return slices.DeleteFunc(slices.Clone(tr.files), func(f *goFile) bool { return f.test || f.generated })
}

// under tells whether name is folder or lies in it.
func under(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

func importPath(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(fmt.Sprintf("the parser let through the import path %s", spec.Path.Value))
	}
	return name
}

// importedAs is the name under which a file knows a package, "" when it does
// not import it.
func importedAs(f *goFile, pkg string) string {
	for _, spec := range f.syntax.Imports {
		if importPath(spec) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}
