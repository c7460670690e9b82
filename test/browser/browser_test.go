// Package browser runs the console in headless Chromium: what its script does, which no other test sees.
//
// In: worlds of the command line's tests, and the program as it is started by a person. Out: what a reader sees and does. Without Chromium the tests
// are skipped, and say how to get it.
package browser

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
	"github.com/fairway-scheduler/fairway/test/dump"
)

// chromium is where the browser is.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium on the PATH: install the package chromium of your distribution")
	return ""
}

// reader is a tab of the browser that shows the console of some files.
type reader struct {
	t    *testing.T
	ctx  context.Context
	base string // the address without path
	stop func() // ends the console
}

// open starts a console of these files and opens its address.
func open(t *testing.T, files ...string) *reader {
	t.Helper()
	path := chromium(t)
	r := &reader{t: t}
	address := r.console(files...)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1300, 900))
	allocator, done := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(done)
	tab, closeTab := chromedp.NewContext(allocator, chromedp.WithListener(func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the script failed: %s", exception(e.ExceptionDetails))
		case *log.EventEntryAdded:
			// A refused connection is what some tests are about; the Content-Security-Policy is not.
			if strings.Contains(e.Entry.Text, "Content Security Policy") {
				t.Errorf("the browser says: %s", e.Entry.Text)
			}
		}
	}))
	t.Cleanup(closeTab)
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithTimeout(tab, 2*time.Minute)
	t.Cleanup(cancel)
	r.do(chromedp.Navigate(address))
	// The script has taken over when a row can be reached with the Tab key.
	r.until("the page of the queues", `location.pathname === "/queues" && !location.search && document.querySelector('[data-key][tabindex="0"]') !== null`)
	return r
}

