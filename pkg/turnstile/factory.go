package turnstile

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// schedulerHandler is the function that kube-scheduler registers for added pods
// (pkg/scheduler/eventhandlers.go, addAllEventHandlers). Every other registration on the pod informer belongs
// to a plugin and is passed through.
const schedulerHandler = "k8s.io/kubernetes/pkg/scheduler.(*Scheduler).addPod"

// Factory wraps f for scheduler.New: kube-scheduler's registration on the pod informer goes through the
// turnstile, everything else goes to f. Check tells afterwards whether the registration was seen.
func (t *Turnstile) Factory(f informers.SharedInformerFactory) informers.SharedInformerFactory {
	return factory{SharedInformerFactory: f, t: t}
}

// Check returns an error if scheduler.New registered no handler that the turnstile knows: then it would
// withhold nothing.
func (t *Turnstile) Check() error {
	if t.inner == nil {
		return errors.New("kube-scheduler registered no pod handler named " + schedulerHandler +
			": this build of Fairway does not fit this version of k8s.io/kubernetes")
	}
	return nil
}

// The four types below are the path informerFactory.Core().V1().Pods().Informer(), each with one method
// replaced.
type (
	factory struct {
		informers.SharedInformerFactory
		t *Turnstile
	}
	group struct {
		core.Interface
		t *Turnstile
	}
	version struct {
		corev1.Interface
		t *Turnstile
	}
	pods struct {
		corev1.PodInformer
		t *Turnstile
	}
	informer struct {
		cache.SharedIndexInformer
		t *Turnstile
	}
)

func (f factory) Core() core.Interface             { return group{f.SharedInformerFactory.Core(), f.t} }
func (g group) V1() corev1.Interface               { return version{g.Interface.V1(), g.t} }
func (v version) Pods() corev1.PodInformer         { return pods{v.Interface.Pods(), v.t} }
func (p pods) Informer() cache.SharedIndexInformer { return informer{p.PodInformer.Informer(), p.t} }

func (i informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.t.wrap(h))
}

func (i informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, d time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(i.t.wrap(h), d)
}

func (i informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(i.t.wrap(h), o)
}

func (t *Turnstile) wrap(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	funcs, ok := h.(cache.ResourceEventHandlerFuncs)
	if !ok || funcs.AddFunc == nil {
		return h
	}
	name := runtime.FuncForPC(reflect.ValueOf(funcs.AddFunc).Pointer()).Name()
	if strings.TrimSuffix(name, "-fm") != schedulerHandler {
		return h
	}
	t.inner = h
	return t
}
