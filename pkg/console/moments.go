package console

import (
	"context"
	"sync"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/console/history"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

// Source is where worlds come from.
type Source interface {
	// World is what is known now, and what is wrong with the files that it comes from.
	World(ctx context.Context) (*world.World, []report.FileProblem, error)
	// Changed receives when there may be something new. It is nil if there never is.
	Changed() <-chan struct{}
	// Name says what the source is.
	Name() string
}

// moment is a look at the source, or the last one again if a newer one failed.
type moment struct {
	*look
	number uint64 // counts moments, from 1
	stale  string // why there is no newer look; "": this is the newest
}

// look is the world at one time. One question at a time is answered about it.
type look struct {
	problems []report.FileProblem

	mu      sync.Mutex // guards what is below
	world   *world.World
	tree    *report.Tree
	starved *report.Starved
	planned *report.Plan
}

// queues are the tree and the starved queues, which most pages show. The caller holds the lock.
func (m *look) queues() (report.Tree, report.Starved) {
	if m.tree == nil {
		t, s := m.world.Tree(queue.Root), m.world.Starved()
		m.tree, m.starved = &t, &s
	}
	return *m.tree, *m.starved
}

// plan is what would be preempted. The caller holds the lock.
func (m *look) plan() report.Plan {
	if m.planned == nil {
		p := m.world.Plan()
		m.planned = &p
	}
	return *m.planned
}

// moments makes a moment whenever the source has changed, but not more often than every, and never for more than a quarter of the time.
type moments struct {
	source Source
	every  time.Duration

	mu      sync.Mutex
	newest  *moment
	next    chan struct{} // closed when there is a newer one
	readers int           // that wait for moments
	looked  time.Time     // when somebody asked last
	wake    chan struct{}
	now     func() time.Time

	past *past
}

// past is the history, for any number of goroutines.
type past struct {
	mu sync.Mutex
	h  *history.History
}

// What is remembered: at first a sample every 5 seconds; at most as many samples and bytes.
const (
	sampleEvery = 5 * time.Second
	mostSamples = 720
	mostBytes   = 128 << 20
)

// remember adds a look to the history.
func (p *past) remember(l *look) {
	l.mu.Lock()
	tree, starved := l.queues()
	at := l.world.Now.UnixNano()
	l.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.h.Add(at, tree, starved)
}

// at is the tree as it was.
func (p *past) at(at int64) (t report.Tree, starved report.Starved, when int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.h.At(at)
}

func (p *past) of(name string) history.Course {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.h.Of(name)
}

// span is from when to when there is a history; equal if there is one moment.
func (p *past) span() (from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	times := p.h.Times()
	if len(times) == 0 {
		return 0, 0
	}
	return times[0], times[len(times)-1]
}

func newMoments(s Source, o Options) *moments {
	m := &moments{source: s, every: o.Every, next: make(chan struct{}), wake: make(chan struct{}, 1), now: o.Now, past: &past{h: history.New(int64(sampleEvery), mostSamples, mostBytes)}}
	if m.every == 0 {
		m.every = time.Second
	}
	return m
}

// While nobody looks, moments are made for the history alone, and less often. Ages and clocks move also if nothing changes.
const (
	idleAfter = time.Minute
	idleEvery = 15 * time.Second
	agesEvery = 15 * time.Second
)

// begin makes the first moment.
func (m *moments) begin(ctx context.Context) error {
	w, problems, err := m.source.World(ctx)
	if err != nil {
		return err
	}
	m.publish(&moment{look: &look{world: w, problems: problems}})
	return nil
}

// follow makes further ones until the context ends. Of a source that never changes there is one.
func (m *moments) follow(ctx context.Context) {
	if m.source.Changed() == nil {
		return
	}
	for took := time.Duration(0); ; {
		pause := max(m.every, 3*took)
		if m.idle() {
			pause = max(idleEvery, 20*took)
		}
		if !sleep(ctx, pause, m.wake) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-m.source.Changed():
		case <-time.After(agesEvery):
		}
		began := m.now()
		if w, problems, err := m.source.World(ctx); err != nil {
			m.publish(&moment{look: m.last().look, stale: err.Error()})
		} else {
			m.publish(&moment{look: &look{world: w, problems: problems}})
		}
		took = m.now().Sub(began)
	}
}

func (m *moments) publish(n *moment) {
	if n.stale == "" {
		m.past.remember(n.look)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n.number = 1
	if m.newest != nil {
		n.number = m.newest.number + 1
	}
	m.newest = n
	close(m.next)
	m.next = make(chan struct{})
}

func (m *moments) last() *moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newest
}

func (m *moments) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readers == 0 && m.now().Sub(m.looked) > idleAfter
}

// current is the newest moment. One that may be old is renewed for the next question.
func (m *moments) current() *moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readers == 0 && m.now().Sub(m.looked) > idleAfter {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
	m.looked = m.now()
	return m.newest
}

// after is a moment that is newer than one of that number; nil: the context has ended.
func (m *moments) after(ctx context.Context, number uint64) *moment {
	m.mu.Lock()
	m.readers++
	defer func() {
		m.readers--
		m.looked = m.now()
		m.mu.Unlock()
	}()
	for m.newest.number <= number {
		next := m.next
		m.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-next:
		}
		m.mu.Lock()
		if ctx.Err() != nil {
			return nil
		}
	}
	return m.newest
}
