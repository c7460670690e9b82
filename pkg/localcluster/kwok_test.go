package localcluster_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

func TestSimulatedNodes(t *testing.T) {
	t.Parallel()
	for _, withControllers := range []bool{true, false} {
		t.Run(fmt.Sprintf("controller manager %t", withControllers), func(t *testing.T) {
			t.Parallel()
			cluster := start(t, localcluster.Options{KWOK: true, ControllerManager: withControllers})
			allocatable := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16")}
			label := func(node *corev1.Node) { node.Labels["rack"] = "r1" }
			if err := cluster.AddNodes(t.Context(), "node", 20, allocatable, label); err != nil {
				t.Fatal(err)
			}
			client := clientOf(t, cluster.RESTConfig())
			nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "rack=r1"})
			if err != nil || len(nodes.Items) != 20 {
				t.Fatalf("%d nodes, %v", len(nodes.Items), err)
			}
			for _, node := range nodes.Items {
				if len(node.Spec.Taints) > 0 || node.Status.Allocatable.Cpu().Value() != 16 || node.Status.Allocatable.Pods().Value() != 110 {
					t.Errorf("%s: taints %v, allocatable %v", node.Name, node.Spec.Taints, node.Status.Allocatable)
				}
			}
			if err := cluster.AddNodes(t.Context(), "node", 1, nil); !apierrors.IsAlreadyExists(err) {
				t.Errorf("the same names again: got %v", err)
			}
		})
	}
}

func TestSimulatedPods(t *testing.T) {
	t.Parallel()
	cluster := start(t, localcluster.Options{KWOK: true, ControllerManager: true})
	if err := cluster.AddNodes(t.Context(), "node", 1, nil); err != nil {
		t.Fatal(err)
	}
	client := clientOf(t, cluster.RESTConfig())
	run := func(pod *corev1.Pod) {
		t.Helper()
		if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-0"}}
		if err := client.CoreV1().Pods("default").Bind(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	runsFor := func(seconds string) map[string]string {
		return map[string]string{localcluster.RunSecondsAnnotation: seconds}
	}

	timed := pod("timed", runsFor("2.5"))
	timed.Spec.InitContainers = []corev1.Container{{Name: "before", Image: "none"}}
	began := time.Now()
	run(timed)
	run(pod("server", nil))
	run(pod("misspelt", runsFor("soon")))
	for _, name := range []string{"timed", "server", "misspelt"} {
		eventually(t, "pods that are bound run", phaseIs(client, name, corev1.PodRunning))
	}
	if err := cluster.Restart(localcluster.KWOK); err != nil {
		t.Fatal(err)
	}
	// It is changed all the time: if its time counted from the last change, or from the restart of KWOK, it
	// would never end.
	changes := 0
	eventually(t, "the pod that runs for 2.5 s completes", func(ctx context.Context) error {
		changes++
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"changes":"%d"}}}`, changes)
		if _, err := client.CoreV1().Pods("default").Patch(ctx, "timed", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		return phaseIs(client, "timed", corev1.PodSucceeded)(ctx)
	})
	if took := time.Since(began); took < 2500*time.Millisecond {
		t.Errorf("it ran for %s", took)
	}
	done, err := client.CoreV1().Pods("default").Get(t.Context(), "timed", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ended := done.Status.ContainerStatuses[0].State.Terminated; ended == nil || ended.ExitCode != 0 || !ended.StartedAt.Before(&ended.FinishedAt) {
		t.Errorf("its container: %+v", done.Status.ContainerStatuses[0].State)
	}

	for _, name := range []string{"server", "misspelt"} {
		if err := phaseIs(client, name, corev1.PodRunning)(t.Context()); err != nil {
			t.Errorf("without a time a pod runs until it is deleted: %v", err)
		}
		began := time.Now()
		if err := client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a deleted pod goes", gone(client, name))
		if took := time.Since(began); took > patience/2 {
			t.Errorf("deleting %s took %s", name, took)
		}
	}
}

func TestSimulatedPodsTakeTheirTimeToStop(t *testing.T) {
	t.Parallel()
	cluster := start(t, localcluster.Options{KWOK: true})
	if err := cluster.AddNodes(t.Context(), "node", 1, nil); err != nil {
		t.Fatal(err)
	}
	pods := clientOf(t, cluster.RESTConfig()).CoreV1().Pods("default")
	for name, c := range map[string]struct {
		stops, grace int64
		takes        time.Duration
	}{
		"within its grace period": {2, 30, 2 * time.Second},
		"cut short":               {30, 1, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod("stops", map[string]string{localcluster.StopSecondsAnnotation: fmt.Sprint(c.stops)})
			p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = "node-0", &c.grace
			if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			client := clientOf(t, cluster.RESTConfig())
			eventually(t, "it runs", phaseIs(client, p.Name, corev1.PodRunning))
			began := time.Now().Truncate(time.Second) // the API keeps the moment of the deletion in whole seconds
			if err := pods.Delete(t.Context(), p.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it goes", gone(client, p.Name))
			if took := time.Since(began); took < c.takes {
				t.Errorf("it took %s to stop, want %s", took, c.takes)
			}
		})
	}
}

func gone(client kubernetes.Interface, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("pod %s: %v", name, err)
	}
}
