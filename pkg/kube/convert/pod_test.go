package convert

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func makePod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "pod", Labels: map[string]string{}, Annotations: map[string]string{},
	}}
	for _, f := range change {
		f(pod)
	}
	return pod
}

func container(name string, requests corev1.ResourceList) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: requests}}
}

func containers(c ...corev1.Container) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers = c }
}

func initContainers(c ...corev1.Container) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.InitContainers = c }
}

func sidecar(name string, requests corev1.ResourceList) corev1.Container {
	c := container(name, requests)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

// resized gives container c what it was allocated, as while a resize is under way.
func resized(c string, allocated corev1.ResourceList, condition ...corev1.PodCondition) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: c, AllocatedResources: allocated, Resources: &corev1.ResourceRequirements{Requests: allocated},
		}}
		pod.Status.Conditions = condition
	}
}

var podSizes = map[string]struct {
	pod  *corev1.Pod
	want string
}{
	"a pod without requests has no size": {makePod(containers(container("a", nil))), ""},
	"containers are summed": {
		makePod(containers(container("a", amounts("cpu", "500m", "memory", "1Gi")), container("b", amounts("cpu", "1", "example.com/gpu", "2")))),
		"cpu=1500m example.com/gpu=2 memory=1Gi",
	},
	"the largest init container counts if it is more": {
		makePod(containers(container("a", amounts("cpu", "1", "memory", "1Gi"))),
			initContainers(container("i", amounts("cpu", "3")), container("j", amounts("cpu", "2")))),
		"cpu=3 memory=1Gi",
	},
	"a sidecar runs beside the containers": {
		makePod(containers(container("a", amounts("cpu", "1"))), initContainers(sidecar("s", amounts("cpu", "250m")))),
		"cpu=1250m",
	},
	"an init container after a sidecar runs beside it": {
		makePod(containers(container("a", amounts("cpu", "1"))),
			initContainers(sidecar("s", amounts("cpu", "250m")), container("i", amounts("cpu", "2")))),
		"cpu=2250m",
	},
	"overhead is added": {
		makePod(containers(container("a", amounts("cpu", "1"))), func(pod *corev1.Pod) { pod.Spec.Overhead = amounts("cpu", "100m", "memory", "50Mi") }),
		"cpu=1100m memory=50Mi",
	},
	"resources of the pod replace those of its containers": {
		makePod(containers(container("a", amounts("cpu", "1", "example.com/gpu", "1"))), func(pod *corev1.Pod) {
			pod.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu", "5", "memory", "1Gi")}
		}),
		"cpu=5 example.com/gpu=1 memory=1Gi",
	},
	"while a pod grows in place, what it wants counts": {
		makePod(containers(container("a", amounts("cpu", "3"))), resized("a", amounts("cpu", "1"))), "cpu=3",
	},
	"while a pod shrinks in place, what it has counts": {
		makePod(containers(container("a", amounts("cpu", "1"))), resized("a", amounts("cpu", "3"))), "cpu=3",
	},
	"a resize that cannot be done does not count": {
		makePod(containers(container("a", amounts("cpu", "30"))), resized("a", amounts("cpu", "1"), corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible,
		})),
		"cpu=1",
	},
	"a request of zero is no request": {makePod(containers(container("a", amounts("cpu", "0", "memory", "1Gi")))), "memory=1Gi"},
	"huge requests saturate": {
		makePod(containers(container("a", amounts("memory", "9E")), container("b", amounts("memory", "9E")))), "memory=unlimited",
	},
}

func TestPodRequest(t *testing.T) {
	for name, tc := range podSizes {
		t.Run(name, func(t *testing.T) {
			if got := PodRequest(tc.pod).String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// The size is what kube-scheduler charges its nodes with; otherwise queues and nodes would fill at different times.
func TestPodRequestIsWhatKubeSchedulerCounts(t *testing.T) {
	for name, tc := range podSizes {
		if name == "huge requests saturate" {
			continue // there kube-scheduler's own sum wraps
		}
		t.Run(name, func(t *testing.T) {
			info, err := framework.NewPodInfo(tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			counted := info.CalculateResource().Resource
			entries := []resource.Entry{
				{Name: resource.CPU, Value: counted.GetMilliCPU()},
				{Name: resource.Memory, Value: counted.GetMemory()},
				{Name: resource.EphemeralStorage, Value: counted.GetEphemeralStorage()},
			}
			for name, value := range counted.GetScalarResources() {
				entries = append(entries, resource.Entry{Name: resource.Name(name), Value: value})
			}
			if got, want := PodRequest(tc.pod), resource.Of(entries...); !got.Equal(want) {
				t.Errorf("got %v, kube-scheduler counts %v", got, want)
			}
		})
	}
}

func TestQueueRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		labels, annotations map[string]string
		want                string
	}{
		"a pod may name no queue":           {nil, nil, ""},
		"our label":                         {map[string]string{"fairway.dev/queue": "busy"}, nil, "busy"},
		"our annotation":                    {nil, map[string]string{"fairway.dev/queue": "root.a"}, "root.a"},
		"the label before the annotation":   {map[string]string{"fairway.dev/queue": "a"}, map[string]string{"fairway.dev/queue": "b"}, "a"},
		"our annotation before YuniKorn's":  {map[string]string{"yunikorn.apache.org/queue": "root.a"}, map[string]string{"fairway.dev/queue": "root.b"}, "root.b"},
		"nothing is trimmed":                {nil, map[string]string{"fairway.dev/queue": " Root.A "}, " Root.A "},
		"YuniKorn's label":                  {map[string]string{"yunikorn.apache.org/queue": "root.a", "queue": "root.b"}, nil, "root.a"},
		"YuniKorn's annotation":             {nil, map[string]string{"yunikorn.apache.org/queue": "root.a"}, "root.a"},
		"YuniKorn's old label with a path":  {map[string]string{"queue": "root.a"}, nil, "root.a"},
		"YuniKorn's old label in company":   {map[string]string{"queue": "a", "applicationId": "x"}, nil, "a"},
		"a queue label of somebody else's":  {map[string]string{"queue": "emails"}, nil, ""},
		"a word that only starts like root": {map[string]string{"queue": "roots"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := makePod()
			pod.Labels, pod.Annotations = tc.labels, tc.annotations
			if got := QueueRequest(pod); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
