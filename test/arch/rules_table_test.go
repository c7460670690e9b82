package arch

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// rulesTable is the page that leads from a rule in the user's words to its
// file, function and scenario.
const rulesTable = "docs/rules.md"

// A rule is one short sentence: what needs more words is two rules.
const longestRule = 140

// A row names the best few tests, and need not name all.
const longestRow = 350

func ruleTableLaws() []law {
	return []law{{name: "docs/rules.md names what exists", check: checkRuleTable, samples: ruleTableSamples}}
}

// TestRulesPerFloor logs where the rules live. A row that names files of two
// floors counts for both.
func TestRulesPerFloor(t *testing.T) {
	data, err := fs.ReadFile(os.DirFS("../.."), rulesTable)
	if err != nil {
		t.Fatal(err)
	}
	rows := ruleRows(string(data))
	in := func(folder string) int {
		return len(slices.DeleteFunc(slices.Clone(rows), func(row ruleRow) bool {
			return !slices.ContainsFunc(row.files, func(file string) bool { return strings.HasPrefix(file, folder) })
		}))
	}
	t.Logf("%d rules: %d in pkg/core, %d in pkg/ledger", len(rows), in("pkg/core/"), in("pkg/ledger/"))
	for _, f := range floors {
		for _, folder := range f.folders {
			if n := in(folder + "/"); n > 0 {
				t.Logf("floor %d %5d  %s", f.number, n, folder)
			}
		}
	}
}

// A ruleRow is a row of a table whose header has the columns File, Function and
// Scenario, in any order. Several things in a cell are each put in backquotes.
type ruleRow struct {
	line, length                int
	section, rule               string
	files, functions, scenarios []string
}

func checkRuleTable(tr *tree) []string {
	var text *textFile
	for i := range tr.texts {
		if tr.texts[i].path == rulesTable {
			text = &tr.texts[i]
		}
	}
	if text == nil {
		return []string{rulesTable + " is missing: it leads from each rule to its file, function and scenario"}
	}
	rows := ruleRows(string(text.data))
	if len(rows) == 0 {
		return []string{rulesTable + " has no table with the columns File, Function and Scenario"}
	}
	var violations []string
	lines := map[string]int{}
	for _, row := range rows {
		problems := rowProblems(tr, row)
		if first := lines[row.rule]; first > 0 {
			problems = append(problems, fmt.Sprintf("the rule of line %d again", first))
		}
		lines[row.rule] = row.line
		for _, problem := range problems {
			violations = append(violations, fmt.Sprintf("%s:%d: %s", rulesTable, row.line, problem))
		}
	}
	return violations
}

func ruleRows(text string) []ruleRow {
	var rows []ruleRow
	section := ""
	file, function, scenario := -1, -1, -1
	for i, line := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		cells := tableCells(line)
		if cells == nil {
			file, function, scenario = -1, -1, -1
			continue
		}
		if column := func(name string) int { return columnOf(cells, name) }; column("file") >= 0 && column("function") >= 0 {
			file, function, scenario = column("file"), column("function"), column("scenario")
			continue
		}
		if file < 0 || isSeparator(cells) {
			continue
		}
		cell := func(column int) []string {
			if column < 0 || column >= len(cells) {
				return nil
			}
			return cellItems(cells[column])
		}
		rows = append(rows, ruleRow{
			line: i + 1, length: utf8.RuneCountInString(line), section: section, rule: cells[0],
			files: cell(file), functions: cell(function), scenarios: cell(scenario),
		})
	}
	return rows
}

func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func columnOf(cells []string, name string) int {
	return slices.IndexFunc(cells, func(cell string) bool { return strings.EqualFold(strings.TrimSuffix(cell, "s"), name) })
}

func isSeparator(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.Trim(cell, ":-") != "" })
}

