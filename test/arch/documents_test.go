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

var decisionSamples = []sample{
	{about: "no status", files: map[string]string{"docs/adr/0001-a.md": "# 0001\n\nStatus: accepted\n"}, want: "docs/adr/0001-a.md: no line"},
	{about: "a status", files: map[string]string{"docs/adr/0001-a.md": "# 0001\n\nStatus: superseded by 0002\n"}},
}
