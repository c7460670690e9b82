package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// change is what differs between a page and what was sent of it before.
type change struct {
	Now   string `json:"now"`
	Stale string `json:"stale"`
	// Reload: the page has other blocks now.
	Reload bool                  `json:"reload,omitempty"`
	Blocks map[string]string     `json:"blocks,omitempty"` // whole, by id
	Rows   map[string]rowChanges `json:"rows,omitempty"`
}

// rowChanges are the rows of a block that are new or changed, and the keys of all rows if these are not what they were.
type rowChanges struct {
	Set  map[string]string `json:"set,omitempty"`
	Keys []string          `json:"keys,omitempty"`
}

func difference(was, is []rendered) (c change) {
	if !slices.EqualFunc(was, is, func(a, b rendered) bool { return a.id == b.id }) {
		c.Reload = true
		return c
	}
	c.Blocks, c.Rows = map[string]string{}, map[string]rowChanges{}
	for i := range is {
		a, b := &was[i], &is[i]
		if a.before != b.before || a.after != b.after {
			c.Blocks[b.id] = b.html()
			continue
		}
		r := rowChanges{Set: map[string]string{}}
		for key, html := range b.rows {
			if a.rows[key] != html {
				r.Set[key] = html
			}
		}
		if !slices.Equal(a.keys, b.keys) {
			r.Keys = append([]string{}, b.keys...)
			if len(r.Keys) == 0 { // no keys and no change look alike
				c.Blocks[b.id] = b.html()
				continue
			}
		}
		if len(r.Set) > 0 || r.Keys != nil {
			c.Rows[b.id] = r
		}
	}
	return c
}

// whole is the change from nothing that is known.
func whole(is []rendered) (c change) {
	c.Blocks = map[string]string{}
	for i := range is {
		c.Blocks[is[i].id] = is[i].html()
	}
	return c
}

// stream sends the changes of a page as server-sent events, until the reader goes. What the reader has is the moment that the query or the header
// names; of any other but the newest nothing is known, and the page is sent whole once.
func (c *Console) stream(w http.ResponseWriter, r *http.Request, build builder) {
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = r.URL.Query().Get("since")
	}
	has, _ := strconv.ParseUint(since, 10, 64)
	m := c.moments.current()
	p, err := c.build(m, r, build)
	if err != nil {
		c.refuse(w, err)
		return
	}
	is, err := p.render()
	if err != nil {
		c.refuse(w, err)
		return
	}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(m *moment, ch change) bool {
		ch.Now, ch.Stale = clock(m), m.stale
		text, err := json.Marshal(ch)
		if err != nil {
			return false
		}
		_, err = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", m.number, text)
		return err == nil && out.Flush() == nil
	}
	first := change{}
	if has != m.number {
		first = whole(is)
	}
	if !send(m, first) {
		return
	}
	for took := time.Duration(0); ; {
		// A page that takes long is made less often, so that it does not take the time of the others.
		if !sleep(r.Context(), 3*took, nil) {
			return
		}
		if m = c.moments.after(r.Context(), m.number); m == nil {
			return
		}
		began := c.now()
		if p, err = c.build(m, r, build); err != nil { // what the page is about is gone: the page says so
			send(m, change{Reload: true})
			return
		}
		next, err := p.render()
		if err != nil || !send(m, difference(is, next)) {
			return
		}
		is, took = next, c.now().Sub(began)
	}
}

// sleep waits, or until something comes from early (nil: nothing does); false: the context has ended.
func sleep(ctx context.Context, pause time.Duration, early <-chan struct{}) bool {
	if pause <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-early:
	case <-t.C:
	}
	return true
}
