package spark

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// source lists and watches the pods.
func (o *Operator) source() cache.ListerWatcher {
	pods := o.client.CoreV1().Pods(Namespace)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, options)
		},
	}, o.client)
}

// watched passes on what the API shows, version by version. After an interrupted watch it passes on all pods
// as they are now.
type watched struct{ operator *Operator }

func (w watched) Add(object any) error    { return w.saw(object, false) }
func (w watched) Update(object any) error { return w.saw(object, false) }
func (w watched) Delete(object any) error { return w.saw(object, true) }

// Resync implements cache.ReflectorStore: nothing is kept here.
func (w watched) Resync() error { return nil }

// Replace adds executors first and removes drivers first, so that no driver seems to be alone that is not.
func (w watched) Replace(objects []any, _ string) error {
	there := map[types.UID]bool{}
	for _, object := range objects {
		if pod, ok := object.(*v1.Pod); ok {
			there[pod.UID] = true
		}
	}
	missing := w.operator.without(there)
	slices.SortFunc(missing, func(a, b *v1.Pod) int { return btoi(isDriver(b)) - btoi(isDriver(a)) })
	for _, gone := range missing {
		w.operator.saw(gone, true)
	}
	slices.SortStableFunc(objects, func(a, b any) int { return btoi(isDriver(a)) - btoi(isDriver(b)) })
	for _, object := range objects {
		if err := w.saw(object, false); err != nil {
			return err
		}
	}
	return nil
}

func isDriver(object any) bool {
	pod, ok := object.(*v1.Pod)
	return ok && IsDriver(pod.Name)
}

func (w watched) saw(object any, deleted bool) error {
	pod, ok := object.(*v1.Pod)
	if !ok {
		return fmt.Errorf("the watch of pods shows a %T", object)
	}
	w.operator.saw(pod, deleted)
	return nil
}

// without returns the known pods except those with these UIDs.
func (o *Operator) without(there map[types.UID]bool) (gone []*v1.Pod) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, pod := range o.pods { // each on its own: order does not matter
		if !there[pod.UID] {
			gone = append(gone, pod)
		}
	}
	return gone
}
