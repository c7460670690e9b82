package feed

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// handler hears of objects of one kind: that one is there or has changed, and that one is gone. What an informer may hand over instead (a
// tombstone) is unpacked here.
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

// renewing is a handler that also hears that an object is gone where another has taken its name while the watch was broken: what the first one
// said is not the second's.
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
