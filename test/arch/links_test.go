package arch

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

func linkLaws() []law {
	return []law{
		{name: "links of documents lead somewhere", check: checkLinks, samples: linkSamples},
		{name: "documents name paths that exist", check: checkNamedPaths, samples: namedPathSamples},
		{name: "documents name targets that make has", check: checkTargets, samples: targetSamples},
		{name: "documents name tests that exist", check: checkNamedTests, samples: namedTestSamples},
	}
}

// A page is a document without its fenced blocks, and these by themselves. The lines keep their numbers.
type page struct {
	path         string
	text, fenced []string
}

func pages(tr *tree) (all []page) {
	for _, text := range tr.texts {
		if path.Ext(text.path) != ".md" {
			continue
		}
		p, inside := page{path: text.path}, false
		for _, line := range strings.Split(string(text.data), "\n") {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			in, out := line, line
			if inside || fence {
				out = ""
			}
			if !inside || fence {
				in = ""
			}
			inside = inside != fence
			p.text, p.fenced = append(p.text, out), append(p.fenced, in)
		}
		all = append(all, p)
	}
	return all
}

// code calls see for each piece of code of a page: what is in backquotes, also over the end of a line, and each line of a fenced block.
func (p *page) code(see func(line int, code string)) {
	text := strings.Join(p.text, "\n")
	for _, at := range backquoted.FindAllStringIndex(text, -1) {
		see(1+strings.Count(text[:at[0]], "\n"), strings.Join(strings.Fields(strings.Trim(text[at[0]:at[1]], "`")), " "))
	}
	for i, line := range p.fenced {
		if line = strings.TrimSpace(line); line != "" {
			see(i+1, line)
		}
	}
}

// is reports whether a path, or a pattern of paths, is a file or a folder of the tree.
func (tr *tree) is(pattern string) bool {
	levels := strings.Count(pattern, "/") + 1
	for name := range tr.paths {
		parts := strings.Split(name, "/")
		if len(parts) < levels {
			continue
		}
		if matched, err := path.Match(pattern, strings.Join(parts[:levels], "/")); err == nil && matched {
			return true
		}
	}
	return false
}

var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func checkLinks(tr *tree) []string {
	var violations []string
	all := pages(tr)
	anchors := map[string][]string{}
	for i := range all {
		anchors[all[i].path] = headingAnchors(&all[i])
	}
	for _, p := range all {
		for i, line := range p.text {
			for _, match := range markdownLink.FindAllStringSubmatch(line, -1) {
				to, anchor, anchored := strings.Cut(match[1], "#")
				if strings.Contains(to, "://") {
					continue
				}
				target := p.path
				if to != "" {
					target = path.Join(path.Dir(p.path), to)
				}
				place := fmt.Sprintf("%s:%d: ", p.path, i+1)
				if !tr.is(target) {
					violations = append(violations, place+"the link "+match[1]+" leads to "+target+", which does not exist")
				} else if anchored && !slices.Contains(anchors[target], anchor) {
					violations = append(violations, place+"the link "+match[1]+": "+target+" has no such heading")
				}
			}
		}
	}
	return violations
}

// headingAnchors are the names by which links find the headings of a page.
func headingAnchors(p *page) (names []string) {
	for _, line := range p.text {
		heading, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !is || !strings.HasPrefix(line, "#") {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading))
	}
	return names
}

// A path of the tree in code, with or without ./ or, where the tree is a folder of somebody's own, fairway/ before it.
var namedPath = regexp.MustCompile(`(?:^|[\s=,(])(?:\./|fairway/)?((?:cmd|docs|hack|manifests|pkg|test)/[\w./*-]+)`)

var kustomization = regexp.MustCompile(`\s-k (\S+)`)

func checkNamedPaths(tr *tree) []string {
	var violations []string
	for _, p := range pages(tr) {
		p.code(func(line int, code string) {
			for _, match := range namedPath.FindAllStringSubmatch(code, -1) {
				name := strings.TrimRight(strings.TrimSuffix(match[1], "/..."), "./")
				if !tr.is(name) {
					violations = append(violations, fmt.Sprintf("%s:%d: there is no %s", p.path, line, name))
				}
			}
			for _, match := range kustomization.FindAllStringSubmatch(code, -1) {
				if !tr.paths[path.Join(match[1], "kustomization.yaml")] {
					violations = append(violations, fmt.Sprintf("%s:%d: kubectl -k %s: no kustomization.yaml is there", p.path, line, match[1]))
				}
			}
		})
	}
	return violations
}

