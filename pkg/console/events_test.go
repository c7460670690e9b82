package console

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// eventful is a source whose objects have events.
type eventful struct {
	*played
	asked [][3]string
	err   error
}

func (e *eventful) Events(_ context.Context, kind, namespace, name string) (report.Events, error) {
	e.asked = append(e.asked, [3]string{kind, namespace, name})
	return report.Events{{At: e.now.Add(-time.Minute).UnixNano(), Type: "Warning", Reason: "Preempting", Message: "of <b>" + name, From: "fairway", Times: 3}}, e.err
}

func (e *eventful) Evicted(context.Context) (report.Events, error) {
	return report.Events{{At: e.now.UnixNano(), Type: "Normal", Reason: "Preempted", Message: "for root.b", Times: 1, Pod: "day/etl-01"}}, nil
}

func TestEventsOfAnObjectAreAskedForNowAndThen(t *testing.T) {
	s := serve(t, dump(t, "scenario-a.yaml"))
	e := &eventful{played: s.moments.source.(*played)}
	s.moments.source = e
	clock := time.Unix(1000, 0)
	s.Console.now = func() time.Time { return clock }
	for range 3 {
		body := s.get("/queue?name=root.busy")
		if !strings.Contains(body, "of &lt;b&gt;root.busy") || !strings.Contains(body, "<td>Preempting</td>") {
			t.Fatalf("no event in %s", body)
		}
	}
	s.get("/pod?namespace=day&name=etl-01")
	s.get("/queues")
	if body := s.get("/preemption"); !strings.Contains(body, "Pods that were evicted") || !strings.Contains(body, `<a href="/pod?name=etl-01&amp;namespace=day">day/etl-01</a>`) {
		t.Errorf("no eviction in %s", body)
	}
	if want := [][3]string{{"Queue", "", "root.busy"}, {"Pod", "day", "etl-01"}}; len(e.asked) != 2 || e.asked[0] != want[0] || e.asked[1] != want[1] {
		t.Errorf("asked for %q, want %q", e.asked, want)
	}
	clock = clock.Add(eventsEvery)
	e.err = errors.New("events is forbidden")
	if body := s.get("/queue?name=root.busy"); len(e.asked) != 3 || !strings.Contains(body, "not known: events is forbidden") || !strings.Contains(body, "In force") {
		t.Errorf("asked %d times: %s", len(e.asked), body)
	}
}

// However many objects are looked at, the events of so many are kept at most.
func TestEventsAreNotCollected(t *testing.T) {
	e := events{known: map[[3]string]said{}}
	source := &eventful{played: &played{}}
	for i := range 3 * mostKnown {
		e.of(t.Context(), source, func() time.Time { return time.Unix(0, 0) }, [3]string{"Pod", "ns", strings.Repeat("x", i)})
		if len(e.known) > mostKnown {
			t.Fatalf("%d are kept", len(e.known))
		}
	}
}
