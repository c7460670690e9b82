package cli

import (
	"cmp"
	"slices"
	"strings"
)

// mostNear is how many names a message suggests at most.
const mostNear = 3

// suggestion is the end of a message about a name that does not exist: similar names.
func suggestion(name string, names []string) string {
	type candidate struct {
		name     string
		distance int
	}
	last := name[strings.LastIndexByte(name, '.')+1:] // the part of a queue's path that people remember
	if last != name {
		last = "." + last
	}
	var found []candidate
	for _, n := range names {
		d := distance(name, n)
		if strings.Contains(n, name) || strings.HasSuffix(n, last) {
			d = min(d, 1)
		}
		if d <= max(len(name)/4, 2) {
			found = append(found, candidate{n, d})
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.distance-b.distance, cmp.Compare(a.name, b.name)) })
	found = slices.CompactFunc(found, func(a, b candidate) bool { return a.name == b.name })
	words := make([]string, min(len(found), mostNear))
	for i := range words {
		words[i] = found[i].name
	}
	return "; did you mean " + strings.Join(words, " or ") + "?"
}

// distance is how many letters must be inserted, removed or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
