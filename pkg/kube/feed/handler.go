package feed

import "k8s.io/client-go/tools/cache"

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
