package cluster

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Events lists what was said of one object, the newest first. They are not watched: a cluster may have more events than pods. Those of an object without a
// namespace are in namespace default.
func (w *Watcher) Events(ctx context.Context, kind, namespace, name string) (report.Events, error) {
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	of := fields.Set{"involvedObject.kind": kind, "involvedObject.name": name}
	list, err := w.events.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: of.String(), Limit: pageSize})
	if err != nil {
		return nil, err
	}
	var all report.Events
	for i := range list.Items {
		all = append(all, eventOf(&list.Items[i]))
	}
	slices.SortStableFunc(all, func(a, b report.Event) int { return cmp.Compare(b.At, a.At) })
	return all, nil
}

func eventOf(e *corev1.Event) report.Event {
	at, times := e.LastTimestamp.Time, int64(e.Count)
	if at.IsZero() {
		at = e.EventTime.Time
	}
	if e.Series != nil {
		at, times = e.Series.LastObservedTime.Time, int64(e.Series.Count)
	}
	if at.IsZero() {
		at = e.CreationTimestamp.Time
	}
	return report.Event{
		At: at.UnixNano(), Type: e.Type, Reason: e.Reason, Message: e.Message, From: cmp.Or(e.ReportingController, e.Source.Component), Times: max(times, 1),
	}
}