// console runs the command until the test ends.
func (r *reader) console(files ...string) (address string) {
	r.t.Helper()
	args := []string{"console"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var failed bytes.Buffer
	go func() {
		defer close(ended)
		cli.Run(ctx, args, cli.Environment{In: strings.NewReader(""), Out: tty.Screen{Out: in}, Err: &failed, Now: time.Now})
		_ = in.CloseWithError(errors.New(failed.String()))
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	r.t.Cleanup(r.stop)
	said := make([]byte, 1024)
	n, err := out.Read(said)
	if address = regexp.MustCompile(`http://\S+`).FindString(string(said[:n])); address == "" {
		r.t.Fatalf("%v: %q", err, said[:n])
	}
	u, err := url.Parse(address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.base = "http://" + u.Host
	return address
}

func (r *reader) do(actions ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	if err := chromedp.Do(r.ctx, actions...); err != nil {
		r.t.Fatal(err)
	}
}

// exception is what went wrong in the script.
func exception(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

const (
	lookEvery = 20 * time.Millisecond
	waitFor   = time.Minute
)

// until waits for a condition of the page. It asks from outside: what the page itself would evaluate, its policy forbids.
func (r *reader) until(what, condition string) {
	r.t.Helper()
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for end := time.Now().Add(waitFor); time.Now().Before(end); <-t.C {
		// While another page is loaded there is nothing to ask.
		if is, err := chromedp.Run(r.ctx, chromedp.Evaluate[bool]("Boolean("+condition+")")); err == nil && is {
			return
		}
		if r.ctx.Err() != nil {
			break
		}
	}
	page, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 2000)`))
	r.t.Fatalf("not: %s, on %s (%v)", what, page, err)
}

// eval runs a statement in the page.
func (r *reader) eval(statement string) {
	r.t.Helper()
	if _, err := chromedp.Run(r.ctx, chromedp.Evaluate[bool]("(() => { "+statement+"; return true })()")); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) visit(path string) {
	r.t.Helper()
	r.do(chromedp.Navigate(r.base + path))
}

func world(name string) string {
	return filepath.Join("..", "..", "pkg", "cli", "testdata", "worlds", name)
}

// A reader folds, unfolds, walks and opens queues with the keys alone, and the address follows.
func TestTheTreeWithKeys(t *testing.T) {
	r := open(t, world("scenario-a.yaml"))
	const focused = `document.activeElement?.dataset.key`
	r.eval(`document.querySelector('[data-key="root"]').focus()`)
	r.do(chromedp.KeyEvent(kb.ArrowLeft))
	r.until("root is folded and keeps the focus", `location.search === "?toggle=root" && document.querySelectorAll("[data-key]").length === 1 && `+focused+` === "root"`)
	r.do(chromedp.KeyEvent(kb.ArrowRight))
	r.until("root is unfolded", `document.querySelectorAll("[data-key]").length === 3 && `+focused+` === "root"`)
	r.do(chromedp.KeyEvent(kb.ArrowDown))
	r.until("the next row has the focus", focused+` === "root.busy"`)
	r.do(chromedp.KeyEvent(kb.Enter))
	r.until("its page", `location.pathname === "/queue" && document.querySelector("h1").textContent === "Queue root.busy"`)
}

func TestAFilterAsItIsTyped(t *testing.T) {
	r := open(t, world("scenario-a.yaml"))
	r.do(chromedp.SendKeys(`input[name=filter]`, "some"))
	r.until("two rows, and the field as it was", `location.search === "?filter=some" && document.querySelectorAll("[data-key]").length === 2 &&
		document.activeElement.name === "filter" && document.activeElement.value === "some"`)
}

// A form of a page of ours is taken: its origin is not hidden by our own policies.
func TestWhatIfIsAsked(t *testing.T) {
	r := open(t, world("scenario-a.yaml"))
	r.visit("/whatif?queue=root.busy")
	r.eval(`const text = document.querySelector("textarea"); text.value = text.value.replace("weight: 1", 'weight: "9"')`)
	r.do(chromedp.Click(`main form button`))
	r.until("before and after", `document.body.innerText.includes("50c 200Gi → 150c 600Gi")`)
}

// Every page of a world is shown without an error of its script and without breaking its policy.
func TestEveryPage(t *testing.T) {
	r := open(t, world("evictions.yaml"))
	for _, path := range []string{"/queues", "/queue?name=root.busy", "/applications", "/application?queue=root.busy&name=day%2Fapp%2Fetl", "/users", "/pod?namespace=night&name=report-01",
		"/nodes", "/preemption", "/whatif"} {
		r.visit(path)
		r.until(path, `document.querySelector("h1") !== null && getComputedStyle(document.querySelector("header")).display === "flex"`)
	}
}

// When the console has ended the page says so, and goes on to show what it has.
func TestAConsoleThatHasEnded(t *testing.T) {
	r := open(t, world("scenario-a.yaml"))
	r.stop()
	r.until("it says so", `!document.getElementById("stale").hidden && document.getElementById("stale").textContent.includes("connection is lost")`)
	r.until("the rows stay", `document.querySelectorAll("[data-key]").length === 3`)
}

// A tree of 2,001 queues has 200 rows on the page, is as high as all of them, and shows what is in sight wherever the reader scrolls to.
func TestALargeTreeIsScrolled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := dump.Write(f, dump.Size{Queues: 2000, Nodes: 1, Pods: 1}, dump.JSON); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, file)
	r.until("200 rows in the height of all", `(() => {
		const box = document.querySelector(".scroll.tree"), rows = box.querySelectorAll("[data-key]");
		return rows.length === 200 && box.scrollHeight > Number(box.dataset.total) * (rows[0].getBoundingClientRect().height - 1) && Number(box.dataset.total) > 2000;
	})()`)
	for _, to := range []string{"0.5", "1", "0.3", "0"} {
		r.eval(`const box = document.querySelector(".scroll.tree"); box.scrollTop = box.scrollHeight * ` + to)
		r.until("rows are in sight at "+to, `(() => {
			const box = document.querySelector(".scroll.tree").getBoundingClientRect();
			const middle = document.elementFromPoint(box.left + 100, Math.min(box.bottom, innerHeight) - 60)?.closest("[data-key]");
			return middle !== null && middle !== undefined;
		})()`)
	}
}
