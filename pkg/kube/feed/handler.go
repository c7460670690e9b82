package feed

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// handler is called when an object of one kind exists or has changed, and when it is gone. It unpacks the tombstones
// that an informer may pass instead.
func handler[T any](seen, gone func(T)) cache.ResourceEventHandlerFuncs {
	upsert := func(obj any) {
		if object, ok := obj.(T); ok {
			seen(object)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    upsert,
		UpdateFunc: func(_, obj any) { upsert(obj) },
		DeleteFunc: func(obj any) {
			if tomb, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tomb.Obj
			}
			if object, ok := obj.(T); ok {
				gone(object)
			}
		},
	}
}

// renewing is a handler that is also told that an object is gone if another took its name while the watch was broken:
// the second does not inherit what the first one said.
func renewing[T metav1.Object](seen, gone func(T)) cache.ResourceEventHandlerFuncs {
	h := handler(seen, gone)
	h.UpdateFunc = func(old, obj any) {
		before, was := old.(T)
		if now, is := obj.(T); was && is && before.GetUID() != now.GetUID() {
			gone(before)
		}
		h.AddFunc(obj)
	}
	return h
}
