package documents

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

const root = "../.."

// fairway runs kubectl fairway on a terminal of 80 columns, without a cluster.
func fairway(t *testing.T, args ...string) (out, failed string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	screen := tty.Screen{Out: &stdout, Terminal: true, Size: func() (int, int) { return 80, 40 }}
	cli.Run(t.Context(), args, cli.Environment{In: strings.NewReader(""), Out: screen, Err: &stderr, Now: time.Now})
	return stdout.String(), stderr.String()
}

func blocks(t *testing.T) []Block {
	t.Helper()
	all, err := Blocks(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkParses fails the test if a command line of kubectl fairway has a flag or an argument that the command does not take. Nothing is there to answer
// it, so any other error is right.
func checkParses(t *testing.T, at, line string) {
	t.Helper()
	args := Words(line)[2:]
	if len(args) == 1 && !strings.HasPrefix(args[0], "-") { // a mention of a command, which may lack its arguments
		if out, _ := fairway(t, args[0], "--help"); !strings.Contains(out, "\n  kubectl fairway "+args[0]) {
			t.Errorf("%s: %s: there is no such command", at, line)
		}
		return
	}
	if _, failed := fairway(t, append(args, "--kubeconfig=none", "--server=")...); strings.Contains(failed, "; see 'kubectl fairway") {
		t.Errorf("%s: %s: %s", at, line, failed)
	}
}

var (
	mention    = regexp.MustCompile("`(kubectl\\s+fairway[^`]*)`")
	commandRow = regexp.MustCompile("(?m)^\\| (`.*`) \\| .* \\|$")
	inCode     = regexp.MustCompile("`([^`]*)`")
)

func TestCommandsParse(t *testing.T) {
	none := t.TempDir()
	all := blocks(t)
	pages := map[string]string{}
	for _, b := range all {
		if pages[b.Page] == "" {
			text, err := os.ReadFile(filepath.Join(root, b.Page))
			if err != nil {
				t.Fatal(err)
			}
			pages[b.Page] = string(text)
		}
	}
	t.Chdir(none)
	n := 0
	for _, b := range all {
		for _, c := range b.Commands() {
			if strings.HasPrefix(c.Line, "kubectl fairway") {
				checkParses(t, b.At(), c.Line)
				n++
			}
		}
	}
	for page, text := range pages {
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			checkParses(t, page, strings.Join(strings.Fields(match[1]), " "))
			n++
		}
	}
	_, table, _ := strings.Cut(pages["docs/kubectl-fairway.md"], "## Commands\n")
	table, _, _ = strings.Cut(table, "\n\nThe others take")
	for _, row := range commandRow.FindAllStringSubmatch(table, -1) {
		for _, match := range inCode.FindAllStringSubmatch(row[1], -1) {
			checkParses(t, "docs/kubectl-fairway.md", "kubectl fairway "+strings.Trim(match[1], "[]"))
			n++
		}
	}
	t.Logf("%d command lines", n)
	if n < 50 {
		t.Error("the pages have more than that")
	}
}

// What the pages show is what the commands print. The files are those of the tests of pkg/cli and the examples of docs. A line of three dots stands for
// any number of lines.
func TestShownAnswersAreTrue(t *testing.T) {
	all := blocks(t)
	dir := t.TempDir()
	for _, from := range []string{"pkg/cli/testdata/worlds", "docs/examples/yarn"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, from))); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	n := 0
	for _, b := range all {
		for _, c := range b.Commands() {
			if !strings.HasPrefix(c.Line, "kubectl fairway") || c.Output == "" {
				continue
			}
			args := Words(c.Line)[2:]
			if file, marked := strings.CutPrefix(b.Mark, "of "); marked {
				args = append(args, "-f", file)
			}
			out, failed := fairway(t, args...)
			if strings.Contains(c.Line, " > ") {
				out = ""
			}
			if !shows(strings.Split(strings.TrimSpace(c.Output), "\n"), strings.Split(strings.TrimSpace(out+failed), "\n")) {
				t.Errorf("%s: %s\nthe page shows\n%s\nit prints\n%s", b.At(), c.Line, c.Output, out+failed)
			}
			n++
		}
	}
	t.Logf("%d answers", n)
	if n == 0 {
		t.Error("the pages show none")
	}
}

// shows compares lines, blanks at their ends left out.
func shows(shown, printed []string) bool {
	for i, line := range shown {
		if strings.TrimSpace(line) == "..." {
			for skipped := range len(printed) - i + 1 {
				if shows(shown[i+1:], printed[i+skipped:]) {
					return true
				}
			}
			return false
		}
		if i >= len(printed) || strings.TrimRight(line, " ") != strings.TrimRight(printed[i], " ") {
			return false
		}
	}
	return len(shown) == len(printed)
}

func TestShows(t *testing.T) {
	for _, tc := range []struct {
		shown, printed string
		want           bool
	}{
		{"a b", "a b", true}, {"a", "a b", false}, {"a b", "a", false}, {"a ... c", "a b b c", true}, {"a ...", "a", true}, {"... b", "a b", true},
		{"a ... c", "a b", false}, {"a ... c ...", "a c d", true},
	} {
		if got := shows(strings.Fields(tc.shown), strings.Fields(tc.printed)); got != tc.want {
			t.Errorf("%q of %q: %t", tc.shown, tc.printed, got)
		}
	}
}

func TestBlocksOf(t *testing.T) {
	const text = "# A\n<!-- part of a Pod -->\n```yaml\nspec: {}\n```\n\n* an item\n\n  ```\n  $ a 'b c' \\\n    -d > e\n  out\n\n  $ f  # g\n  ```\n```sh\nx=1\n\ny | z\n```\n"
	var got []string
	for _, b := range blocksOf("p.md", text) {
		got = append(got, b.At()+" "+b.Language+" ["+b.Mark+"]")
		for _, c := range b.Commands() {
			got = append(got, strings.Join(Words(c.Line), "|")+" -> "+strings.TrimSpace(c.Output))
		}
	}
	want := []string{"p.md:3 yaml [part of a Pod]", "p.md:9  []", "a|b c|-d -> out", "f -> ", "p.md:16 sh []", "x=1 -> ", "y -> "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Before preemption is on, a plan takes nothing; with the Queue that docs/preemption.md shows it says what would go.
func TestAPlanBeforePreemptionIsOn(t *testing.T) {
	all := blocks(t)
	world := strings.Replace(read(t, "pkg", "cli", "testdata", "worlds", "scenario-a.yaml"), "spec: {preemption: {fairShareTimeout: 60s}}\n", "spec: {}\n", 1)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("world.yaml", world)
	for _, b := range all {
		if b.Page == "docs/preemption.md" && b.Language == "yaml" {
			write("root.yaml", b.Text)
		}
	}
	for _, tc := range []struct{ with, want string }{{"", "nothing would be taken"}, {" --with root.yaml", "13 pods would go"}} {
		if out, failed := fairway(t, strings.Fields("preemption --plan -f world.yaml"+tc.with)...); !strings.Contains(out, tc.want) {
			t.Errorf("%s: it says\n%s%s", tc.with, out, failed)
		}
	}
}
