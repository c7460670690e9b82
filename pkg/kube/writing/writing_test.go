package writing

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"a sentence", 9, "a sent..."},
		{"a b c d", 5, "a..."},
		{"ééééé", 8, "éé..."},
		{"", 0, ""},
	} {
		got := Cut(tc.text, tc.limit)
		if got != tc.want || !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.text, tc.limit, got, tc.want)
		}
	}
	if got := Cut(strings.Repeat("ü", 5000), 1024); len(got) > 1024 || !utf8.ValidString(got) {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestWhatIsWrittenIsPrintable(t *testing.T) {
	if got, want := Cut("queue a\x1b[2J\n\u202eb does not exist", 25), `queue a\x1b[2J\n\u202e...`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
