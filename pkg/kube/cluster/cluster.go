// Package cluster reads the objects of a live cluster into a set.
//
// In: the kubeconfig flags of kubectl. Out: the objects that a picture is made of, or an error that says what is missing: a permission, or
// the installation. It reads with lists only, writes nothing, and never asks the scheduler process.
package cluster

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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

// Read lists what a picture is made of. The lists are of slightly different moments, as any `kubectl get` of several kinds.
//
// DeviceClasses only widen what nodes offer, and PodGroups concern only the pods that name them: a cluster without them, or a user who may
// not see them, is no error.
func Read(ctx context.Context, f *Flags) (*objects.Set, error) {
	config, err := f.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // pages follow each other; there is nothing to slow down
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	s := &objects.Set{}
	if err := list(ctx, &s.Queues, untyped.Resource(v1alpha1.GroupVersion.WithResource("queues")).List, itemsOf); err != nil {
		return nil, explained("queues", err)
	}
	if err := list(ctx, &s.Nodes, typed.CoreV1().Nodes().List, func(l *corev1.NodeList) []corev1.Node { return l.Items }); err != nil {
		return nil, explained("nodes", err)
	}
	if err := list(ctx, &s.Pods, typed.CoreV1().Pods("").List, func(l *corev1.PodList) []corev1.Pod { return l.Items }); err != nil {
		return nil, explained("pods", err)
	}
	err = list(ctx, &s.DeviceClasses, typed.ResourceV1().DeviceClasses().List, func(l *resourcev1.DeviceClassList) []resourcev1.DeviceClass { return l.Items })
	if err != nil && !optional(err) {
		return nil, explained("deviceclasses", err)
	}
	for _, kind := range []schema.GroupVersionResource{convert.PodGroups, convert.InTreePodGroups} {
		if err := list(ctx, &s.PodGroups, untyped.Resource(kind).List, itemsOf); err != nil && !optional(err) {
			return nil, explained(kind.GroupResource().String(), err)
		}
	}
	return s, nil
}

func itemsOf(l *unstructured.UnstructuredList) []unstructured.Unstructured { return l.Items }

// optional reports whether an error says that a kind is not there, or not for this user.
func optional(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) }

// list appends all objects of a kind to all, page by page. Where paging takes so long that the server forgets where it was, all are asked
// for at once.
func list[T any, O interface {
	*T
	metav1.Object
}, L metav1.ListInterface](ctx context.Context, all *[]O, page func(context.Context, metav1.ListOptions) (L, error), items func(L) []T) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		got, err := page(ctx, options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			*all, options = nil, metav1.ListOptions{}
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

// explained says what an error of a list means to the user.
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
