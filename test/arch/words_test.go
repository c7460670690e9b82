package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"regexp"
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

// A bannedWord is a word of our own for which the glossary has a better one. It
// may be several words of a name ("keptOut"). inText bans it from sentences
// too: comments, messages, documents.
type bannedWord struct {
	word, say string
	inText    bool
}

// banned may stand nowhere.
var banned = []bannedWord{
	{"allowance", "maxInFlight", false},
	{"anew", "again; new", true},
	{"asker", "queueRequest", true},
	{"atom", "unit: what is evicted as one", false},
	{"atoms", "unit: what is evicted as one", false},
	{"endanger", "wouldStarve", true},
	{"endangers", "wouldStarve", true},
	{"errand", "pending action", true},
	{"errands", "pending action", true},
	{"forgive", "retryRefused", true},
	{"forgives", "retryRefused", true},
	{"homeless", "orphan: a pod without a queue in force", true},
	{"insist", "resolveConflict", true},
	{"insists", "resolveConflict", true},
	{"keeper", "the group for which nodes are held", true},
	{"keepers", "the group for which nodes are held", true},
	{"keptFor", "heldFor", false},
	{"keptOut", "blockedByAppLimit", false},
	{"kin", "affinity between pods", true},
	{"merit", "victimRank", false},
	{"nextOwed", "retryFirst", false},
	{"occupy", "assume", false},
	{"onItsWay", "releasing", false},
	{"putBack", "eviction memory", false},
	{"retree", "rebuildTree", true},
	{"seat", "releaseGroup", false},
	{"seats", "releaseGroup", false},
	{"silence", "clearLastFailed", false},
	{"spare", "exempt; idle; free", true},
	{"spared", "exempt; stays", true},
	{"spares", "exempts", true},
	{"sparing", "exempting", true},
	{"speaker", "lastFailed", true},
	{"spot", "assumedOn", false},
	{"takesKept", "exceedsMax, counting nominations", false},
	{"telling", "condition update", true},
	{"tellings", "condition update", true},
	{"untold", "condition to retry", true},
	{"whoever", "a pod that; anyone who", true},
	{"whomever", "a pod that; anyone who", true},
	{"witness", "fitNode", false},
}

const glossary = "docs/glossary.md"

// The files that have to name these words.
var namesBanned = []string{glossary, "test/arch/words_test.go"}

func wordLaws() []law {
	return []law{
		{name: "one name per thing", check: checkWords, samples: wordSamples},
		{name: "plain words", check: checkBanned, samples: bannedSamples},
		{name: "no sentence begins with a riddle", check: checkWho, samples: whoSamples},
		{name: glossary + " is in order", check: checkGlossary, samples: glossarySamples},
	}
}

func checkBanned(tr *tree) []string { return bannedIn(tr, banned) }

// A sentence that begins with "Who" and asks nothing, neither directly nor before a colon, leaves the reader to find out of whom it speaks: "Who waits
// is looked at again" is "A pod that waits is looked at again". A line that does not end its sentence counts as a sentence.
var (
	whoSentence = regexp.MustCompile(`(?:^|[.!?]\*{0,2} |\| |^\s*[*-] |^\s*//\s*)(Who [^.;:?]*)(?:$|[.;])`)
	whoTest     = regexp.MustCompile(`^(Test|Fuzz|Benchmark)Who[A-Z]`)
)

func checkWho(tr *tree) []string {
	var violations []string
	look := func(place, text string) {
		if found := whoSentence.FindStringSubmatch(text); found != nil {
			violations = append(violations, fmt.Sprintf("%s: say of whom %q speaks: a pod that ..., a user that ...", place, found[1]))
		}
	}
	for _, text := range tr.texts {
		for i, line := range strings.Split(string(text.data), "\n") {
			if path.Ext(text.path) == ".md" && !strings.HasPrefix(line, "#") {
				look(text.path+":"+strconv.Itoa(i+1), line)
			}
		}
	}
	for _, f := range tr.files {
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				look(tr.at(comment.Pos()), comment.Text)
			}
		}
		for _, d := range f.syntax.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && whoTest.MatchString(function.Name.Name) {
				violations = append(violations, tr.at(d.Pos())+": the name "+function.Name.Name+" does not say of whom it speaks")
			}
		}
	}
	return violations
}

// bannedIn looks through all files: Go files by what they declare, their
// comments and their strings, others line by line. What a document has in
// backquotes is the name of something else.
func bannedIn(tr *tree, list []bannedWord) []string {
	var violations []string
	look := func(place, text string, asText bool) {
		for _, w := range list {
			if (!asText || w.inText) && holdsWord(wordsOf(text), wordsOf(w.word)) {
				violations = append(violations, place+": "+w.word+" is no word of ours: say "+w.say)
			}
		}
	}
	for _, text := range tr.texts {
		if slices.Contains(namesBanned, text.path) || slices.Contains(strings.Split(text.path, "/"), "testdata") {
			continue
		}
		look(text.path, strings.TrimSuffix(path.Base(text.path), path.Ext(text.path)), false)
		if path.Ext(text.path) == ".go" {
			continue
		}
		for i, line := range strings.Split(string(text.data), "\n") {
			if path.Ext(text.path) == ".md" {
				line = backquoted.ReplaceAllString(line, "")
			}
			look(text.path+":"+strconv.Itoa(i+1), line, true)
		}
	}
	for _, f := range tr.files {
		if f.generated || slices.Contains(namesBanned, f.path) {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				look(tr.at(comment.Pos()), comment.Text, true)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			for _, name := range declaredBy(n) {
				look(tr.at(n.Pos()), name, false)
			}
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				look(tr.at(n.Pos()), literal.Value, true)
			}
			return true
		})
	}
	return violations
}

