package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func part(id, shell string, rows ...string) rendered {
	r := rendered{id: id, before: shell, rows: map[string]string{}}
	for i := 0; i < len(rows); i += 2 {
		r.keys = append(r.keys, rows[i])
		r.rows[rows[i]] = rows[i+1]
	}
	return r
}

// A row that changes is sent, one that stays is not; keys are sent if they are others or in another order.
func TestOnlyWhatDiffersIsSent(t *testing.T) {
	was := []rendered{part("head", "one"), part("tree", "x", "a", "A", "b", "B", "c", "C")}
	for name, c := range map[string]struct {
		is     []rendered
		blocks map[string]string
		rows   map[string]rowChanges
		reload bool
	}{
		"nothing":         {is: was},
		"a block":         {is: []rendered{part("head", "two"), was[1]}, blocks: map[string]string{"head": "two"}},
		"a row":           {is: []rendered{was[0], part("tree", "x", "a", "A", "b", "B2", "c", "C")}, rows: map[string]rowChanges{"tree": {Set: map[string]string{"b": "B2"}}}},
		"a row more":      {is: []rendered{was[0], part("tree", "x", "a", "A", "n", "N", "b", "B", "c", "C")}, rows: map[string]rowChanges{"tree": {Set: map[string]string{"n": "N"}, Keys: []string{"a", "n", "b", "c"}}}},
		"a row less":      {is: []rendered{was[0], part("tree", "x", "a", "A", "c", "C")}, rows: map[string]rowChanges{"tree": {Set: map[string]string{}, Keys: []string{"a", "c"}}}},
		"another order":   {is: []rendered{was[0], part("tree", "x", "b", "B", "a", "A", "c", "C")}, rows: map[string]rowChanges{"tree": {Set: map[string]string{}, Keys: []string{"b", "a", "c"}}}},
		"around the rows": {is: []rendered{was[0], part("tree", "y", "a", "A")}, blocks: map[string]string{"tree": "yA"}},
		"all rows gone":   {is: []rendered{was[0], part("tree", "x")}, blocks: map[string]string{"tree": "x"}},
		"another block":   {is: []rendered{was[0], part("other", "")}, reload: true},
		"one block fewer": {is: was[:1], reload: true},
	} {
		got := difference(was, c.is)
		if got.Reload != c.reload || !maps.Equal(got.Blocks, c.blocks) || !maps.EqualFunc(got.Rows, c.rows, func(a, b rowChanges) bool {
			return maps.Equal(a.Set, b.Set) && slices.Equal(a.Keys, b.Keys)
		}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// reader reads a stream as a browser does.
type reader struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (r reader) next() (id string, c change) {
	r.t.Helper()
	for r.lines.Scan() {
		line := r.lines.Text()
		if text, ok := strings.CutPrefix(line, "id: "); ok {
			id = text
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				r.t.Fatal(err)
			}
			return id, c
		}
	}
	r.t.Fatal("the stream ended", r.lines.Err())
	return "", c
}

// live serves a source that changes, on loopback.
func live(t *testing.T, p *played) (c *Console, get func(target string) reader) {
	t.Helper()
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = New(p, l.Addr(), Options{Now: time.Now, Every: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c, func(target string) reader {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: c.guard.cookie, Value: c.guard.value})
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		if answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status)
		}
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<22)
		return reader{t, lines}
	}
}

// step changes the source, and returns once that is taken note of.
func (p *played) step(change func()) {
	p.mu.Lock()
	change()
	p.mu.Unlock()
	p.changed <- struct{}{}
}

// A reader gets what changes after what it has: nothing of the moment that it shows, the whole page if it shows another one.
func TestAStreamGoesOnWhereThePageIs(t *testing.T) {
	set := dump(t, "scenario-a.yaml")
	p := &played{set: set, now: set.Newest(), changed: make(chan struct{})}
	_, get := live(t, p)
	events := get("/queues?format=events&since=1")
	if id, c := events.next(); id != "1" || len(c.Blocks)+len(c.Rows) != 0 || c.Stale != "" {
		t.Fatalf("moment %s: %+v", id, c)
	}
	// One of the pods of queue root.busy ends: root.busy and root have 10 cores less, and root.sometimes-busy has what it had.
	fewer := *set
	fewer.Pods = slices.DeleteFunc(slices.Clone(set.Pods), func(o *corev1.Pod) bool { return o.Name == "etl-01" })
	p.step(func() { p.set = &fewer })
	id, c := events.next()
	if got := slices.Sorted(maps.Keys(c.Rows["tree"].Set)); id != "2" || !slices.Equal(got, []string{"root", "root.busy"}) || c.Rows["tree"].Keys != nil {
		t.Fatalf("moment %s: rows %q, keys %q", id, got, c.Rows["tree"].Keys)
	}
	if _, all := get("/queues?format=events&since=1").next(); !strings.Contains(all.Blocks["tree"], "sometimes-busy") {
		t.Errorf("a page of another moment is not sent whole: %+v", all)
	}
	// The cluster cannot be read, and then can again.
	p.step(func() { p.err = errors.New("no answer from the cluster") })
	if id, c := events.next(); id != "3" || c.Stale != "no answer from the cluster" || len(c.Rows)+len(c.Blocks) != 0 {
		t.Errorf("moment %s: %+v", id, c)
	}
	p.step(func() { p.err = nil })
	if id, c := events.next(); id != "4" || c.Stale != "" {
		t.Errorf("moment %s: %+v", id, c)
	}
}

// What a page is about may go: its reader is told to load the page again, which then says so.
func TestAPageOfWhatHasGoneIsLoadedAgain(t *testing.T) {
	set := dump(t, "scenario-a.yaml")
	p := &played{set: set, now: set.Newest(), changed: make(chan struct{})}
	_, get := live(t, p)
	pod := set.Pods[0]
	events := get("/pod?namespace=" + pod.Namespace + "&name=" + pod.Name + "&format=events&since=1")
	events.next()
	fewer := *set
	fewer.Pods = set.Pods[1:]
	p.step(func() { p.set = &fewer })
	if _, c := events.next(); !c.Reload {
		t.Errorf("%+v", c)
	}
}

// A console whose source cannot be read says why and does not begin.
func TestWithoutRightsThereIsNoConsole(t *testing.T) {
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := New(&played{err: errors.New("listing nodes: forbidden")}, l.Addr(), Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Serve(t.Context(), l); err == nil || err.Error() != "listing nodes: forbidden" {
		t.Errorf("got %v", err)
	}
}
