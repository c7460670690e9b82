package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// onlyBound selects pods with a node: the apiserver sends nothing of a pod until it is bound, and then says that it was added.
const onlyBound = "spec.nodeName!="

// binds watches pods become bound. It asks for metadata only, since the measurement runs on the same two cores.
type binds struct {
	want    int64
	seen    atomic.Int64
	cancel  context.CancelFunc
	onFirst func()
	onLast  func()
	end     chan error // gets one value, after which what follows is set

	first, last time.Time
	resumed     int // how often the apiserver ended the watch
}

// watchBinds counts from now on, until want pods are bound. onFirst and onLast are called while the events are being read: quickly.
func (w *world) watchBinds(ctx context.Context, want int, onFirst, onLast func()) (*binds, error) {
	pods := w.meta.Resource(podResource).Namespace(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: onlyBound, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list.Items) > 0 {
		return nil, fmt.Errorf("pod %s is bound before the run began", list.Items[0].Name)
	}
	ctx, cancel := context.WithCancel(ctx)
	b := &binds{want: int64(want), cancel: cancel, onFirst: onFirst, onLast: onLast, end: make(chan error, 1)}
	watchFrom := func(version string) (watch.Interface, error) {
		return pods.Watch(ctx, metav1.ListOptions{FieldSelector: onlyBound, ResourceVersion: version})
	}
	events, err := watchFrom(list.ResourceVersion)
	if err != nil {
		cancel()
		return nil, err
	}
	go func() { b.end <- b.count(list.ResourceVersion, events, watchFrom) }()
	return b, nil
}

// count reads to the last bind. The apiserver ends watches that do not keep up for a moment, as everybody's on a busy machine; like any
// client we go on where it ended.
func (b *binds) count(version string, events watch.Interface, watchFrom func(string) (watch.Interface, error)) (err error) {
	for {
		version, err = b.read(version, events.ResultChan())
		events.Stop()
		if err != nil || b.seen.Load() == b.want {
			return err
		}
		b.resumed++
		if events, err = watchFrom(version); err != nil {
			return fmt.Errorf("watching binds: %w", err)
		}
	}
}

// read counts until the last bind or the end of a watch, and returns the version to go on from.
func (b *binds) read(version string, events <-chan watch.Event) (string, error) {
	for event := range events {
		if event.Type == watch.Error {
			return version, fmt.Errorf("watching binds: %w", apierrors.FromObject(event.Object))
		}
		if pod, ok := event.Object.(*metav1.PartialObjectMetadata); ok {
			version = pod.ResourceVersion
		}
		if event.Type != watch.Added {
			continue
		}
		seen := b.seen.Add(1)
		if seen == 1 {
			b.first = time.Now()
			b.onFirst()
		}
		if seen == b.want {
			b.last = time.Now()
			b.onLast()
			return version, nil
		}
	}
	return version, nil
}

// stop ends the watch.
func (b *binds) stop() { b.cancel() }

// stallLimit is how long a run may go without a bind before it counts as broken. Nothing here ever waits for room, so all there could be
// is a back-off of some seconds.
const stallLimit = time.Minute

// await returns when all pods are bound. It gives up when the contestant ends, or makes no progress.
func (b *binds) await(ctx context.Context, c *child) error {
	check := time.NewTicker(time.Second)
	defer check.Stop()
	seen, since := int64(0), time.Now()
	for {
		select {
		case err := <-b.end:
			if err == nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			return c.Explain(err)
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Exited():
			return c.Explain(fmt.Errorf("%s ended with %d of %d pods bound", c.Name, b.seen.Load(), b.want))
		case <-check.C:
			if now := b.seen.Load(); now != seen {
				seen, since = now, time.Now()
			} else if time.Since(since) > stallLimit {
				return c.Explain(fmt.Errorf("%s has bound %d of %d pods, and none in %s", c.Name, now, b.want, stallLimit))
			}
		}
	}
}
