package localcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// NodeOption changes a node before AddNodes creates it, for example its labels or taints.
type NodeOption func(*corev1.Node)

// nodeWriters is how many requests AddNodes runs at a time.
const nodeWriters = 16

// AddNodes creates n simulated nodes called prefix-0, prefix-1 and so on, and returns when pods can be
// scheduled to all of them: they are Ready and no longer have the taint of new nodes. If allocatable has no
// pods, it gets 110, the default of a kubelet.
func (c *Cluster) AddNodes(ctx context.Context, prefix string, n int, allocatable corev1.ResourceList, options ...NodeOption) error {
	if !c.options.KWOK {
		return errors.New("add nodes: this local cluster runs without KWOK, so nothing would make them Ready")
	}
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	err = InParallel(n, nodeWriters, func(i int) error {
		_, err := client.CoreV1().Nodes().Create(ctx, simulatedNode(prefix, i, allocatable, options), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("add nodes: %w", err)
	}
	names := make(map[string]bool, n)
	for i := range n {
		names[nodeName(prefix, i)] = true
	}
	if err := awaitReady(ctx, client, names, !c.options.ControllerManager); err != nil {
		return fmt.Errorf("add nodes: %d of %d not Ready: %w", len(names), n, err)
	}
	c.progress("%d nodes Ready: %s-*", n, prefix)
	return nil
}

func nodeName(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }

func simulatedNode(prefix string, i int, allocatable corev1.ResourceList, options []NodeOption) *corev1.Node {
	name := nodeName(prefix, i)
	resources := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	maps.Copy(resources, allocatable)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{simulatedNodeAnnotation: simulatedNodeValue},
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{Capacity: resources.DeepCopy(), Allocatable: resources},
	}
	for _, option := range options {
		option(node)
	}
	return node
}

// awaitReady watches until every named node is Ready and removes the names of those that are. Admission gives
// each new node a taint that the node lifecycle controller removes; if that controller does not run, untaint
// makes this function remove it.
func awaitReady(ctx context.Context, client kubernetes.Interface, names map[string]bool, untaint bool) error {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stuck := time.AfterFunc(readyLimit, func() { cancel(fmt.Errorf("no further node became Ready in %s", readyLimit)) })
	defer stuck.Stop()
	nodes := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll, fields.Everything())
	_, err := watchtools.UntilWithSync(ctx, nodes, &corev1.Node{}, nil, func(event watch.Event) (bool, error) {
		node, ok := event.Object.(*corev1.Node)
		if !ok || !names[node.Name] || event.Type == watch.Deleted || !isReady(node) {
			return false, nil
		}
		if isTaintedNotReady(node) {
			if !untaint {
				return false, nil
			}
			return false, removeNotReadyTaint(ctx, client, node) // the node without the taint is the next event
		}
		delete(names, node.Name)
		stuck.Reset(readyLimit)
		return len(names) == 0, nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}

func isNotReadyTaint(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady }

func isTaintedNotReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, isNotReadyTaint)
}

// removeNotReadyTaint removes the taint from exactly the version of the node that was seen. If the node has
// changed since, it does nothing: the watch will deliver the change, and this is called again.
func removeNotReadyTaint(ctx context.Context, client kubernetes.Interface, node *corev1.Node) error {
	kept := slices.DeleteFunc(slices.Clone(node.Spec.Taints), isNotReadyTaint)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": node.ResourceVersion},
		"spec":     map[string]any{"taints": kept},
	})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
