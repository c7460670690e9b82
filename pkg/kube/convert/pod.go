package convert

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/component-helpers/resource"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// PodRequest returns the size of a pod as kube-scheduler counts it against a node: containers, init containers and sidecars, pod-level
// resources, overhead, and, while a pod is resized in place, the larger of what it has and what it wants.
//
// The options are those of kube-scheduler's own count (framework.PodInfo.CalculateResource) with every feature on. Where a feature is off,
// the API server drops the fields the option would read, so nothing has to be asked of feature gates here.
func PodRequest(pod *corev1.Pod) resource.List {
	return withoutZeros(Amounts(podresource.PodRequests(pod, podresource.PodResourcesOptions{
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
		UseDRANodeAllocatableResourceClaimStatus:       true,
	})))
}

// YuniKorn's names for a pod's queue and application, old and new.
const (
	yunikornQueue          = "yunikorn.apache.org/queue"
	yunikornQueueOld       = "queue"
	yunikornApplication    = "yunikorn.apache.org/app-id"
	yunikornApplicationOld = "applicationId"
)

// QueueRequest returns the queue a pod asks for, exactly as written, and "" if it names none (see queue.ParseRequest). Our own key comes
// first, as a label and then as an annotation; then what YuniKorn's users write.
//
// The bare label `queue` is too common a word to be trusted everywhere: it counts where the pod also names a YuniKorn application, or where
// the value is a full path.
func QueueRequest(pod *corev1.Pod) string {
	if q := labelOrAnnotation(pod, v1alpha1.KeyQueue); q != "" {
		return q
	}
	if q := labelOrAnnotation(pod, yunikornQueue); q != "" {
		return q
	}
	q := pod.Labels[yunikornQueueOld]
	if yunikornApplicationOf(pod) != "" || q == v1alpha1.RootQueue || strings.HasPrefix(q, v1alpha1.RootQueue+".") {
		return q
	}
	return ""
}

func yunikornApplicationOf(pod *corev1.Pod) string {
	if id := labelOrAnnotation(pod, yunikornApplication); id != "" {
		return id
	}
	return pod.Labels[yunikornApplicationOld]
}

func labelOrAnnotation(pod *corev1.Pod, key string) string {
	if v := pod.Labels[key]; v != "" {
		return v
	}
	return pod.Annotations[key]
}
