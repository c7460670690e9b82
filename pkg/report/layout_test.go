package report

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestCompareMatchesRowsByKey(t *testing.T) {
	columns := []Column{{Title: "NAME"}, {Title: "SHARE", Rank: 1}, {Title: "STATE", Rank: 2}}
	table := func(rows ...string) Table {
		t := Table{Columns: columns}
		for _, row := range rows {
			cells := strings.Split(row, " ")
			t.Keys, t.Rows = append(t.Keys, cells[0]), append(t.Rows, cells)
		}
		return t
	}
	got := Compare(table("first 1 x", "same 2 x", "more 3 x", "last 4 x", "end 5 x"), table("same 2 x", "new 9 x", "more 30 x", "end 5 "), Style{ASCII: true})
	want := [][]string{
		{"first", "gone", "1", "x"}, {"same", "", "2", "x"}, {"new", "new", "9", "x"},
		{"more", "changed", "3 -> 30", "x"}, {"last", "gone", "4", "x"}, {"end", "changed", "5", "x -> -"},
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A screen too narrow for all columns shows those that differ, even if it would otherwise show columns of
	// lower rank.
	same := Compare(table("a 1 x"), table("a 1 y"), Style{ASCII: true})
	if lines := same.Lines(24, Style{}); !strings.Contains(lines[0], "STATE") || strings.Contains(lines[0], "SHARE") {
		t.Errorf("got %q", lines)
	}
}

func TestColumnsThatSayNothingAreLeftOutForPeople(t *testing.T) {
	table := Table{Columns: []Column{{Title: "NAME"}, {Title: "STATE", Usual: "Running"}}, Rows: [][]string{{"a", "Running"}, {"b", ""}}}
	if got := table.Lines(80, Style{})[0]; got != "NAME" {
		t.Errorf("got %q", got)
	}
	table.Full = true
	if got := table.Lines(0, Style{})[0]; got != "NAME   STATE" {
		t.Errorf("got %q in full", got)
	}
	table.Full, table.Rows[1][1] = false, "Draining"
	if got := table.Lines(80, Style{})[0]; got != "NAME   STATE" {
		t.Errorf("got %q where one is of note", got)
	}
}

func TestWrapKeepsWordsAndWidth(t *testing.T) {
	want := []string{"  one two", "    three", "    four"}
	if got := Wrap("one two three four", 10, "  "); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("[a-zä]{1,12}"), 1, 20).Draw(t, "words")
		width := rapid.IntRange(16, 60).Draw(t, "width")
		lines := Wrap(strings.Join(words, " "), width, "  ")
		for _, line := range lines {
			if utf8.RuneCountInString(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
		if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, words) {
			t.Fatalf("got %q of %q", got, words)
		}
	})
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).UnixNano()
	for ago, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 125 * time.Second: "2m5s", 5 * time.Hour: "5h", 49 * time.Hour: "2d1h", -time.Hour: "0s",
	} {
		if got := (Layout{Now: now}).age(now - int64(ago)); got != want {
			t.Errorf("%s ago: got %q, want %q", ago, got, want)
		}
	}
	if got := (Layout{Now: now}).age(0); got != "-" {
		t.Errorf("never: got %q", got)
	}
}

// Each of the characters takes two cells. A name is cut at its front.
func TestWideCharactersTakeTwoCells(t *testing.T) {
	table := Table{Columns: []Column{{Title: "USER"}, {Title: "N"}}, Rows: [][]string{{"作业员", "1"}, {"ab", "2"}}}
	if got, want := table.Lines(0, Style{}), []string{"USER     N", "作业员   1", "ab       2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Clip("作业员", 5); got != "作业" {
		t.Errorf("clipped to %q", got)
	}
	if got := cutFront("作业员", 5, Style{}); got != "…业员" {
		t.Errorf("cut to %q", got)
	}
	if got, want := Wrap("作业 员", 7, "  "), []string{"  作业", "    员"}; !slices.Equal(got, want) {
		t.Errorf("wrapped to %q", got)
	}
}

func TestStatedAmountsNameOnlyWhatIsStated(t *testing.T) {
	list := resource.Of(resource.Entry{Name: resource.Memory, Value: 3 * gi / 2}, resource.Entry{Name: "example.com/gpu", Value: 8})
	if got := (Layout{}).stated(list); got != "8gpu 1.5Gi" {
		t.Errorf("got %q", got)
	}
	if got := (Layout{Wide: true}).stated(list); got != "example.com/gpu=8 memory=1536Mi" {
		t.Errorf("got %q", got)
	}
	if got := (Layout{}).stated(resource.List{}); got != "-" {
		t.Errorf("got %q", got)
	}
}
