package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	podsPerNode = 110
	namespace   = metav1.NamespaceDefault
	// writers is how many requests prepare or clean up at a time.
	writers = 16
	// quietLimit is how long a run waits for the control plane to have done with what came before.
	quietLimit = 20 * time.Second
	readyLimit = time.Minute
)

var (
	podResource   = corev1.SchemeGroupVersion.WithResource("pods")
	queueResource = v1alpha1.GroupVersion.WithResource("queues")
)

// world is the control plane that all contestants run on.
//
// It has etcd and kube-apiserver and nothing else. Nodes are objects without a kubelet: no controller doubts that they
// are Ready, and nothing starts the pods that are bound to them. KWOK would start them, and its write to every pod would
// take CPU time from the scheduler while it is measured: a small machine has only two cores. So one update of each bound
// pod is missing, for all contestants alike.
type world struct {
	cluster *localcluster.Cluster
	config  *rest.Config
	kube    kubernetes.Interface
	meta    metadata.Interface
	objects dynamic.Interface
	servers []int // the pids of the control plane
}

func startWorld(ctx context.Context, log io.Writer) (*world, error) {
	cluster, err := localcluster.Start(ctx, localcluster.Options{Log: log})
	if err != nil {
		return nil, err
	}
	w := &world{cluster: cluster, config: cluster.RESTConfig()}
	w.config.WarningHandler = rest.NoWarnings{}
	// Protobuf, as schedulers have it: creating pods must take as little as possible from the machine.
	cheap := rest.CopyConfig(w.config)
	cheap.ContentType, cheap.AcceptContentTypes = protobuf, protobuf+",application/json"
	var err1, err2, err3 error
	w.kube, err1 = kubernetes.NewForConfig(cheap)
	w.meta, err2 = metadata.NewForConfig(w.config) // it chooses protobuf by itself
	w.objects, err3 = dynamic.NewForConfig(w.config)
	for _, name := range []string{localcluster.Etcd, localcluster.APIServer} {
		pid, errPID := readPID(filepath.Join(w.dir(), "pids", name))
		err = errors.Join(err, errPID)
		w.servers = append(w.servers, pid)
	}
	if err = errors.Join(err1, err2, err3, err); err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return w, nil
}

const protobuf = "application/vnd.kubernetes.protobuf"

// dir is the cluster's directory.
func (w *world) dir() string { return filepath.Dir(w.cluster.Kubeconfig()) }

func readPID(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// furnish installs the CRDs and the nodes.
func (w *world) furnish(ctx context.Context, root string, nodes int) error {
	if err := localcluster.InstallCRDs(ctx, w.objects, filepath.Join(root, "manifests", "crds")); err != nil {
		return err
	}
	if err := inParallel(ctx, writers, nodes, w.createNode); err != nil {
		return fmt.Errorf("create nodes: %w", err)
	}
	return nil
}

// createNode creates a node that is Ready, without the taint that admission gives each new node.
func (w *world) createNode(ctx context.Context, i int) error {
	name := fmt.Sprintf("node-%04d", i)
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("128Gi"),
		corev1.ResourcePods:   *resource.NewQuantity(podsPerNode, resource.DecimalSI),
	}
	_, err := w.kube.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			Capacity: resources, Allocatable: resources,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Simulated"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	untaint, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": nil}})
	if err != nil {
		return err
	}
	_, err = w.kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, untaint, metav1.PatchOptions{})
	return err
}

// createQueues makes the queues of a contestant, in a world that is clean.
func (w *world) createQueues(ctx context.Context, c contestant) error {
	return inParallel(ctx, writers, c.queues, func(ctx context.Context, i int) error {
		name := c.queueName(i)
		queue := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue", "metadata": map[string]any{"name": name},
		}}
		if _, err := w.objects.Resource(queueResource).Create(ctx, queue, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create queue %s: %w", name, err)
		}
		return nil
	})
}

func podName(i int) string { return fmt.Sprintf("pod-%05d", i) }

// createPods creates n pods, which differ in name and queue only.
func (w *world) createPods(ctx context.Context, c contestant, creators, n int) error {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	err := inParallel(ctx, creators, n, func(ctx context.Context, i int) error {
		_, err := w.kube.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: podName(i), Labels: map[string]string{v1alpha1.KeyQueue: c.queueName(i)}},
			Spec: corev1.PodSpec{
				SchedulerName: v1alpha1.SchedulerName,
				Containers: []corev1.Container{{
					Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: requests},
				}},
			},
		}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("create pods: %w", err)
	}
	return nil
}

// podsPerNodeNow counts the pods of every node, those without pods included. A pod without a node is an error.
func (w *world) podsPerNodeNow(ctx context.Context, nodes int) ([]int, error) {
	list, err := w.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	byNode := map[string]int{}
	for i := range list.Items {
		if list.Items[i].Spec.NodeName == "" {
			return nil, fmt.Errorf("pod %s was seen bound and has no node", list.Items[i].Name)
		}
		byNode[list.Items[i].Spec.NodeName]++
	}
	counts := make([]int, 0, nodes)
	for _, count := range byNode {
		if count > podsPerNode {
			return nil, fmt.Errorf("a node was given %d pods and has room for %d", count, podsPerNode)
		}
		counts = append(counts, count)
	}
	return append(counts, make([]int, nodes-len(counts))...), nil
}

// settle waits until the control plane is idle.
func (w *world) settle(ctx context.Context) error { return awaitIdle(ctx, quietLimit, w.servers...) }

// inParallel calls do for 0 to n-1, in this order, with so many calls under way. It ends at the first error.
func inParallel(ctx context.Context, workers, n int, do func(context.Context, int) error) error {
	calls, running := errgroup.WithContext(ctx)
	calls.SetLimit(workers)
	for i := 0; i < n && running.Err() == nil; i++ {
		calls.Go(func() error { return do(running, i) })
	}
	if err := calls.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
