package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// Watcher keeps the objects of a picture as they are, with one watch for each kind. It reads what Read reads, with the same rights and watch.
type Watcher struct {
	ctx     context.Context
	name    string
	changed chan struct{}
	client  kubernetes.Interface

	mu       sync.Mutex
	noAnswer error // why the server did not answer last; nil: it did

	queues, policies, reservations, nodes, pods, classes, budgets *watched
	groups                                                        []*watched
	owners                                                        []*watched // begun when the first StateAware queue is there
	begun                                                         bool
}

// watched is one kind.
type watched struct {
	resource string
	optional bool // may be missing or forbidden: see Read
	informer cache.SharedIndexInformer

	mu  sync.Mutex
	err error     // the last one
	at  time.Time // when that was
}

// staleAfter is how long an error counts that does not come again. A watch that fails is tried at least every 30 seconds.
const staleAfter = 45 * time.Second

// Watch begins to watch, and returns when everything is there, or with what is missing.
func Watch(ctx context.Context, f *Flags) (*Watcher, error) {
	typed, untyped, host, err := clients(f)
	if err != nil {
		return nil, err
	}
	w := newWatcher(klog.NewContext(ctx, logr.Discard()), host, typed, untyped)
	for _, k := range w.kinds() {
		w.follow(k)
	}
	if err := w.wait(w.kinds()); err != nil {
		return nil, err
	}
	s, err := w.Set()
	if err != nil {
		return nil, err
	}
	if s.Gated() {
		err = w.wait(w.owners)
	}
	select { // what came until now is in the first set
	case <-w.changed:
	default:
	}
	go w.askAgain()
	return w, err
}

// A watch that cannot reach its server tries again without a word, so the server is asked whether it is there: one small request at a time.
const (
	askEvery  = 10 * time.Second
	askWithin = 5 * time.Second
)

func (w *Watcher) askAgain() {
	t := time.NewTicker(askEvery)
	defer t.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-t.C:
			w.ask()
		}
	}
}

// ask notes whether the server answers; what it answers does not matter.
func (w *Watcher) ask() {
	ctx, cancel := context.WithTimeout(w.ctx, askWithin)
	defer cancel()
	err := w.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	var status apierrors.APIStatus
	if errors.As(err, &status) || w.ctx.Err() != nil {
		err = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if (err == nil) != (w.noAnswer == nil) {
		w.moved()
	}
	w.noAnswer = err
}

func (w *Watcher) answer() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.noAnswer
}

// moved tells who waits for a change.
func (w *Watcher) moved() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func newWatcher(ctx context.Context, name string, typed kubernetes.Interface, untyped dynamic.Interface) *Watcher {
	own := dynamicinformer.NewDynamicSharedInformerFactory(untyped, 0)
	of := func(kind schema.GroupVersionResource, optional bool) *watched {
		return &watched{resource: kind.GroupResource().String(), optional: optional, informer: own.ForResource(kind).Informer()}
	}
	all := informers.NewSharedInformerFactory(typed, 0)
	w := &Watcher{
		ctx: ctx, name: name, changed: make(chan struct{}, 1), client: typed,
		queues: of(v1alpha1.QueueResource, false), policies: of(v1alpha1.PlacementPolicyResource, false), reservations: of(v1alpha1.ReservationResource, true),
		nodes:   &watched{resource: "nodes", informer: all.Core().V1().Nodes().Informer()},
		pods:    &watched{resource: "pods", informer: all.Core().V1().Pods().Informer()},
		classes: &watched{resource: "deviceclasses", optional: true, informer: all.Resource().V1().DeviceClasses().Informer()},
		budgets: &watched{resource: "poddisruptionbudgets", optional: true, informer: all.Policy().V1().PodDisruptionBudgets().Informer()},
		groups:  []*watched{of(convert.PodGroups, true), of(convert.InTreePodGroups, true)},
		owners: []*watched{
			{resource: "jobs", optional: true, informer: all.Batch().V1().Jobs().Informer()},
			{resource: "replicasets", optional: true, informer: all.Apps().V1().ReplicaSets().Informer()},
			{resource: "statefulsets", optional: true, informer: all.Apps().V1().StatefulSets().Informer()},
			{resource: "replicationcontrollers", optional: true, informer: all.Core().V1().ReplicationControllers().Informer()},
		},
	}
	w.queues.resource = "queues" // as explained knows it
	return w
}

