package spark

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	// Namespace of all pods.
	Namespace = metav1.NamespaceDefault
	// PodCores is the cpu cores that every pod asks for, PodGiB its memory.
	PodCores = 1
	// PodGiB is in GiB.
	PodGiB = 1
)

// Application is an application to submit.
type Application struct {
	Name, Queue string
	// Executors is how many executors its driver creates once it has run for StartUp. Each runs for RunFor.
	Executors       int
	StartUp, RunFor time.Duration
	// Deleted: the driver is deleted when all is done. Otherwise it ends by itself.
	Deleted bool
	// KeepEnded keeps executors that ended visible. By default, Spark deletes them.
	KeepEnded bool
}

// DriverName is the name of the driver's pod.
func (a *Application) DriverName() string { return a.Name + driverSuffix }

// ExecutorName is the name of an executor's pod; the first is number 1.
func (a *Application) ExecutorName(number int) string {
	return a.Name + executorInfix + strconv.Itoa(number)
}

const (
	driverSuffix  = "-driver"
	executorInfix = "-exec-"
)

// IsDriver reports whether the pod of this name is a driver.
func IsDriver(pod string) bool { return strings.HasSuffix(pod, driverSuffix) }

// NameOf returns the application of a pod, by the pod's name.
func NameOf(pod string) string {
	name, _, _ := strings.Cut(pod, driverSuffix)
	name, _, _ = strings.Cut(name, executorInfix)
	return name
}

// Driver returns the driver's pod.
func (a *Application) Driver() *v1.Pod { return a.pod(a.DriverName(), "driver") }

// Executor returns the pod of an executor, which its driver owns.
func (a *Application) Executor(number int, driver *v1.Pod) *v1.Pod {
	p := a.pod(a.ExecutorName(number), "executor")
	p.Labels["spark-exec-id"], p.Labels["spark-exec-resourceprofile-id"] = strconv.Itoa(number), "0"
	p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: fmt.Sprintf("%.3f", a.RunFor.Seconds())}
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(driver, v1.SchemeGroupVersion.WithKind("Pod"))}
	return p
}

// pod has the labels that Spark and its operator set.
func (a *Application) pod(name, role string) *v1.Pod {
	grace, mount := int64(0), false
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: name,
			Labels: map[string]string{
				v1alpha1.KeyQueue:    a.Queue,
				"spark-app-selector": "spark-" + a.Name, "spark-role": role, "spark-app-name": a.Name, "spark-version": "3.5.1",
				"sparkoperator.k8s.io/app-name": a.Name, "sparkoperator.k8s.io/launched-by-spark-operator": "true",
			},
		},
		Spec: v1.PodSpec{
			SchedulerName:                 v1alpha1.SchedulerName,
			RestartPolicy:                 v1.RestartPolicyNever,
			TerminationGracePeriodSeconds: &grace,
			AutomountServiceAccountToken:  &mount,
			Containers: []v1.Container{{
				Name: "spark-kubernetes-" + role, Image: "simulated", // no container is started
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
					v1.ResourceCPU:    *resource.NewQuantity(PodCores, resource.DecimalSI),
					v1.ResourceMemory: *resource.NewQuantity(PodGiB<<30, resource.BinarySI),
				}},
			}},
		},
	}
}