var (
	makeCall   = regexp.MustCompile(`^(?:\$ )?make((?: +[a-z-]+)+)`)
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

func checkTargets(tr *tree) []string {
	targets := map[string]bool{}
	for _, text := range tr.texts {
		if text.path == "Makefile" {
			for _, match := range makeTarget.FindAllStringSubmatch(string(text.data), -1) {
				targets[match[1]] = true
			}
		}
	}
	var violations []string
	for _, p := range pages(tr) {
		p.code(func(line int, code string) {
			for _, match := range makeCall.FindAllStringSubmatch(code, -1) {
				for target := range strings.FieldsSeq(match[1]) {
					if !targets[target] {
						violations = append(violations, fmt.Sprintf("%s:%d: make has no target %s", p.path, line, target))
					}
				}
			}
		})
	}
	return violations
}

var namedTest = regexp.MustCompile(`\b((?:Test|Benchmark)[A-Z]\w+)(\.\.\.)?`)

// checkNamedTests: a page that says what a test shows names one that exists. A name with three dots is the beginning of several.
func checkNamedTests(tr *tree) []string {
	var tests []string
	for _, f := range tr.files {
		for _, d := range f.syntax.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && f.test {
				tests = append(tests, function.Name.Name)
			}
		}
	}
	var violations []string
	for _, p := range pages(tr) {
		p.code(func(line int, code string) {
			for _, match := range namedTest.FindAllStringSubmatch(code, -1) {
				is := func(test string) bool { return test == match[1] || match[2] != "" && strings.HasPrefix(test, match[1]) }
				if !slices.ContainsFunc(tests, is) {
					violations = append(violations, fmt.Sprintf("%s:%d: there is no %s", p.path, line, match[1]))
				}
			}
		})
	}
	return violations
}

var linkSamples = []sample{
	{
		about: "to a page that is gone",
		files: map[string]string{"docs/a.md": "See [b](b.md).\n"},
		want:  "docs/a.md:1: the link b.md leads to docs/b.md",
	},
	{
		about: "to a heading that is gone",
		files: map[string]string{"README.md": "\nSee [b](docs/b.md#how).\n", "docs/b.md": "# Why\n\n```\n# how\n```\n"},
		want:  "README.md:2: the link docs/b.md#how: docs/b.md has no such heading",
	},
	{
		about: "that lead somewhere",
		files: map[string]string{
			"README.md": "[b](docs/b.md#a-pods-way), [all](docs), [out](https://example.com/x.md), [here](#top)\n# Top\n",
			"docs/b.md": "## A pod's way\n[back](../README.md)\n```\n[no](link.md)\n```\n",
		},
	},
}

var namedPathSamples = []sample{
	{about: "a file that is gone", files: map[string]string{"docs/a.md": "Look at `pkg/a/b.go`.\n"}, want: "docs/a.md:1: there is no pkg/a/b.go"},
	{about: "in a block", files: map[string]string{"docs/a.md": "```sh\ncat manifests/a.yaml\n```\n"}, want: "docs/a.md:2: there is no manifests/a.yaml"},
	{
		about: "no kustomization",
		files: map[string]string{"docs/a.md": "`kubectl apply -k manifests/a`\n", "manifests/a/b.yaml": ""},
		want:  "kubectl -k manifests/a: no kustomization.yaml",
	},
	{
		about: "paths that exist",
		files: map[string]string{
			"docs/a.md":  "`go test ./pkg/a/...`, `pkg/*/a.go`, `fairway/manifests`, `kubectl apply\n-k manifests`; `example.com/pkg/x`\n",
			"pkg/a/a.go": "package a\n", "manifests/kustomization.yaml": "",
		},
	},
}

var targetSamples = []sample{
	{
		about: "no such target",
		files: map[string]string{"docs/a.md": "Run `make verify tests`.\n", "Makefile": "verify: ## x\n"},
		want:  "docs/a.md:1: make has no target tests",
	},
	{
		about: "targets",
		files: map[string]string{"docs/a.md": "Tests make pods. `make test` or\n```\n$ make test-unit P=3 # x\n```\n", "Makefile": "test: test-unit\ntest-unit:\n"},
	},
}

var namedTestSamples = []sample{
	{
		about: "a test that is gone",
		files: map[string]string{"docs/a.md": "Measured by `BenchmarkGone`.\n", "pkg/a/a_test.go": "package a\nfunc TestGo() {}\n"},
		want:  "docs/a.md:1: there is no BenchmarkGone",
	},
	{
		about: "tests",
		files: map[string]string{
			"docs/a.md":       "A Tester runs `TestGo` and `go test -run TestEvery...`.\n",
			"pkg/a/a_test.go": "package a\nfunc TestGo() {}\nfunc TestEveryWay() {}\n",
		},
	},
}
