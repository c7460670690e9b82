package arch

import (
	"fmt"
	"path"
	"strings"
)

// The front page is read by people who decide in minutes: what is longer goes to docs.
const mostFrontPageWords = 900

func documentLaws() []law {
	return []law{
		{name: "the front page is short", check: checkFrontPage, samples: frontPageSamples},
		{name: "docs/architecture.md has a row for every package", check: checkPackageRows, samples: packageRowSamples},
		{name: "decisions have a status", check: checkDecisions, samples: decisionSamples},
	}
}

func checkFrontPage(tr *tree) []string {
	for _, text := range tr.texts {
		if text.path == "README.md" {
			if n := len(strings.Fields(string(text.data))); n > mostFrontPageWords {
				return []string{fmt.Sprintf("README.md has %d words, at most %d are read: move the rest to docs", n, mostFrontPageWords)}
			}
		}
	}
	return nil
}

const architecture = "docs/architecture.md"

// checkPackageRows asks for each package of production code by its folder in
// backquotes, with or without "pkg/" and an API version.
func checkPackageRows(tr *tree) []string {
	named := map[string]bool{}
	for _, text := range tr.texts {
		if text.path == architecture {
			for line := range strings.Lines(string(text.data)) {
				for _, match := range backquoted.FindAllStringSubmatch(line, -1) {
					named[match[1]] = true
				}
			}
		}
	}
	var violations []string
	seen := map[string]bool{}
	for _, f := range tr.files {
		folder, ours := strings.CutPrefix(strings.TrimSuffix(f.dir, "/v1alpha1"), "pkg/")
		if !ours || f.test || seen[folder] {
			continue
		}
		seen[folder] = true
		if !named[folder] && !named["pkg/"+folder] {
			violations = append(violations, architecture+" has no row for pkg/"+folder+": say its job in one line")
		}
	}
	return violations
}

// statuses are how the status of a decision may begin.
var statuses = []string{"Status: in force", "Status: superseded by ", "Status: planned"}

func checkDecisions(tr *tree) []string {
	var violations []string
	for _, text := range tr.texts {
		if path.Dir(text.path) != "docs/adr" {
			continue
		}
		stated := false
		for _, status := range statuses {
			stated = stated || strings.Contains(string(text.data), "\n"+status)
		}
		if !stated {
			violations = append(violations, text.path+": no line that begins with one of: "+strings.Join(statuses, "; "))
		}
	}
	return violations
}

var frontPageSamples = []sample{
	{about: "long", files: map[string]string{"README.md": strings.Repeat("word ", 901)}, want: "README.md has 901 words"},
	{about: "short", files: map[string]string{"README.md": strings.Repeat("word ", 900), "docs/a.md": strings.Repeat("word ", 901)}},
}

var packageRowSamples = []sample{
	{
		about: "a package without a row",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\n", architecture: "| `ledgers` | many |\n"},
		want:  "no row for pkg/ledger",
	},
	{
		about: "packages with rows",
		files: map[string]string{
			"pkg/ledger/a.go": "package ledger\n", "pkg/apis/config/v1alpha1/a.go": "package v1alpha1\n", "pkg/a/a_test.go": "package a\n",
			architecture: "| `pkg/ledger` `apis/config` | state, arguments |\n",
		},
	},
}

var decisionSamples = []sample{
	{about: "no status", files: map[string]string{"docs/adr/0001-a.md": "# 0001\n\nStatus: accepted\n"}, want: "docs/adr/0001-a.md: no line"},
	{about: "a status", files: map[string]string{"docs/adr/0001-a.md": "# 0001\n\nStatus: superseded by 0002\n"}},
}
