package convert

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestPriority(t *testing.T) {
	class := func(name string, value int32) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.PriorityClassName, pod.Spec.Priority = name, &value }
	}
	annotated := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{"fairway.dev/application-priority": value}
		}
	}
	label := func(value string) func(*corev1.Pod) { return labelled("fairway.dev/application-priority", value) }
	asked := func(value int32) application.PodPriority {
		return application.PodPriority{Application: application.AskedPriority{Asked: true, Value: value}}
	}
	for name, tc := range map[string]struct {
		pod    *corev1.Pod
		want   application.PodPriority
		unread string
	}{
		"nothing is said":                      {makePod(), application.PodPriority{}, ""},
		"as the API server stores that":        {makePod(class("", 0)), application.PodPriority{}, ""},
		"a PriorityClass":                      {makePod(class("high", 1000)), application.PodPriority{Value: 1000, Classed: true}, ""},
		"a PriorityClass of 0":                 {makePod(class("plain", 0)), application.PodPriority{Classed: true}, ""},
		"a number without a class":             {makePod(class("", 7)), application.PodPriority{Value: 7}, ""},
		"a label":                              {makePod(label("12")), asked(12), ""},
		"a label below 0 has to be annotated":  {makePod(annotated("-12")), asked(-12), ""},
		"the label comes before an annotation": {makePod(annotated("3"), label("4")), asked(4), ""},
		"no number":                            {makePod(class("high", 9), label("high")), application.PodPriority{Value: 9, Classed: true}, "high"},
		"a fraction":                           {makePod(label("1.5")), application.PodPriority{}, "1.5"},
		"a bad label hides an annotation":      {makePod(annotated("3"), label("x")), application.PodPriority{}, "x"},
		"more than 32 bits":                    {makePod(label("2147483648")), application.PodPriority{}, "2147483648"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, unread := Priority(tc.pod); got != tc.want || unread != tc.unread {
				t.Errorf("%+v and %q, want %+v and %q", got, unread, tc.want, tc.unread)
			}
		})
	}
}

func TestPrioritiesOfQueues(t *testing.T) {
	const lowest = -2147483648
	for name, tc := range map[string]struct {
		queue         string
		byDefault, to *int32
		want          queue.Spec
		err           string
	}{
		"nothing is stated":       {queue: "root"},
		"a default":               {queue: "root.a", byDefault: n(10), want: queue.Spec{DefaultPriority: 10}},
		"the highest":             {queue: "root", to: n(1_000_000_000), want: queue.Spec{MaxPriority: queue.AtMost(1_000_000_000)}},
		"the lowest":              {queue: "root", byDefault: n(lowest), to: n(lowest), want: queue.Spec{DefaultPriority: lowest, MaxPriority: queue.AtMost(lowest)}},
		"0, as YARN's default":    {queue: "root", to: n(0), want: queue.Spec{MaxPriority: queue.AtMost(0)}},
		"a default of the system": {queue: "root.a", byDefault: n(1_000_000_001), err: "queue root.a: spec.defaultPriority: 1000000001 is more than 1000000000"},
		"a cap of the system":     {queue: "root", to: n(1_000_000_001), err: "queue root: spec.maxPriority: 1000000001 is more than 1000000000"},
		"a cap of one queue":      {queue: "root.a", to: n(5), err: "queue root.a: spec.maxPriority: it holds over all queues, so it can be stated in the queue root only"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Declaration(makeQueue(tc.queue, func(q *v1alpha1.Queue) { q.Spec.DefaultPriority, q.Spec.MaxPriority = tc.byDefault, tc.to }))
			if text := fmt.Sprint(err); tc.err != "" && text != tc.err || tc.err == "" && err != nil {
				t.Fatalf("error is %s\nwant %s", text, tc.err)
			}
			if got.Spec.DefaultPriority != tc.want.DefaultPriority || got.Spec.MaxPriority != tc.want.MaxPriority {
				t.Errorf("%d %+v, want %d %+v", got.Spec.DefaultPriority, got.Spec.MaxPriority, tc.want.DefaultPriority, tc.want.MaxPriority)
			}
		})
	}
}

func TestDecodeQueueNamesTheFieldsOfPriorities(t *testing.T) {
	for _, field := range []string{"defaultPriority", "maxPriority"} {
		_, err := DecodeQueue(&unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "root"}, "spec": map[string]any{field: "high"},
		}})
		if want := "queue root: spec." + field + ": cannot be read"; err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
