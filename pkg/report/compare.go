package report

import (
	"slices"
	"strconv"
)

// sameRank is higher than any rank of a column with a difference.
const sameRank = 100

// Compare joins two states of one table. Rows are matched by key. A cell that differs shows both values, and
// the second column says which rows are changed, new or gone. A narrow screen first drops the columns without
// a difference.
func Compare(before, after Table, style Style) Table {
	out := Table{Columns: slices.Insert(slices.Clone(after.Columns), 1, Column{Title: "CHANGE"}), Full: after.Full}
	rows := func(t Table) map[string]int {
		at := make(map[string]int, len(t.Keys))
		for i, key := range t.Keys {
			at[key] = i
		}
		return at
	}
	was, is := rows(before), rows(after)
	add := func(key string, row []string, change string) {
		if change != "" {
			out.emphasise(len(out.Rows), bold)
		}
		out.Keys = append(out.Keys, key)
		out.Rows = append(out.Rows, slices.Insert(slices.Clone(row), 1, change))
	}
	gone, last := map[string][]int{}, "" // a row that is gone stays behind its earlier predecessor
	for i, key := range before.Keys {
		if _, stays := is[key]; stays {
			last = key
		} else {
			gone[last] = append(gone[last], i)
		}
	}
	addGone := func(behind string) {
		for _, i := range gone[behind] {
			add(before.Keys[i], before.Rows[i], "gone")
		}
	}
	differs := make([]bool, len(after.Columns))
	addGone("")
	for i, row := range after.Rows {
		old, existed := was[after.Keys[i]]
		if !existed {
			add(after.Keys[i], row, "new")
			continue
		}
		joined, changed := slices.Clone(row), ""
		for c := range joined[1:] {
			if b := before.Rows[old][c+1]; b != row[c+1] {
				joined[c+1], changed = orNothing(b)+style.arrow()+orNothing(row[c+1]), "changed"
				differs[c+1] = true
			}
		}
		add(after.Keys[i], joined, changed)
		addGone(after.Keys[i])
	}
	for i, column := range after.Columns {
		if column.Rank > 0 && !differs[i] {
			out.Columns[i+1].Rank += sameRank
		}
	}
	return out
}

func orNothing(text string) string {
	if text == "" {
		return nothing
	}
	return text
}

// counted prints a number of things.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
