package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// placingClient is the client of kube-scheduler, with one change: a bind carries what the pod is charged as, its
// queue, application, role and user, in annotations fairway.dev/placed-..., which the API server copies from the
// Binding to the pod. So a restart charges the pod as before, whatever its labels say by then, without a second
// write. (A PreBind plugin that patches the pod would halve the throughput.)
type placingClient struct {
	kubernetes.Interface
	s *Scheduler
}

type (
	placingCore struct {
		corev1.CoreV1Interface
		s *Scheduler
	}
	placingPods struct {
		corev1.PodInterface
		s *Scheduler
	}
)

func (c placingClient) CoreV1() corev1.CoreV1Interface {
	return placingCore{c.Interface.CoreV1(), c.s}
}

func (c placingCore) Pods(namespace string) corev1.PodInterface {
	return placingPods{c.CoreV1Interface.Pods(namespace), c.s}
}

func (p placingPods) Bind(ctx context.Context, b *v1.Binding, o metav1.CreateOptions) error {
	pod, _ := p.s.Ledger.PodState(ledger.UID(b.UID))
	if pod.Leaf != "" {
		b = b.DeepCopy()
		convert.SetPlaced(b, &pod)
	}
	err := p.PodInterface.Bind(ctx, b, o)
	if err != nil && !refused(err) {
		err = p.settle(ctx, b, err)
	}
	if err == nil {
		p.s.metrics.Bound(&pod, now())
		p.s.sayBackfilled(&pod)
	}
	return err
}

// sayBackfilled tells the user of a pod that it uses room which is held for others.
func (s *Scheduler) sayBackfilled(pod *ledger.PodState) {
	if !pod.Backfills {
		return
	}
	about := &v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: types.UID(pod.UID)}
	s.Config.EventBroadcaster.NewRecorder(v1alpha1.SchedulerName).
		Eventf(about, nil, v1.EventTypeNormal, v1alpha1.EventBackfilled, "Binding", "%s", reason.Backfilled)
}

// refused reports whether the API server answered that it bound nothing. A conflict is no such answer: the API
// server reports any failure while it writes a binding as a conflict, even if etcd dies after the write.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return errors.Is(err, errNotLeading)
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusConflict
}

const (
	askAgain  = 100 * time.Millisecond
	askAtMost = 30 * time.Second
)

// settle finds out what became of a bind whose answer was lost. Until then the pod stays charged: if a bound
// pod counted as failed, other pods would be released into its room in the queue.
func (p placingPods) settle(ctx context.Context, b *v1.Binding, why error) error {
	for end := time.Now().Add(askAtMost); time.Now().Before(end); {
		pod, err := p.Get(ctx, b.Name, metav1.GetOptions{}) // from etcd, not from a cache
		switch {
		case err == nil && pod.UID == b.UID && pod.Spec.NodeName == b.Target.Name:
			return nil
		case err == nil || apierrors.IsNotFound(err):
			return why
		}
		select {
		case <-ctx.Done():
			return why
		case <-time.After(askAgain):
		}
	}
	return why
}
