package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// browser asks a console that was started by the command line.
type browser struct {
	t   *testing.T
	at  *url.URL
	jar http.CookieJar
}

// startConsole runs `console` with these arguments until the test ends.
func startConsole(t *testing.T, args ...string) *browser {
	t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	var stderr bytes.Buffer
	go func() {
		code := Run(ctx, append([]string{"console"}, args...), Environment{
			In: strings.NewReader(""), Out: tty.Screen{Out: in}, Err: &stderr, Now: func() time.Time { return present },
		})
		_ = in.Close()
		done <- code
	}()
	t.Cleanup(func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		if code := <-done; code != 0 {
			t.Errorf("exit code %d: %s", code, stderr.String())
		}
	})
	said := make([]byte, 1024)
	n, err := out.Read(said)
	address := regexp.MustCompile(`http://\S+`).FindString(string(said[:n]))
	if err != nil || address == "" {
		t.Fatalf("%v: it says %q, %q", err, said[:n], stderr.String())
	}
	b := &browser{t: t}
	b.jar, _ = cookiejar.New(nil)
	if b.at, err = url.Parse(address); err != nil {
		t.Fatal(err)
	}
	b.get(b.at.RequestURI()) // the token is changed for the cookie
	return b
}

func (b *browser) get(target string) []byte {
	b.t.Helper()
	answer, err := (&http.Client{Jar: b.jar}).Get("http://" + b.at.Host + target)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s, %v: %s", target, answer.Status, err, text)
	}
	return text
}

func (b *browser) json(target string) any {
	b.t.Helper()
	return parsed(b.t, b.get(target))
}

func parsed(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// without is an answer of the command line without the problems of files, which are no part of a document.
func without(answer any) any {
	if m, ok := answer.(map[string]any); ok {
		delete(m, "problems")
	}
	return answer
}

// What the console shows is what the commands say, field by field: the tree, applications, users, each pod, what is starved, and the plan.
func TestTheConsoleSaysWhatTheCommandsSay(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	for _, file := range []string{"scenario-a.yaml", "weights.yaml", "starting.yaml", "evictions.yaml", "capacities.yaml", "ideal.yaml"} {
		t.Run(file, func(t *testing.T) {
			say := func(args ...string) any {
				out, failed, code := run(t, pipe, "", append(args, "-f", file, "-o", "json")...)
				if code != 0 {
					t.Fatalf("%q: %s", args, failed)
				}
				return parsed(t, []byte(out))
			}
			same := func(page, what string, got, want any) {
				t.Helper()
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s is\n%v\nand the command says\n%v", what, page, got, want)
				}
			}
			b := startConsole(t, "-f", file)
			// The plan and the starved queues are asked for after questions about pods, and before them.
			preemption := func() {
				got := b.json("/preemption?format=json").(map[string]any)
				same("/preemption", "starved", got["preemption"], without(say("preemption")))
				same("/preemption", "the plan", got["plan"], without(say("preemption", "--plan")))
			}
			tree := say("tree").(map[string]any)
			same("/queues", "JSON", b.json("/queues?format=json"), any(tree))
			same("/applications", "JSON", b.json("/applications?format=json"), say("apps"))
			same("/users", "JSON", b.json("/users?format=json"), say("users"))
			preemption()
			for _, q := range tree["queues"].([]any) {
				name := q.(map[string]any)["name"].(string)
				if !strings.HasPrefix(name, "root") {
					continue
				}
				page := "/queue?" + url.Values{"name": {name}, "format": {"json"}}.Encode()
				got := b.json(page).(map[string]any)
				same(page, "the row", got["queue"], q)
				same(page, "applications", got["applications"], without(say("apps", name)))
				same(page, "users", got["users"], without(say("users", name)))
			}
			pods := say("why", "-A", "-l", "!none").([]any)
			for _, pod := range pods {
				is := pod.(map[string]any)
				page := "/pod?" + url.Values{"namespace": {is["namespace"].(string)}, "name": {is["pod"].(string)}}.Encode()
				same(page, "JSON", b.json(page+"&format=json"), pod)
				if shown := string(b.get(page)); !strings.Contains(shown, escaped(is["message"].(string))) {
					t.Errorf("%s does not show %q", page, is["message"])
				}
			}
			if len(pods) == 0 {
				t.Error("no pods: this is about nothing")
			}
			preemption()
		})
	}
}

// What if in the console is --with of the command line; asking changes nothing.
func TestWhatIfInTheConsoleIsThatOfTheCommands(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "worlds"))
	for file, with := range map[string]string{"weights.yaml": "night-heavy.yaml", "etl.yaml": "same.yaml", "starting.yaml": "two-starters.yaml"} {
		out, failed, code := run(t, pipe, "", "tree", "-f", file, "--with", with, "-o", "json")
		if code != 0 {
			t.Fatal(failed)
		}
		text, err := os.ReadFile(with)
		if err != nil {
			t.Fatal(err)
		}
		b := startConsole(t, "-f", file)
		before := b.json("/queues?format=json")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+b.at.Host+"/whatif?format=json", strings.NewReader(url.Values{"yaml": {string(text)}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+b.at.Host)
		answer, err := (&http.Client{Jar: b.jar}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		got, err := io.ReadAll(answer.Body)
		if err != nil || !reflect.DeepEqual(parsed(t, got), parsed(t, []byte(out))) {
			t.Errorf("%s with %s: %v\n%s\nand the command says\n%s", file, with, err, got, out)
		}
		if !reflect.DeepEqual(before, b.json("/queues?format=json")) {
			t.Errorf("%s: asking has changed something", file)
		}
	}
}

// escaped is a text as a page has it.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;").Replace(text)
}
