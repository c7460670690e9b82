// Package cluster reads the objects of a live cluster into a set.
//
// In: the kubeconfig flags of kubectl. Out: the objects that a picture is made of, or an error that says what is missing: a permission, or
// the installation. It reads with lists only, writes nothing, and never asks the scheduler process.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// Flags are the kubeconfig flags of kubectl.
type Flags = genericclioptions.ConfigFlags

// NewFlags returns them with their defaults.
func NewFlags() *Flags { return genericclioptions.NewConfigFlags(true) }

// pageSize is how many objects are asked for at once, as kubectl does.
const pageSize = 500

// needs ends the error about a missing permission.
const needs = "it takes list on queues." + v1alpha1.GroupName + ", nodes and pods of all namespaces; see manifests/rbac/cluster-viewer.yaml"

const needsForPlacement = "it takes list on queues and get on placementpolicies." + v1alpha1.GroupName + "; see manifests/rbac/queue-viewer.yaml"

// Read lists the objects of a picture. The lists are of slightly different moments, as with any `kubectl get` of several
// kinds.
//
// Some kinds may be missing or forbidden without an error: DeviceClasses only widen what nodes offer, PodGroups concern
// only pods that name them, PodDisruptionBudgets only plans of preemption, and owners only tell which applications of a
// StateAware queue have one pod. There may be as many Jobs as pods, so owners are listed only if there is a StateAware
// queue in the cluster or in with, the sets that will be applied to it (see objects.Set.With).
func Read(ctx context.Context, f *Flags, with ...*objects.Set) (*objects.Set, error) {
	typed, untyped, _, err := clients(f)
	if err != nil {
		return nil, err
	}
	s := &objects.Set{}
	if err := list(ctx, &s.Queues, untyped.Resource(v1alpha1.QueueResource).List, itemsOf); err != nil {
		return nil, explained("queues", err)
	}
	if err := placementPolicy(ctx, s, untyped); err != nil {
		return nil, err
	}
	err = list(ctx, &s.Reservations, untyped.Resource(v1alpha1.ReservationResource).List, itemsOf)
	if err := optional(v1alpha1.ReservationResource.GroupResource().String(), err); err != nil {
		return nil, err
	}
	if err := list(ctx, &s.Nodes, typed.CoreV1().Nodes().List, func(l *corev1.NodeList) []corev1.Node { return l.Items }); err != nil {
		return nil, explained("nodes", err)
	}
	if err := list(ctx, &s.Pods, typed.CoreV1().Pods("").List, func(l *corev1.PodList) []corev1.Pod { return l.Items }); err != nil {
		return nil, explained("pods", err)
	}
	err = list(ctx, &s.DeviceClasses, typed.ResourceV1().DeviceClasses().List, func(l *resourcev1.DeviceClassList) []resourcev1.DeviceClass { return l.Items })
	if err := optional("deviceclasses", err); err != nil {
		return nil, err
	}
	for _, kind := range []schema.GroupVersionResource{convert.PodGroups, convert.InTreePodGroups} {
		err := list(ctx, &s.PodGroups, untyped.Resource(kind).List, itemsOf)
		if err := optional(kind.GroupResource().String(), err); err != nil {
			return nil, err
		}
	}
	err = list(ctx, &s.PodDisruptionBudgets, typed.PolicyV1().PodDisruptionBudgets("").List,
		func(l *policyv1.PodDisruptionBudgetList) []policyv1.PodDisruptionBudget { return l.Items })
	if err := optional("poddisruptionbudgets", err); err != nil {
		return nil, err
	}
	if s.Gated() || slices.ContainsFunc(with, (*objects.Set).Gated) {
		return s, owners(ctx, s, typed)
	}
	return s, nil
}

// ReadPlacement lists what decides in which queue a pod goes: Queues and the PlacementPolicy. A cluster without that kind has none.
func ReadPlacement(ctx context.Context, f *Flags) (*objects.Set, error) {
	untyped, err := untypedClient(f)
	if err != nil {
		return nil, err
	}
	s := &objects.Set{}
	err = list(ctx, &s.Queues, untyped.Resource(v1alpha1.QueueResource).List, itemsOf)
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("listing queues: %w; %s", err, needsForPlacement)
	}
	if err != nil {
		return nil, explained("queues", err)
	}
	return s, placementPolicy(ctx, s, untyped)
}

