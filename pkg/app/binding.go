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
)

// placingClient is the client of kube-scheduler, with one change: a bind carries the queue the pod is charged to, as the annotation
// fairway.dev/placed-queue, which the apiserver copies from the Binding to the pod. So a restart charges the pod to the same queue
// whatever became of its labels, and no second write is needed. (A PreBind plugin that patches the pod would halve the throughput.)
type placingClient struct {
	kubernetes.Interface
	placed func(types.UID) string
}

type (
	placingCore struct {
		corev1.CoreV1Interface
		placed func(types.UID) string
	}
	placingPods struct {
		corev1.PodInterface
		placed func(types.UID) string
	}
)

func (c placingClient) CoreV1() corev1.CoreV1Interface {
	return placingCore{c.Interface.CoreV1(), c.placed}
}

func (c placingCore) Pods(namespace string) corev1.PodInterface {
	return placingPods{c.CoreV1Interface.Pods(namespace), c.placed}
}

func (p placingPods) Bind(ctx context.Context, b *v1.Binding, o metav1.CreateOptions) error {
	if q := p.placed(b.UID); q != "" {
		b = b.DeepCopy()
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, v1alpha1.KeyPlacedQueue, q)
	}
	err := p.PodInterface.Bind(ctx, b, o)
	if err == nil || refused(err) {
		return err
	}
	return p.settle(ctx, b, err)
}

// refused: the apiserver has answered, and bound nothing.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return errors.Is(err, errNotLeading)
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout
}

const (
	askAgain  = 100 * time.Millisecond
	askAtMost = 30 * time.Second
)

// settle finds out what became of a bind whose answer was lost. Until then the pod stays charged: were it taken for failed while it is
// bound, others would be released into its room in the queue.
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
