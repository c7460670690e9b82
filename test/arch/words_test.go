package arch

import (
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// One name per thing, the field's own. Other projects' words for the same
// things would send a reader looking for a difference that is not there.
var synonyms = []struct{ stem, say string }{
	{"quota", "guaranteed or max"},
	{"deserved", "fairShare"},
	{"reclaim", "preempt"},
	{"cohort", "parent queue"},
}

func wordLaws() []law {
	return []law{{name: "one name per thing", check: checkWords, samples: wordSamples}}
}

// checkWords looks at what we name: declarations, JSON names, files and folders.
// Uses are left alone, since upstream's identifiers are not ours to choose.
func checkWords(tr *tree) []string {
	var violations []string
	flag := func(place, name string) {
		if say := synonymIn(name); say != "" {
			violations = append(violations, place+": the name "+name+" is a synonym: say "+say)
		}
	}
	for _, text := range tr.texts {
		flag(text.path, strings.TrimSuffix(path.Base(text.path), path.Ext(text.path)))
	}
	for _, f := range tr.files {
		if f.generated {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			for _, name := range declaredBy(n) {
				flag(tr.at(n.Pos()), name)
			}
			return true
		})
	}
	return violations
}

// declaredBy returns the names that a node brings into the world.
func declaredBy(n ast.Node) []string {
	var names []string
	add := func(exprs ...ast.Expr) {
		for _, expr := range exprs {
			if ident, ok := expr.(*ast.Ident); ok && ident != nil {
				names = append(names, ident.Name)
			}
		}
	}
	switch n := n.(type) {
	case *ast.File:
		add(n.Name)
	case *ast.ImportSpec:
		add(n.Name)
	case *ast.FuncDecl:
		add(n.Name)
	case *ast.TypeSpec:
		add(n.Name)
	case *ast.ValueSpec:
		for _, name := range n.Names {
			add(name)
		}
	case *ast.Field:
		for _, name := range n.Names {
			add(name)
		}
		if json := jsonName(n.Tag); json != "" && len(n.Names) > 0 && !strings.EqualFold(json, n.Names[0].Name) {
			names = append(names, json)
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			add(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			add(n.Key, n.Value)
		}
	case *ast.LabeledStmt:
		add(n.Label)
	}
	return names
}

func jsonName(tag *ast.BasicLit) string {
	if tag == nil {
		return ""
	}
	text, err := strconv.Unquote(tag.Value)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	return name
}

// synonymIn returns what to say instead of the synonym in a name, or "".
func synonymIn(name string) string {
	words := wordsOf(name)
	for i, word := range words {
		for _, s := range synonyms {
			// The longest English endings are "reclaimable" and "reclaiming"; more
			// letters make another word ("quotation").
			if strings.HasPrefix(word, s.stem) && slices.Contains([]string{"", "s", "ed", "er", "ing", "able"}, word[len(s.stem):]) {
				return s.say
			}
		}
		if word == "job" && i+1 < len(words) && strings.TrimSuffix(words[i+1], "s") == "queue" {
			return "queue"
		}
	}
	return ""
}

// wordsOf splits camelCase, snake_case and dashed names into lower-case words.
func wordsOf(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		starts := unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

var wordSamples = []sample{
	{
		about: "a function",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nfunc (l *Ledger) reclaimable() {}\n"},
		want:  "pkg/ledger/a.go:2: the name reclaimable is a synonym: say preempt",
	},
	{
		about: "a word inside a name",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nvar perCPUQuotas int\n"},
		want:  "say guaranteed or max",
	},
	{
		about: "a local variable",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nfunc f() {\n\tdeservedShare := 1\n\t_ = deservedShare\n}\n"},
		want:  "a.go:3: the name deservedShare",
	},
	{
		about: "a JSON name",
		files: map[string]string{"pkg/apis/a.go": "package apis\ntype spec struct {\n\tGroup string `json:\"cohort,omitempty\"`\n}\n"},
		want:  "say parent queue",
	},
	{
		about: "two words that make one",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\ntype jobQueue int\n"},
		want:  "say queue",
	},
	{
		about: "a file",
		files: map[string]string{"docs/quota.md": "What a queue gets.\n"},
		want:  "docs/quota.md: the name quota",
	},
	{
		about: "upstream's word, and another word",
		files: map[string]string{"pkg/kube/a.go": "package kube\nimport v1 \"k8s.io/api/core/v1\"\nvar quotation = v1.PersistentVolumeReclaimDelete\n"},
	},
}