// placementPolicy reads the policy. A cluster without that kind has none.
func placementPolicy(ctx context.Context, s *objects.Set, c dynamic.Interface) error {
	p, err := c.Resource(v1alpha1.PlacementPolicyResource).Get(ctx, v1alpha1.PlacementPolicyName, metav1.GetOptions{})
	switch {
	case err == nil:
		p.SetManagedFields(nil)
		s.PlacementPolicy = p
		return nil
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("reading the PlacementPolicy: %w; %s", err, needsForPlacement)
	}
	return fmt.Errorf("reading the PlacementPolicy: %w", err)
}

func itemsOf(l *unstructured.UnstructuredList) []unstructured.Unstructured { return l.Items }

func owners(ctx context.Context, s *objects.Set, c kubernetes.Interface) error {
	err := list(ctx, &s.Owners, c.BatchV1().Jobs("").List, func(l *batchv1.JobList) []convert.Owner { return ownersOf(l.Items) })
	if err := optional("jobs", err); err != nil {
		return err
	}
	err = list(ctx, &s.Owners, c.AppsV1().ReplicaSets("").List, func(l *appsv1.ReplicaSetList) []convert.Owner { return ownersOf(l.Items) })
	if err := optional("replicasets", err); err != nil {
		return err
	}
	err = list(ctx, &s.Owners, c.AppsV1().StatefulSets("").List, func(l *appsv1.StatefulSetList) []convert.Owner { return ownersOf(l.Items) })
	if err := optional("statefulsets", err); err != nil {
		return err
	}
	err = list(ctx, &s.Owners, c.CoreV1().ReplicationControllers("").List, func(l *corev1.ReplicationControllerList) []convert.Owner { return ownersOf(l.Items) })
	return optional("replicationcontrollers", err)
}

func ownersOf[T any](items []T) []convert.Owner {
	all := make([]convert.Owner, len(items))
	for i := range items {
		all[i] = *convert.OwnerOf(&items[i])
	}
	return all
}

// list appends all objects of a kind to all, page by page. If paging takes so long that the server forgets its position,
// it asks for all at once.
func list[T any, O interface {
	*T
	metav1.Object
}, L metav1.ListInterface](ctx context.Context, all *[]O, page func(context.Context, metav1.ListOptions) (L, error), items func(L) []T) error {
	before, options := len(*all), metav1.ListOptions{Limit: pageSize}
	for {
		got, err := page(ctx, options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			*all, options = (*all)[:before], metav1.ListOptions{}
			continue
		}
		if err != nil {
			return err
		}
		for _, item := range items(got) { // copied, so that an object kept keeps no page
			o := O(&item)
			o.SetManagedFields(nil)
			*all = append(*all, o)
		}
		if options.Continue = got.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// optional ignores the error about a kind that a picture does not need.
func optional(resource string, err error) error {
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return explained(resource, err)
}

// explained tells the user what the error of a list means.
func explained(resource string, err error) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("listing %s: %w; %s", resource, err, needs)
	case apierrors.IsNotFound(err) && resource == "queues":
		return fmt.Errorf("listing queues: this cluster has no %s: is Fairway installed? kubectl apply -k manifests does it", resource+"."+v1alpha1.GroupName)
	case errors.As(err, &status):
		return fmt.Errorf("listing %s: %w", resource, err)
	}
	return fmt.Errorf("listing %s: no answer from the cluster: %w", resource, err)
}

// clients are those that read a whole picture: of Kubernetes' own kinds, and of ours. host is the server that they ask.
func clients(f *Flags) (typed *kubernetes.Clientset, untyped dynamic.Interface, host string, err error) {
	config, err := f.ToRESTConfig()
	if err != nil {
		return nil, nil, "", err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // pages follow each other; there is nothing to slow down
	untyped, err = dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, "", err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err = kubernetes.NewForConfig(config)
	return typed, untyped, config.Host, err
}

// untypedClient is the client for our own kinds.
func untypedClient(f *Flags) (dynamic.Interface, error) {
	config, err := f.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(config)
}
