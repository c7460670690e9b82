package objects

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/test/dump"
)

func TestNewestIsTheNewestThatHappened(t *testing.T) {
	const old, at = "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"
	for what, tc := range map[string]struct{ object, want string }{
		"nothing":                      {"", ""},
		"no times":                     {podA + node + queue + class, ""},
		"a pod's creation":             {podWith(`"x":1`) + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","creationTimestamp":"` + at + `"}}` + podB, at},
		"a queue's creation":           {strings.Replace(queue, `"uid"`, `"creationTimestamp":"`+at+`","uid"`, 1), at},
		"a node's creation":            {strings.Replace(node, `"uid"`, `"creationTimestamp":"`+at+`","uid"`, 1), at},
		"a pod group's creation":       {strings.Replace(podGroup, `"name"`, `"creationTimestamp":"`+at+`","name"`, 1), at},
		"a job's creation":             {jobA, "2026-03-01T00:00:00Z"},
		"a class's creation":           {strings.Replace(class, `"uid"`, `"creationTimestamp":"`+at+`","uid"`, 1), at},
		"a condition of a pod":         {podWith(`"status":{"conditions":[{"lastTransitionTime":"` + at + `"},{"lastTransitionTime":"` + old + `"}]}`), at},
		"a probe of a pod":             {podWith(`"status":{"conditions":[{"lastProbeTime":"` + at + `"}]}`), at},
		"a start of a pod":             {podWith(`"status":{"startTime":"` + at + `"}`), at},
		"a start of a container":       {podWith(`"status":{"containerStatuses":[{"state":{"running":{"startedAt":"` + at + `"}}}]}`), at},
		"an end of an init container":  {podWith(`"status":{"initContainerStatuses":[{"state":{"terminated":{"finishedAt":"` + at + `"}}}]}`), at},
		"an end before a restart":      {podWith(`"status":{"containerStatuses":[{"lastState":{"terminated":{"finishedAt":"` + at + `"}}}]}`), at},
		"a heartbeat of a node":        {`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"conditions":[{"lastHeartbeatTime":"` + at + `"}]}}`, at},
		"a condition of a node":        {`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"conditions":[{"lastTransitionTime":"` + at + `"}]}}`, at},
		"a condition of a queue":       {strings.Replace(queue, `"metadata"`, `"status":{"conditions":[7,{"lastTransitionTime":8},{"lastTransitionTime":"`+at+`"}]},"metadata"`, 1), at},
		"a queue with a strange one":   {strings.Replace(queue, `"metadata"`, `"status":{"conditions":{}},"metadata"`, 1), ""},
		"a deletion that lies ahead":   {strings.Replace(podA, `"uid"`, `"creationTimestamp":"`+old+`","deletionTimestamp":"`+at+`","uid"`, 1), old},
		"a condition beyond all times": {podWith(`"status":{"conditions":[{"lastTransitionTime":"9999-01-01T00:00:00Z"}]}`), ""},
	} {
		s, err := Read("dump", strings.NewReader(tc.object))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		got := ""
		if n := s.Newest(); !n.IsZero() {
			got = n.UTC().Format(time.RFC3339)
		}
		if got != tc.want {
			t.Errorf("%s: newest is %q, want %q", what, got, tc.want)
		}
	}
}

// A document that is taken apart gives what it gives as a whole, for whatever is in its texts.
func TestTakenApartIsTheSame(t *testing.T) {
	line := rapid.OneOf(rapid.SampledFrom([]string{"", "- a", "items:", "---", "kind: List", "# x", "  - b", "...", "\t", "\"", "'", "|", "{", "*a", "&a", "x: y", "%"}), rapid.StringMatching("[ -~äé☃]*"))
	rapid.Check(t, func(t *rapid.T) {
		var items []string
		for i := range rapid.IntRange(0, 4).Draw(t, "items") {
			text := strings.Join(rapid.SliceOfN(line, 0, 4).Draw(t, "lines"), "\n")
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","annotations":{"a":%s}}}`, i, quoted))
		}
		text := inYAML(listOf("List", "v1", items...))
		indented := rapid.Bool().Draw(t, "indented")
		if indented {
			text = strings.Replace(text, "\n- ", "\n  - ", -1)
			text = strings.Replace(text, "\n  ", "\n    ", -1)
			text = strings.Replace(text, "\n    - ", "\n  - ", -1)
		}
		whole, errWhole := read("dump", strings.NewReader(text), len(text))
		apart, errApart := read("dump", strings.NewReader(text), 0)
		if (errWhole == nil) != (errApart == nil) || errWhole != nil && !indented {
			t.Fatalf("%s\nas a whole: %v\ntaken apart: %v", text, errWhole, errApart)
		}
		if errWhole == nil {
			if diff := cmp.Diff(whole.Pods, apart.Pods); diff != "" {
				t.Fatalf("%s\n%s", text, diff)
			}
		}
	})
}

func TestADumpIsReadAlikeInEveryFormat(t *testing.T) {
	size := dump.Size{Queues: 30, Nodes: 5, Pods: 300}
	var sets []*Set
	for _, tc := range []struct {
		format dump.Format
		whole  int
	}{{dump.JSON, 0}, {dump.YAML, 0}, {dump.YAML, 1 << 30}} {
		var text bytes.Buffer
		if err := dump.Write(&text, size, tc.format); err != nil {
			t.Fatal(err)
		}
		s, err := read("dump", &text, tc.whole)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Queues) != 30+3+1 || len(s.Nodes) != 5 || len(s.Pods) != 300 {
			t.Fatalf("%s: %d queues, %d nodes, %d pods", tc.format, len(s.Queues), len(s.Nodes), len(s.Pods))
		}
		if got, want := s.Newest(), time.Date(2026, 3, 2, 10, 0, 30, 0, time.UTC); !got.Equal(want) {
			t.Errorf("newest is %v, want %v", got, want)
		}
		sets = append(sets, s)
	}
	for _, s := range sets[1:] {
		if diff := cmp.Diff(sets[0].Pods[:3], s.Pods[:3]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(sets[0].Queues[:3], s.Queues[:3]); diff != "" {
			t.Error(diff)
		}
	}
}