// holdsWord reports whether the words of part follow one another in words.
func holdsWord(words, part []string) bool {
	for i := range words {
		if len(words)-i >= len(part) && slices.Equal(words[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// checkGlossary looks that each word is defined once, that the words of a
// section are in order, and that it names every word that is banned.
func checkGlossary(tr *tree) []string {
	i := slices.IndexFunc(tr.texts, func(text textFile) bool { return text.path == glossary })
	if i < 0 {
		return []string{glossary + " is missing: it defines the words of the trade"}
	}
	var violations []string
	seen := map[string]bool{}
	before := ""
	for i, line := range strings.Split(string(tr.texts[i].data), "\n") {
		if strings.HasPrefix(line, "#") {
			before = ""
		}
		cells := tableCells(line)
		if len(cells) < 2 || isSeparator(cells) || cells[0] == "word" || cells[0] == "not" {
			continue
		}
		word := strings.ToLower(strings.NewReplacer("*", "", "`", "").Replace(cells[0]))
		if word < before {
			violations = append(violations, fmt.Sprintf("%s:%d: %s comes before %s", glossary, i+1, word, before))
		}
		before = word
		for word := range strings.SplitSeq(word, ", ") {
			if seen[word] {
				violations = append(violations, fmt.Sprintf("%s:%d: %s is there already", glossary, i+1, word))
			}
			seen[word] = true
		}
	}
	for _, w := range banned {
		if !seen[strings.ToLower(w.word)] {
			violations = append(violations, glossary+": the banned word "+w.word+" is not in the table")
		}
	}
	return violations
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

var bannedSamples = []sample{
	{
		about: "a name",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nvar nextKin int\n"},
		want:  "pkg/ledger/a.go:2: kin is no word of ours: say affinity between pods",
	},
	{
		about: "a comment",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\n\n// f finds the kin of a pod.\nfunc f() {}\n"},
		want:  "pkg/ledger/a.go:3: kin",
	},
	{
		about: "a message",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\nconst text = \"no kin\"\n"},
		want:  "pkg/ledger/a.go:2: kin",
	},
	{
		about: "a document",
		files: map[string]string{"docs/a.md": "It is\ntried Anew.\n"},
		want:  "docs/a.md:2: anew is no word of ours: say again",
	},
	{
		about: "a file",
		files: map[string]string{"docs/errands.md": "What is to be done.\n"},
		want:  "docs/errands.md: errands",
	},
	{
		about: "a part of a word, words that are banned as names only, upstream's name, a name in a document",
		files: map[string]string{
			"docs/a.md":       "What kind of silence is kept out by `kin`?\n",
			"pkg/ledger/a.go": "package ledger\n\nimport \"x/kin2\"\n\nvar kinds = kin2.Kin\n",
		},
	},
}

var whoSamples = []sample{
	{
		about: "a comment",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\n\n// Who waits is looked at again.\nfunc f() {}\n"},
		want:  `pkg/ledger/a.go:3: say of whom "Who waits is looked at again" speaks`,
	},
	{
		about: "a document",
		files: map[string]string{"docs/a.md": "That is all. Who may write it\nhas it.\n"},
		want:  "docs/a.md:1: say of whom",
	},
	{
		about: "a test",
		files: map[string]string{"pkg/ledger/a_test.go": "package ledger\nfunc TestWhoWaits(t *testing.T) {}\n"},
		want:  "a_test.go:2: the name TestWhoWaits",
	},
	{
		about: "questions, headings, and whole",
		files: map[string]string{
			"docs/a.md":            "# Who waits\n\nWho waits? Somebody. Who gets it: the first.\n",
			"pkg/ledger/a_test.go": "package ledger\n\n// Whole groups. Who goes:\nfunc TestWholeGroups(t *testing.T) {}\n",
		},
	},
}

var glossarySamples = []sample{
	{about: "no page", want: "docs/glossary.md is missing"},
	{about: "in order, each once", files: glossarySample("")},
	{
		about: "words out of order",
		files: glossarySample("\n| word | meaning |\n|---|---|\n| gate | A rule. |\n| driver | A pod. |\n"),
		want:  "driver comes before gate",
	},
	{
		about: "a word in two sections",
		files: glossarySample("\n| word | meaning |\n|---|---|\n| gate | A rule. |\n\n## More\n\n| barrier, gate* | Another rule. |\n"),
		want:  "gate is there already",
	},
	{
		about: "a banned word that it does not name",
		files: map[string]string{glossary: strings.Replace(glossarySample("")[glossary], "`kin`", "`kith`", 1)},
		want:  "the banned word kin is not in the table",
	},
}

func glossarySample(more string) map[string]string {
	var words []string
	for _, w := range banned {
		words = append(words, strings.ToLower(w.word))
	}
	slices.Sort(words)
	page := "# Glossary\n\n| not | but |\n|---|---|\n"
	for _, word := range words {
		page += "| `" + word + "` | another |\n"
	}
	return map[string]string{glossary: page + "\n## Rules\n" + more}
}
