package convert

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestStarting(t *testing.T) {
	for name, tc := range map[string]struct {
		starters int32 // 0: not stated
		timeout  string
		want     queue.Spec
		err      string
	}{
		"nothing is stated": {},
		"the fewest":        {starters: 1, want: queue.Spec{MaxStarting: queue.AtMost(1)}},
		"the most":          {starters: 1000, want: queue.Spec{MaxStarting: queue.AtMost(1000)}},
		"fewer than any":    {starters: -1, err: "queue root.a: spec.maxStarting: -1 is not between 1 and 1000"},
		"one too many":      {starters: 1001, err: "queue root.a: spec.maxStarting: 1001 is not between 1 and 1000"},
		"seconds":           {timeout: "90s", want: queue.Spec{StartingTimeout: queue.StartingTimeout{Nanoseconds: 90e9}}},
		"minutes":           {timeout: "5m", want: queue.Spec{StartingTimeout: queue.StartingTimeout{Nanoseconds: 300e9}}},
		"hours and minutes": {timeout: "1h30m", want: queue.Spec{StartingTimeout: queue.StartingTimeout{Nanoseconds: 5400e9}}},
		"the shortest":      {timeout: "1s", want: queue.Spec{StartingTimeout: queue.StartingTimeout{Nanoseconds: 1e9}}},
		"the longest":       {timeout: "24h", want: queue.Spec{StartingTimeout: queue.StartingTimeout{Nanoseconds: 86_400e9}}},
		"adaptive":          {timeout: "adaptive", want: queue.Spec{StartingTimeout: queue.StartingTimeout{Adaptive: true}}},
		"no time":           {timeout: "0s", err: refusedTimeout("0s")},
		"just too long":     {timeout: "24h1s", err: refusedTimeout("24h1s")},
		"milliseconds":      {timeout: "5000ms", err: refusedTimeout("5000ms")},
		"a fraction":        {timeout: "1.5h", err: refusedTimeout("1.5h")},
		"a number alone":    {timeout: "300", err: refusedTimeout("300")},
		"the wrong order":   {timeout: "30s5m", err: refusedTimeout("30s5m")},
		"more than 64 bits": {timeout: "99999999999h", err: refusedTimeout("99999999999h")},
		"another word":      {timeout: "Adaptive", err: refusedTimeout("Adaptive")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Declaration(makeQueue("root.a", func(q *v1alpha1.Queue) {
				q.Spec.StartingTimeout = tc.timeout
				if tc.starters != 0 {
					q.Spec.MaxStarting = &tc.starters
				}
			}))
			if text := fmt.Sprint(err); tc.err != "" && text != tc.err || tc.err == "" && err != nil {
				t.Fatalf("error is %s\nwant %s", text, tc.err)
			}
			if got.Spec.MaxStarting != tc.want.MaxStarting || got.Spec.StartingTimeout != tc.want.StartingTimeout {
				t.Errorf("%+v %+v, want %+v %+v", got.Spec.MaxStarting, got.Spec.StartingTimeout, tc.want.MaxStarting, tc.want.StartingTimeout)
			}
		})
	}
	none := int32(0)
	if _, err := Declaration(makeQueue("root.a", func(q *v1alpha1.Queue) { q.Spec.MaxStarting = &none })); err == nil {
		t.Error("maxStarting 0 is accepted")
	}
}

func refusedTimeout(text string) string {
	return fmt.Sprintf("queue root.a: spec.startingTimeout: %q is neither a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, nor the word adaptive", text)
}

func TestDecodeQueueNamesTheFieldsOfStarts(t *testing.T) {
	for field, value := range map[string]any{"maxStarting": "two", "startingTimeout": int64(300)} {
		_, err := DecodeQueue(&unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "root.a"}, "spec": map[string]any{field: value},
		}})
		if want := "queue root.a: spec." + field + ": cannot be read: "; err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v does not begin with %s", field, err, want)
		}
	}
}

func TestMemoryIsWhatTheStatusKeeps(t *testing.T) {
	q := makeQueue("root.a", func(q *v1alpha1.Queue) {
		q.Status.Starts = &v1alpha1.QueueStarts{Started: []string{"b", "a"}, LastStarts: []string{"12.5s", "soon", "-3s", "1m", ""}}
	})
	d, err := Declaration(q)
	if err != nil {
		t.Fatal(err)
	}
	if want := (queue.Memory{Started: []string{"b", "a"}, Starts: []int64{12.5e9, 60e9}}); !d.Memory.Equal(want) {
		t.Errorf("%+v, want %+v: what nobody can read is passed over", d.Memory, want)
	}
	if d, err := Declaration(makeQueue("root.a")); err != nil || !d.Memory.Equal(queue.Memory{}) {
		t.Errorf("without a status: %+v, %v", d.Memory, err)
	}
}

// What is written is read back, to the millisecond and within the bounds of the schema.
func TestMemoryGoesThereAndBack(t *testing.T) {
	m := queue.Memory{}
	for i := range 150 {
		m.Started = append(m.Started, fmt.Sprintf("app-%03d", i))
		m.Starts = append(m.Starts, int64(i)*int64(time.Second)+1234)
	}
	starts := &v1alpha1.QueueStarts{}
	starts.Started, starts.LastStarts = QueueStarts(m)
	got := memory(starts)
	if want := m.Started[:100]; !slices.Equal(got.Started, want) {
		t.Errorf("started %v, want %v", got.Started, want)
	}
	var want []int64
	for i := 130; i < 150; i++ {
		want = append(want, int64(i)*int64(time.Second))
	}
	if !slices.Equal(got.Starts, want) {
		t.Errorf("starts %v, want %v", got.Starts, want)
	}
	if v1alpha1.MaxStartsRemembered != application.RememberedStarts {
		t.Errorf("a status holds %d starts, and %d count", v1alpha1.MaxStartsRemembered, application.RememberedStarts)
	}
}
