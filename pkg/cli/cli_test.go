package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// present is the time of all tests; worlds in files have their own.
var present = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

// terminal is a screen of this width, or a pipe if it is 0.
func terminal(out *bytes.Buffer, width int) tty.Screen {
	s := tty.Screen{Out: out}
	if width > 0 {
		s.Terminal, s.Redraw, s.Size = true, true, func() (int, int) { return width, 40 }
	}
	return s
}

// run runs one command line in the folder of worlds, and returns what it writes.
func run(t *testing.T, screen func(*bytes.Buffer) tty.Screen, stdin string, args ...string) (out, failed string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Run(t.Context(), args, Environment{
		In: strings.NewReader(stdin), Out: screen(&stdout), Err: &stderr, Now: func() time.Time { return present }, Version: "v0.0.0-test",
	})
	return stdout.String(), stderr.String(), code
}

func pipe(out *bytes.Buffer) tty.Screen { return terminal(out, 0) }

// TestTranscripts: each case is a command line and what it prints, on a terminal of some width or in a pipe.
func TestTranscripts(t *testing.T) {
	home, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(home, "worlds"))
	datadriven.Walk(t, filepath.Join(home, "transcripts"), func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			width, stdin := 0, ""
			d.MaybeScanArgs(t, "width", &width)
			if name := ""; d.MaybeScanArgs(t, "stdin", &name) {
				data, err := os.ReadFile(name)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				stdin = string(data)
			}
			screen := func(out *bytes.Buffer) tty.Screen {
				s := terminal(out, width)
				s.Style = report.Style{Color: d.HasArg("color"), ASCII: d.HasArg("ascii")}
				return s
			}
			out, failed, code := run(t, screen, stdin, strings.Fields(d.Input)...)
			checkLines(t, d, out, width)
			if code != 0 {
				failed += "exit code " + strconv.Itoa(code) + "\n"
			}
			return strings.ReplaceAll(out+failed, "\x1b", `\e`)
		})
	})
}

func checkLines(t *testing.T, d *datadriven.TestData, out string, width int) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); width > 0 && n > width && !d.HasArg("color") && !strings.Contains(d.Input, "wide") {
			t.Errorf("%s: %d characters, at most %d: %q", d.Pos, n, width, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("%s: blanks at the end of %q", d.Pos, line)
		}
	}
}

// The contract of `tree -o json`: keys and types. A key may be added, none is removed.
const (
	amounts = "{quantity}"
	texts   = "string"
	number  = "number"
)

var sourced = map[string]any{"value": texts, "from": texts}

var treeContract = map[string]any{
	"cluster": amounts,
	"queues": []any{map[string]any{
		"name": texts, "weight": "quantity", "capacity": texts, "policy": texts, "state": texts, "active": "bool",
		"steadyFairShare": amounts, "fairShare": amounts, "guaranteed": amounts, "max": amounts, "allocated": amounts, "demand": amounts,
		"applications": map[string]any{"pending": number, "starting": number, "running": number},
		"pods":         map[string]any{"pending": number, "running": number}, "applicationLimit": number, "driverLimit": amounts,
		"limits": map[string]any{
			"runningApplications": map[string]any{"used": number, "limit": number}, "applications": map[string]any{"used": number, "limit": number},
			"drivers": map[string]any{"used": amounts, "limit": amounts},
		},
		"effective": map[string]any{
			"policy": sourced, "fairResource": sourced, "maxDriverShare": sourced, "fairShareThreshold": sourced, "fairShareTimeout": sourced,
			"guaranteedTimeout": sourced, "preemptible": map[string]any{"value": "bool", "from": texts},
		},
		"problems": []any{map[string]any{"reason": texts, "message": texts}},

		"startingTimeout": texts, "starting": []any{map[string]any{"application": texts, "since": texts, "until": texts}},
		"holds": []any{map[string]any{"podGroup": texts, "pod": texts, "nodes": []any{texts}, "waitingSince": texts, "until": texts}},
	}},
	"unplaced": []any{map[string]any{"queue": texts, "reason": texts, "message": texts, "pods": number}},
}

// The contract of what is wrong with files, which every document has.
var problemsContract = map[string]any{"problems": []any{map[string]any{"file": texts, "line": number, "object": texts, "field": texts, "message": texts}}}

