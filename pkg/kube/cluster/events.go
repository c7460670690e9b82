package cluster

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Events lists what was said of one object, the newest first. They are not watched: a cluster may have more events than pods. Those of an object without a
// namespace are in namespace default.
func (w *Watcher) Events(ctx context.Context, kind, namespace, name string) (report.Events, error) {
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return w.said(ctx, namespace, fields.Set{"involvedObject.kind": kind, "involvedObject.name": name}, false)
}

// Evicted lists the evictions that the scheduler tells of, the newest first.
func (w *Watcher) Evicted(ctx context.Context) (report.Events, error) {
	return w.said(ctx, metav1.NamespaceAll, fields.Set{"involvedObject.kind": "Pod", "reason": v1alpha1.EventPreempted}, true)
}

func (w *Watcher) said(ctx context.Context, namespace string, of fields.Set, named bool) (all report.Events, err error) {
	list, err := w.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: of.String(), Limit: pageSize})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		e := eventOf(&list.Items[i])
		if named {
			e.Pod = list.Items[i].InvolvedObject.Namespace + "/" + list.Items[i].InvolvedObject.Name
		}
		all = append(all, e)
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
