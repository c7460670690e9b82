package console

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/console/view"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Eventful is a source that knows what was said of objects.
type Eventful interface {
	Events(ctx context.Context, kind, namespace, name string) (report.Events, error)
	// Evicted are the evictions that the scheduler tells of.
	Evicted(ctx context.Context) (report.Events, error)
}

// said is what was said of one object, or of evictions, or why that is not known.
type said struct {
	at     time.Time
	events report.Events
	err    error
}

// events asks the source for events, of one object not more often than every eventsEvery, however many readers look at it.
type events struct {
	mu    sync.Mutex
	known map[[3]string]said
}

const (
	eventsEvery  = 10 * time.Second
	eventsWithin = 2 * time.Second // an answer that takes longer is not waited for
	mostKnown    = 256
)

// eventsFor is what was said of the object that a page is about, asked for before the moment is locked; nil: the page is about none, or the source
// knows no events.
func (c *Console) eventsFor(r *http.Request) *said {
	source, ok := c.moments.source.(Eventful)
	if !ok {
		return nil
	}
	q := r.URL.Query()
	switch r.URL.Path {
	case "/queue":
		return c.events.of(r.Context(), source, c.now, [3]string{"Queue", "", q.Get("name")})
	case "/preemption":
		return c.events.of(r.Context(), source, c.now, [3]string{})
	case "/pod":
		return c.events.of(r.Context(), source, c.now, [3]string{"Pod", q.Get("namespace"), q.Get("name")})
	}
	return nil
}

func (e *events) of(ctx context.Context, source Eventful, now func() time.Time, key [3]string) *said {
	e.mu.Lock()
	s, known := e.known[key]
	e.mu.Unlock()
	if known && now().Sub(s.at) < eventsEvery {
		return &s
	}
	ctx, cancel := context.WithTimeout(ctx, eventsWithin)
	defer cancel()
	s.at = now()
	if key == [3]string{} {
		s.events, s.err = source.Evicted(ctx)
	} else {
		s.events, s.err = source.Events(ctx, key[0], key[1], key[2])
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.known) >= mostKnown {
		clear(e.known)
	}
	e.known[key] = s
	return &s
}

// addEvents adds what was said of the object, or why that is not known.
func (p *page) addEvents(heading string, q question) {
	switch {
	case q.said == nil:
	case q.said.err != nil:
		p.blocks = append(p.blocks, block{id: "events", template: "items", data: report.Section{Heading: heading, Items: []string{"not known: " + q.said.err.Error()}}})
	default:
		all := q.said.events
		p.addTableOf("events", heading, all.Table, q, func(row int, title string) string {
			if namespace, name, ok := strings.Cut(all[row].Pod, "/"); ok && title == "POD" {
				return view.PodLink(namespace, name)
			}
			return ""
		})
	}
}