func (w *Watcher) kinds() []*watched {
	return append([]*watched{w.queues, w.policies, w.reservations, w.nodes, w.pods, w.classes, w.budgets}, w.groups...)
}

// follow runs the informer of a kind until the context ends.
func (w *Watcher) follow(k *watched) {
	_ = k.informer.SetTransform(lean) // errors of these are about informers that run
	_ = k.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { k.failed(err) })
	_, _ = k.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.moved() }, UpdateFunc: func(any, any) { w.moved() }, DeleteFunc: func(any) { w.moved() },
	})
	go k.informer.RunWithContext(w.ctx)
}

// lean drops what no picture needs.
func lean(object any) (any, error) {
	switch o := object.(type) {
	case *batchv1.Job, *appsv1.ReplicaSet, *appsv1.StatefulSet, *corev1.ReplicationController:
		return convert.OwnerOf(o), nil
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return object, nil
}

// failed notes that a list or a watch failed, unless watches just end that way.
func (k *watched) failed(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.at = err, time.Now()
}

func (k *watched) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil || time.Since(k.at) > staleAfter {
		return nil
	}
	return k.err
}

// answered reports whether all objects of the kind are there, or none will be; or why that is not so.
func (k *watched) answered() (bool, error) {
	if k.informer.HasSynced() {
		return true, nil
	}
	switch err := k.failure(); {
	case err == nil:
		return false, nil
	case k.optional:
		return true, nil
	case k.resource == policyResource && apierrors.IsNotFound(err): // a cluster without that kind has none
		return true, nil
	default:
		return false, k.explained(err)
	}
}

// needsToWatch ends the error about a missing permission.
const needsToWatch = "it takes list and watch on queues and placementpolicies." + v1alpha1.GroupName + ", nodes and pods of all namespaces; see manifests/rbac/cluster-viewer.yaml"

func (k *watched) explained(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("watching %s: %w; %s", k.resource, err, needsToWatch)
	}
	return explained(k.resource, err)
}

var policyResource = v1alpha1.PlacementPolicyResource.GroupResource().String()

const lookEvery = 20 * time.Millisecond

func (w *Watcher) wait(kinds []*watched) error {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for _, k := range kinds {
		for {
			done, err := k.answered()
			if err != nil {
				return err
			}
			if done {
				break
			}
			select {
			case <-w.ctx.Done():
				return w.ctx.Err()
			case <-t.C:
			}
		}
	}
	return nil
}

// Changed receives after an object has changed.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Name is the address of the API server.
func (w *Watcher) Name() string { return w.name }

// Set is the objects as last seen, or why they are not seen any more. It is called by one at a time.
func (w *Watcher) Set() (*objects.Set, error) {
	if err := w.answer(); err != nil {
		return nil, fmt.Errorf("no answer from the cluster: %w", err)
	}
	for _, k := range w.kinds() {
		if _, err := k.answered(); err != nil {
			return nil, err
		}
		if err := k.failure(); err != nil && !k.optional && !(k == w.policies && apierrors.IsNotFound(err)) {
			return nil, k.explained(err)
		}
	}
	s := &objects.Set{
		Queues: objectsOf[*unstructured.Unstructured](w.queues), Reservations: objectsOf[*unstructured.Unstructured](w.reservations),
		Nodes: objectsOf[*corev1.Node](w.nodes), Pods: objectsOf[*corev1.Pod](w.pods),
		DeviceClasses: objectsOf[*resourcev1.DeviceClass](w.classes), PodDisruptionBudgets: objectsOf[*policyv1.PodDisruptionBudget](w.budgets),
	}
	for _, g := range w.groups {
		s.PodGroups = append(s.PodGroups, objectsOf[*unstructured.Unstructured](g)...)
	}
	for _, p := range objectsOf[*unstructured.Unstructured](w.policies) {
		if p.GetName() == v1alpha1.PlacementPolicyName {
			s.PlacementPolicy = p
		}
	}
	if s.Gated() && !w.begun {
		w.begun = true
		for _, k := range w.owners {
			w.follow(k)
		}
	}
	for _, k := range w.owners {
		s.Owners = append(s.Owners, objectsOf[*convert.Owner](k)...)
	}
	return s, nil
}

// objectsOf are the objects of a kind as last seen.
func objectsOf[T any](k *watched) []T {
	list := k.informer.GetStore().List()
	all := make([]T, 0, len(list))
	for _, o := range list {
		if object, ok := o.(T); ok {
			all = append(all, object)
		}
	}
	return all
}
