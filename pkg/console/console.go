// Package console is `kubectl fairway console`: the queues, applications, pods and nodes of a cluster in a browser, as they change.
//
// Input is a source of worlds, from a live cluster or from a file, and the requests of one reader, who has the token. Output is pages, parts of
// pages that changed, JSON and CSV. Everything that is said comes from pkg/world and pkg/report, so it is what the command line says.
//
// The server listens on loopback only, changes nothing in the cluster, keeps nothing on disk, and makes no page load anything from elsewhere.
package console

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Console serves one source to those who have the token.
type Console struct {
	guard   *guard
	moments *moments
	events  *events
	now     func() time.Time
}

// Options are what a console needs beside its source.
type Options struct {
	Now func() time.Time
	// Every is the shortest time between two pictures of the source; 0: a second.
	Every time.Duration
}

// Listen takes a port of loopback; 0 is any.
func Listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// New makes the console of a source, which is not read before Serve.
func New(s Source, at net.Addr, o Options) (*Console, error) {
	g, err := newGuard(at)
	if err != nil {
		return nil, err
	}
	return &Console{guard: g, moments: newMoments(s, o), events: &events{known: map[[3]string]said{}}, now: o.Now}, nil
}

// URL opens the console; it has the token.
func (c *Console) URL() string { return c.guard.url() }

// stopWithin is how long requests may take that are being answered when the console ends.
const stopWithin = time.Second

// Serve answers requests until the context ends. It returns at once with the error of the first picture, if there is none.
func (c *Console) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.moments.begin(ctx); err != nil {
		return err
	}
	go c.moments.follow(ctx)
	server := &http.Server{
		Handler: c.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		<-ctx.Done()
		late, done := context.WithTimeout(context.Background(), stopWithin)
		defer done()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler is all that the console answers.
func (c *Console) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/queues", http.StatusSeeOther) })
	m.HandleFunc("GET /assets/{file}", asset)
	for path, page := range pages {
		m.HandleFunc("GET "+path, c.serve(page))
	}
	m.HandleFunc("POST /whatif", c.whatIf)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { c.fail(w, http.StatusNotFound, "There is no such page.") })
	return c.guard.protect(m, c.fail)
}