// keeps reports where a value breaks a contract.
func keeps(t *testing.T, at string, contract, value any) {
	t.Helper()
	switch c := contract.(type) {
	case map[string]any:
		object, ok := value.(map[string]any)
		if !ok {
			t.Errorf("%s: no object: %v", at, value)
		}
		for key, inner := range c {
			if _, ok := object[key]; !ok {
				t.Errorf("%s: no %s", at, key)
				continue
			}
			keeps(t, at+"."+key, inner, object[key])
		}
	case []any:
		list, ok := value.([]any)
		if !ok {
			t.Errorf("%s: no list: %v", at, value)
		}
		for i, item := range list {
			keeps(t, at+"["+strconv.Itoa(i)+"]", c[0], item)
		}
	case string:
		if c == amounts {
			object, ok := value.(map[string]any)
			if !ok {
				t.Errorf("%s: no object: %v", at, value)
			}
			for name, q := range object {
				keeps(t, at+"."+name, "quantity", q)
			}
			return
		}
		kinds := map[string]reflect.Kind{texts: reflect.String, "quantity": reflect.String, "bool": reflect.Bool, number: reflect.Float64}
		if value == nil || reflect.TypeOf(value).Kind() != kinds[c] {
			t.Errorf("%s: %v is no %s", at, value, c)
		} else if c == "quantity" && (value == "" || strings.ContainsAny(value.(string), ". e+")) {
			t.Errorf("%s: %v is no canonical quantity", at, value)
		}
	}
}

func decoded(t *testing.T, args ...string) map[string]any {
	t.Helper()
	out, failed, code := run(t, pipe, "", args...)
	if code != 0 {
		t.Fatalf("%q: %s", args, failed)
	}
	var value map[string]any
	if err := json.Unmarshal([]byte(out), &value); err != nil {
		t.Fatalf("%q: %v in\n%s", args, err, out)
	}
	keeps(t, args[0], problemsContract, value)
	if strings.Contains(out, "null") {
		t.Errorf("%q: null in\n%s", args, out)
	}
	return value
}

func TestTreeKeepsItsContract(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	full := decoded(t, "tree", "-f", "weights.yaml", "-o", "json")
	keeps(t, "tree", treeContract, full)
	queues := full["queues"].([]any)
	if first := queues[0].(map[string]any)["name"]; first != "root" || len(queues) != 6 || len(full["unplaced"].([]any)) != 1 {
		t.Errorf("root first, of 6 queues, and a pod in none; got %v of %d", first, len(queues))
	}
	if got := len(queues[5].(map[string]any)["problems"].([]any)); got != 1 {
		t.Errorf("%d problems of a queue without a parent", got)
	}
	keeps(t, "starting", treeContract, decoded(t, "tree", "-f", "starting.yaml", "-o", "json"))
	keeps(t, "empty", treeContract, decoded(t, "tree", "-f", os.DevNull, "-o", "json"))
	both := decoded(t, "tree", "-f", "weights.yaml", "--with", "night-heavy.yaml", "-o", "json")
	keeps(t, "what-if", map[string]any{"before": treeContract, "after": treeContract, "changes": map[string]any{
		"queues":         []any{map[string]any{"name": texts, "change": texts, "fields": []any{texts}}},
		"wouldStart":     []any{map[string]any{"application": texts, "queue": texts, "user": texts}},
		"wouldNotStart":  []any{map[string]any{"application": texts, "queue": texts, "user": texts}},
		"belowGuarantee": []any{map[string]any{"queue": texts, "resource": texts, "guaranteed": "quantity", "has": "quantity", "covered": "bool", "message": texts}},
		"problems":       []any{map[string]any{"queue": texts, "reason": texts, "message": texts}},
	}}, both)
	delete(full, "problems") // of the answer, not of before
	if !reflect.DeepEqual(both["before"], any(full)) {
		t.Error("before is not what there is without --with")
	}
}

