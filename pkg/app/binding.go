package app

import (
	"context"

	v1 "k8s.io/api/core/v1"
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
	return p.PodInterface.Bind(ctx, b, o)
}
