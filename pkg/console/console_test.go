package console

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/kube/definitions"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

// dump reads a world of the command line's tests.
func dump(t *testing.T, names ...string) *objects.Set {
	t.Helper()
	var files []objects.File
	for _, name := range names {
		f, err := os.Open(filepath.Join("..", "cli", "testdata", "worlds", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, objects.File{Name: name, From: f})
	}
	set, problems, err := objects.ReadFiles(files, definitions.Judge)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return set
}

// played is a source that a test changes.
type played struct {
	mu      sync.Mutex
	set     *objects.Set
	now     time.Time
	err     error
	changed chan struct{}
}

func (p *played) World(context.Context) (*world.World, []report.FileProblem, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, nil, p.err
	}
	return world.New(p.set, []string{"fairway"}, p.now), nil, nil
}

func (p *played) Changed() <-chan struct{} { return p.changed }

func (p *played) Name() string { return "the world of a test" }

// served is a console with one moment, asked without a network.
type served struct {
	*Console
	t *testing.T
}

func serve(t *testing.T, set *objects.Set) served {
	t.Helper()
	c, err := New(&played{set: set, now: set.Newest()}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.moments.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return served{c, t}
}

// request is one that a reader who was admitted makes.
func (s served) request(method, target string, body io.Reader) *http.Request {
	r := httptest.NewRequest(method, target, body)
	r.Host = s.guard.hosts[0]
	r.AddCookie(&http.Cookie{Name: s.guard.cookie, Value: s.guard.value})
	return r
}

func (s served) do(r *http.Request) (status int, body string, header http.Header) {
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Header()
}

func (s served) get(target string) string {
	s.t.Helper()
	status, body, _ := s.do(s.request(http.MethodGet, target, nil))
	if status != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", target, status, body)
	}
	return body
}

func TestOnlyWhoHasTheTokenIsLetIn(t *testing.T) {
	s := serve(t, dump(t, "scenario-a.yaml"))
	own := "http://" + s.guard.hosts[0]
	for name, c := range map[string]struct {
		change func(*http.Request)
		target string
		want   int
	}{
		"the cookie":                      {func(*http.Request) {}, "/queues", http.StatusOK},
		"no token":                        {func(r *http.Request) { r.Header.Del("Cookie") }, "/queues", http.StatusUnauthorized},
		"no token, for a style sheet":     {func(r *http.Request) { r.Header.Del("Cookie") }, "/assets/console.css", http.StatusUnauthorized},
		"no token, for the stream":        {func(r *http.Request) { r.Header.Del("Cookie") }, "/queues?format=events", http.StatusUnauthorized},
		"no token, for JSON":              {func(r *http.Request) { r.Header.Del("Cookie") }, "/queues?format=json", http.StatusUnauthorized},
		"a wrong token":                   {func(*http.Request) {}, "/queues?token=" + s.guard.value, http.StatusUnauthorized},
		"the token of an address":         {func(r *http.Request) { r.Header.Del("Cookie") }, "/queues?token=" + s.guard.token, http.StatusOK},
		"a wrong cookie":                  {cookie(s.guard.cookie, s.guard.token), "/queues", http.StatusUnauthorized},
		"an empty cookie":                 {cookie(s.guard.cookie, ""), "/queues", http.StatusUnauthorized},
		"the cookie of another port":      {cookie("fairway-console-4712", s.guard.value), "/queues", http.StatusUnauthorized},
		"under the name localhost":        {func(r *http.Request) { r.Host = "localhost:4711" }, "/queues", http.StatusOK},
		"DNS rebinding":                   {func(r *http.Request) { r.Host = "evil.example:4711" }, "/queues", http.StatusMisdirectedRequest},
		"DNS rebinding, with the token":   {func(r *http.Request) { r.Host = "evil.example:4711" }, "/queues?token=" + s.guard.token, http.StatusMisdirectedRequest},
		"another port":                    {func(r *http.Request) { r.Host = "127.0.0.1:80" }, "/queues", http.StatusMisdirectedRequest},
		"no host":                         {func(r *http.Request) { r.Host = "" }, "/queues", http.StatusMisdirectedRequest},
		"its own page":                    {header("Origin", own), "/queues", http.StatusOK},
		"another origin":                  {header("Origin", "http://evil.example"), "/queues", http.StatusForbidden},
		"another port as origin":          {header("Origin", "http://127.0.0.1:4712"), "/queues", http.StatusForbidden},
		"a page without origin":           {header("Origin", "null"), "/queues", http.StatusForbidden},
		"read by another site":            {header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"), "/queues", http.StatusForbidden},
		"read by another port":            {header("Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"), "/queues?format=json", http.StatusForbidden},
		"a link of another site":          {header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"), "/queues", http.StatusOK},
		"in a frame of another site":      {header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"), "/queues", http.StatusForbidden},
		"a path out of the files":         {func(*http.Request) {}, "/assets/..%2fconsole.go", http.StatusNotFound},
		"a path out of the files, nested": {func(*http.Request) {}, "/assets/%2e%2e/%2e%2e/etc/passwd", http.StatusNotFound},
		"a template":                      {func(*http.Request) {}, "/assets/page.html", http.StatusNotFound},
		"the folder":                      {func(*http.Request) {}, "/assets/", http.StatusNotFound},
		"no page":                         {func(*http.Request) {}, "/nothing", http.StatusNotFound},
		"no queue":                        {func(*http.Request) {}, "/queue?name=root.nothing", http.StatusNotFound},
		"no format":                       {func(*http.Request) {}, "/queues?format=xml", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.request(http.MethodGet, c.target, nil)
			c.change(r)
			status, body, got := s.do(r)
			if status != c.want && !(c.want == http.StatusNotFound && status == http.StatusMovedPermanently) {
				t.Errorf("status %d, want %d: %s", status, c.want, body)
			}
			if c.want != http.StatusOK && (strings.Contains(body, "sometimes-busy") || strings.Contains(body, "module console")) {
				t.Errorf("a refused request got: %s", body)
			}
			if r := got.Get("Referrer-Policy"); r != "same-origin" {
				t.Errorf("referrer policy %q: with no-referrer a browser sends our own forms without their origin", r)
			}
			if csp := got.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("policy %q", csp)
			}
		})
	}
}

func cookie(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Cookie")
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
}

func header(pairs ...string) func(*http.Request) {
	return func(r *http.Request) {
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Set(pairs[i], pairs[i+1])
		}
	}
}

// The token is in one address only: the answer sets a cookie that scripts do not see and other sites do not send, and leads on without the token.
func TestATokenIsChangedForACookie(t *testing.T) {
	s := serve(t, dump(t, "scenario-a.yaml"))
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/queue?name=root.busy&"+u.RawQuery, nil)
	r.Host = u.Host
	status, body, got := s.do(r)
	if status != http.StatusOK || strings.Contains(body, s.guard.token) || !strings.Contains(body, "url=http://127.0.0.1:4711/queue?name=root.busy") {
		t.Errorf("status %d: %s", status, body)
	}
	set := got.Get("Set-Cookie")
	for _, want := range []string{s.guard.value, "HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("cookie %q lacks %s", set, want)
		}
	}
}

// A console is on loopback or not at all.
func TestNoOtherAddressIsServed(t *testing.T) {
	if _, err := New(&played{}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}, Options{}); err == nil {
		t.Error("a console on 10.0.0.1")
	}
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("it listens on %s", l.Addr())
	}
}