func TestApplicationsAndUsersHaveAllKeys(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	pods := map[string]any{"pending": number, "running": number}
	apps := map[string]any{"applications": []any{map[string]any{
		"application": texts, "queue": texts, "user": texts, "state": texts, "reason": texts, "message": texts, "fairShare": amounts,
		"allocated": amounts, "demand": amounts, "pods": pods, "submitted": texts, "waitingSince": texts,
		"held": "bool", "startingSince": texts, "startingUntil": texts,
	}}}
	users := map[string]any{"users": []any{map[string]any{
		"user": texts, "state": texts, "fairShare": amounts, "allocated": amounts, "demand": amounts, "pods": pods, "waitingSince": texts,
		"applications": map[string]any{"pending": number, "starting": number, "running": number, "held": number}, "queues": []any{texts},
		"limits": []any{map[string]any{
			"queue": texts, "limit": amounts, "allocated": amounts, "active": "bool", "weight": texts, "reason": texts, "message": texts,
		}},
	}}}
	for _, file := range []string{"weights.yaml", "starting.yaml", os.DevNull} {
		keeps(t, "apps", apps, decoded(t, "apps", "-f", file, "-o", "json"))
		keeps(t, "users", users, decoded(t, "users", "-f", file, "-o", "json"))
	}
}

func TestAnswersHaveAllKeys(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	pod := func(more map[string]any) map[string]any {
		all := map[string]any{"pod": texts, "namespace": texts, "queue": texts, "application": texts}
		maps.Copy(all, more)
		return all
	}
	answer := pod(map[string]any{
		"user": texts, "verdict": texts, "reason": texts, "message": texts, "ahead": number, "aheadPods": []any{pod(nil)}, "waitingSince": texts, "preemption": texts,
		"blockers": []any{map[string]any{"reason": texts, "message": texts, "holders": []any{map[string]any{
			"queue": texts, "application": texts, "user": texts, "resource": texts, "amount": texts, "pods": number,
		}}}},
		"wouldStartIf": []any{map[string]any{"kind": texts, "message": texts, "nodes": number, "nodeSize": amounts, "edits": []any{map[string]any{
			"queue": texts, "field": texts, "resource": texts, "from": texts, "to": texts,
		}}}},
	})
	for name, verdict := range map[string]string{"x-1": "running", "d-1": "next", "y-2": "waiting", "x-3": "held", "late": "refused"} {
		got := decoded(t, "why", name, "-f", "weights.yaml", "-o", "json")
		keeps(t, name, answer, got)
		if got["pod"] != name || got["verdict"] != verdict {
			t.Errorf("%s: pod %v is %v, want %s", name, got["pod"], got["verdict"], verdict)
		}
	}
	out, failed, _ := run(t, pipe, "", "why", "-l", "fairway.dev/application in (xray, zinc)", "-f", "weights.yaml", "-o", "json")
	var list []any
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 4 {
		t.Errorf("no list of four answers: %v\n%s%s", err, out, failed)
	}
	keeps(t, "why -l", []any{answer}, list)
	keeps(t, "why -l", []any{problemsContract}, list)
	keeps(t, "order", map[string]any{"order": []any{pod(map[string]any{
		"position": number, "room": "bool",
		"decisions": []any{map[string]any{"at": texts, "chosen": texts, "over": texts, "by": texts, "message": texts}},
	})}}, decoded(t, "order", "-f", "weights.yaml", "-o", "json"))
}

func TestPreemptionHasAllKeys(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	starved := map[string]any{
		"starved": []any{map[string]any{"queue": texts, "kind": texts, "since": texts, "due": texts, "claiming": "bool", "owed": amounts}},
		"victims": []any{map[string]any{"pod": texts, "queue": texts, "node": texts, "for": texts, "forQueue": texts, "since": texts, "message": texts}},
	}
	plan := map[string]any{
		"claims": []any{map[string]any{
			"queue": texts, "claim": amounts, "since": texts, "kind": texts, "pods": number, "unpaid": amounts, "reason": texts, "message": texts,
		}},
		"victims": []any{map[string]any{"pod": texts, "queue": texts, "node": texts, "for": texts, "reason": texts}},
		"ideal":   map[string]any{}, "taken": amounts, "observeOnly": "bool", "faults": []any{texts}, "stopped": texts, "message": texts,
	}
	for _, file := range []string{"scenario-a.yaml", "evictions.yaml", "weights.yaml", os.DevNull} {
		keeps(t, "starved", starved, decoded(t, "preemption", "-f", file, "-o", "json"))
		keeps(t, "plan", plan, decoded(t, "preemption", "--plan", "-f", file, "-o", "json"))
	}
}

// hook calls do with the number of writes so far.
type hook struct {
	text   bytes.Buffer
	writes int
	do     func(writes int)
}

func (h *hook) String() string { return h.text.String() }