var (
	backquoted = regexp.MustCompile("`([^`]+)`")
	linkTarget = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// cellItems returns what a cell lists: everything in backquotes, else what
// stands between commas.
func cellItems(cell string) []string {
	cell = linkTarget.ReplaceAllString(cell, "$1")
	var items []string
	for _, match := range backquoted.FindAllStringSubmatch(cell, -1) {
		items = append(items, strings.TrimSpace(match[1]))
	}
	if items != nil {
		return items
	}
	for item := range strings.SplitSeq(cell, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func rowProblems(tr *tree, row ruleRow) []string {
	var problems []string
	if row.length > longestRow {
		problems = append(problems, fmt.Sprintf("the row has %d characters, %d are enough", row.length, longestRow))
	}
	if row.section == "" {
		problems = append(problems, "a row belongs under a heading")
	}
	if n := utf8.RuneCountInString(row.rule); n > longestRule {
		problems = append(problems, fmt.Sprintf("the rule has %d characters, %d are enough", n, longestRule))
	}
	if len(row.files) == 0 || len(row.functions) == 0 || len(row.scenarios) == 0 {
		problems = append(problems, "a row needs a file, a function and a scenario")
	}
	declared := map[string]bool{}
	for _, name := range row.files {
		if !tr.paths[name] {
			problems = append(problems, "no file "+name)
		}
		addObjects(declared, tr, name)
		for _, f := range tr.files {
			if f.path == name {
				addFunctions(declared, f)
			}
		}
	}
	for _, name := range row.functions {
		if !isDeclared(declared, name) {
			problems = append(problems, "no function "+name+" in "+strings.Join(row.files, ", "))
		}
	}
	for _, scenario := range row.scenarios {
		if problem := scenarioProblem(tr, scenario); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// scenarioProblem accepts a file, a file with a part of its text after a colon
// (`test/scenarios/max.txt: lowered`), and the name of a test.
func scenarioProblem(tr *tree, scenario string) string {
	if strings.HasPrefix(scenario, "Test") {
		for _, f := range tr.files {
			functions := map[string]bool{}
			if f.test {
				addFunctions(functions, f)
			}
			if functions[scenario] {
				return ""
			}
		}
		return "no test " + scenario
	}
	name, part, _ := strings.Cut(scenario, ":")
	for _, text := range tr.texts {
		if text.path != name {
			continue
		}
		if !strings.Contains(string(text.data), strings.TrimSpace(part)) {
			return name + " says nothing of " + strings.TrimSpace(part)
		}
		return ""
	}
	return "no scenario " + name
}

var objectName = regexp.MustCompile(`(?m)^  name: (\S+)$`)

// addObjects adds the names of the objects in a manifest: a policy of the API server is a function, too.
func addObjects(to map[string]bool, tr *tree, file string) {
	if !strings.HasSuffix(file, ".yaml") {
		return
	}
	for _, text := range tr.texts {
		if text.path == file {
			for _, match := range objectName.FindAllSubmatch(text.data, -1) {
				to[string(match[1])] = true
			}
		}
	}
}

// addFunctions adds the names a file declares: "Divide", "List.Add".
func addFunctions(to map[string]bool, f *goFile) {
	for _, declaration := range f.syntax.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := function.Name.Name
		if function.Recv != nil && len(function.Recv.List) == 1 {
			name = receiverName(function.Recv.List[0].Type) + "." + name
		}
		to[name] = true
	}
}

func receiverName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiverName(expr.X)
	case *ast.IndexExpr:
		return receiverName(expr.X)
	case *ast.IndexListExpr:
		return receiverName(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// isDeclared reads "(*Sum).Add()" as "Sum.Add", and "limit.Max" as "Max" where
// limit is no type.
func isDeclared(declared map[string]bool, name string) bool {
	name = strings.NewReplacer("(", "", ")", "", "*", "").Replace(name)
	_, unqualified, _ := strings.Cut(name, ".")
	return declared[name] || declared[unqualified]
}

var ruleTableSamples = []sample{
	{about: "no page", want: "docs/rules.md is missing"},
	{
		about: "no table",
		files: map[string]string{rulesTable: "All rules are good.\n"},
		want:  "has no table",
	},
	{
		about: "a file that is gone",
		files: ruleSample("| Max is hard | `pkg/core/limit/gone.go`, `pkg/core/limit/max.go` | `Max` | `test/scenarios/max.txt` |"),
		want:  "docs/rules.md:7: no file pkg/core/limit/gone.go",
	},
	{
		about: "a row that is too long",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Max` | `test/scenarios/max.txt`" + strings.Repeat(", `test/scenarios/max.txt`", 11) + " |"),
		want:  "docs/rules.md:7: the row has",
	},
	{
		about: "a function that is gone",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Maximum` | `test/scenarios/max.txt` |"),
		want:  "no function Maximum in pkg/core/limit/max.go",
	},
	{
		about: "a policy that is gone",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.yaml` | `max-pods` | `test/scenarios/max.txt` |"),
		want:  "no function max-pods in pkg/core/limit/max.yaml",
	},
	{
		about: "a policy that exists",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.yaml` | `max` | `test/scenarios/max.txt` |"),
	},
	{
		about: "a scenario that is gone",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Max` | `test/scenarios/gone.txt` |"),
		want:  "no scenario test/scenarios/gone.txt",
	},
	{
		about: "a case that is gone",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Max` | `test/scenarios/max.txt: raised` |"),
		want:  "test/scenarios/max.txt says nothing of raised",
	},
	{
		about: "a test that is gone",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Max` | `TestMaximum` |"),
		want:  "no test TestMaximum",
	},
	{
		about: "a row without a scenario",
		files: ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Max` | |"),
		want:  "a row needs a file, a function and a scenario",
	},
	{
		about: "a row under no heading",
		files: withRules(func(page string) string { return strings.Replace(page, "## Limits\n", "Limits:\n", 1) }),
		want:  "docs/rules.md:7: a row belongs under a heading",
	},
	{
		about: "a rule that needs a breath",
		files: ruleSample("| " + strings.Repeat("Max is hard ", 12) + "| `pkg/core/limit/max.go` | `Max` | `TestMax` |"),
		want:  "the rule has 143 characters",
	},
	{
		about: "a rule in two sections",
		files: withRules(func(page string) string { return page + "\n## Shares\n" + page[strings.Index(page, "\n| Rule"):] }),
		want:  "docs/rules.md:13: the rule of line 7 again",
	},
	{
		about: "functions, methods, files, cases and tests that exist",
		files: ruleSample("| Max is hard | pkg/core/limit/max.go | `limit.Max`, `(*book).add()`, `book.add` | `test/scenarios/max.txt`, `test/scenarios/max.txt: lowered`, `TestMax` |"),
	},
}

// withRules is a good tree with its page changed.
func withRules(change func(page string) string) map[string]string {
	files := ruleSample("| Max is hard | `pkg/core/limit/max.go` | `Max` | `TestMax` |")
	files[rulesTable] = change(files[rulesTable])
	return files
}

func ruleSample(row string) map[string]string {
	return map[string]string{
		rulesTable:                   "# Rules\n\n## Limits\n\n| Rule | File | Function | Scenario |\n|---|:--|---|---|\n" + row + "\n",
		"pkg/core/limit/max.go":      "package limit\ntype book struct{}\nfunc (b *book) add() {}\nfunc Max() {}\n",
		"pkg/core/limit/max_test.go": "package limit\nfunc TestMax() {}\n",
		"test/scenarios/max.txt":     "# max is lowered below usage\n",
		"pkg/core/limit/max.yaml":    "metadata:\n  name: max\n",
	}
}
