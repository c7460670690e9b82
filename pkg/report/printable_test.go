package report

import "testing"

func TestPrintableShowsWhatATerminalWouldObey(t *testing.T) {
	colored, plain := Style{Color: true}, Style{}
	for _, c := range []struct {
		name, line, want string
		style            Style
	}{
		{"plain text stays", "root.ads ░░ 5 → 7 é 漢", "root.ads ░░ 5 → 7 é 漢", plain},
		{"clears the screen", "a\x1b[2Jb", `a\x1b[2Jb`, colored},
		{"title of the window", "\x1b]0;x\a", `\x1b]0;x\a`, plain},
		{"line breaks", "a\r\nb\tc", `a\r\nb\tc`, plain},
		{"eight-bit control", "a\u009b2Jb", `a\u009b2Jb`, plain},
		{"turns text around", "a\u202eb", `a\u202eb`, plain},
		{"line separator", "a\u2028b", `a\u2028b`, plain},
		{"no character", "a\xffb", `a\xffb`, plain},
		{"own color stays", "\x1b[1mroot\x1b[0m", "\x1b[1mroot\x1b[0m", colored},
		{"no color is ours without colors", "\x1b[1mroot\x1b[0m", `\x1b[1mroot\x1b[0m`, plain},
		{"hidden text", "\x1b[8mroot", `\x1b[8mroot`, colored},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.style.Printable([]string{c.line})[0]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