func (h *hook) Write(data []byte) (int, error) {
	n, err := h.text.Write(data)
	h.writes++
	h.do(h.writes)
	return n, err
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	for name, screen := range map[string]tty.Screen{"pipe": {}, "terminal": terminal(nil, 80)} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &hook{do: func(writes int) {
			if writes == 3 {
				cancel()
			}
		}}
		screen.Out = out
		var failed bytes.Buffer
		code := Run(ctx, strings.Fields("tree -f weights.yaml --watch --interval 1ms"), Environment{Out: screen, Err: &failed, Now: time.Now})
		if code != 0 || failed.Len() > 0 {
			t.Errorf("%s: exit code %d: %s", name, code, &failed)
		}
		text := out.String()
		if strings.Count(text, "NAME") != 3 {
			t.Errorf("%s: not three blocks:\n%s", name, text)
		}
		if redrawn := strings.Contains(text, "\x1b["); redrawn != screen.Redraw {
			t.Errorf("%s: redrawn in place: %v", name, redrawn)
		}
		if separated := strings.Contains(text, "fairway.dev/queue\n\nNAME"); separated == screen.Redraw {
			t.Errorf("%s: separated blocks: %v", name, separated)
		}
	}
}

func TestWatchOutlivesAFailure(t *testing.T) {
	world, err := os.ReadFile(filepath.Join("testdata", "worlds", "weights.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "world.yaml")
	put := func() {
		if err := os.WriteFile(file, world, 0o600); err != nil {
			t.Error(err)
		}
	}
	put()
	ctx, cancel := context.WithCancel(t.Context())
	out := &hook{do: func(writes int) {
		switch writes {
		case 1:
			if err := os.Remove(file); err != nil {
				t.Error(err)
			}
		case 3:
			cancel()
		}
	}}
	failed := &hook{do: func(int) { put() }}
	code := Run(ctx, []string{"tree", "-f", file, "--watch", "--interval", "1ms"}, Environment{Out: tty.Screen{Out: out}, Err: failed, Now: time.Now})
	if code != 0 || failed.writes != 1 || !strings.HasPrefix(failed.String(), "kubectl-fairway: ") {
		t.Errorf("exit code %d, failures:\n%s", code, failed)
	}
}

func TestCompletionOffersNames(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	for args, want := range map[string]string{
		"tree -f weights.yaml root.b":         "root.b root.b.day root.b.night",
		"tree -f weights.yaml root.b root":    "",
		"tree -f weights.yaml -o ":            "table wide json yaml",
		"apps --color ":                       "auto always never",
		"tree -f weights.yaml --with night-h": "",
		"users -f weights.yaml root.l":        "root.lost.child",
		"tree -f missing.yaml ":               "",
		"tree -f - ":                          "",
		"why -f weights.yaml -n team x":       "x-1 x-2 x-3",
		"why -f weights.yaml x-1 x":           "x-2 x-3",
		"why -f weights.yaml -n other ":       "",
	} {
		out, _, code := run(t, pipe, "", append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if code != 0 {
			t.Errorf("%s: exit code %d", args, code)
		}
		var got []string
		for _, line := range strings.Fields(out) {
			if strings.HasPrefix(line, ":") {
				break
			}
			got = append(got, line)
		}
		if strings.Join(got, " ") != want && !strings.Contains(args, "--with") {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func TestHelpHasExamples(t *testing.T) {
	for _, c := range newRoot(Environment{Out: tty.Screen{Out: &bytes.Buffer{}}}).Commands() {
		if c.Example == "" || c.Long == "" || c.ValidArgsFunction == nil {
			t.Errorf("%s: no examples, no text or no completion", c.Name())
		}
		for line := range strings.Lines(c.Example + "\n" + c.Long) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 130 {
				t.Errorf("%s: a line too long to read: %s", c.Name(), line)
			}
		}
		for _, line := range strings.Split(c.Example, "\n") {
			if _, command, ok := strings.Cut(line, "kubectl fairway "); ok && !strings.HasPrefix(command, c.Name()) {
				t.Errorf("%s: an example of another command: %s", c.Name(), line)
			}
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"root", "root.a", "root.b.night", "root.c.night", "root.analytics"}
	for name, want := range map[string]string{
		"root.analitics":  "; did you mean root.analytics?",
		"root.night":      "; did you mean root.b.night or root.c.night?",
		"root.unlike-any": "",
	} {
		if got := suggestion(name, names); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
