package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// bindsInFlight is how many binds the contestant without decisions has under way: as many as Fairway's window.
const bindsInFlight = 64

// bindOnlyCommand is the contestant that shows the limit of the control plane: it binds each pod to the next node, with
// the same client limits as the others, and does nothing else. No scheduler can be faster. The difference is what
// decisions cost, and the event for every bind.
func bindOnlyCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(bindOnlyName, flag.ContinueOnError)
	flags.SetOutput(os.Stderr)
	kubeconfig := flags.String("kubeconfig", "", "the `file` that says where the cluster is")
	address := flags.String("address", "", "the `address` to serve health and metrics on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b, err := newBinder(ctx, *kubeconfig)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // it serves until the process ends
	return b.run(ctx)
}

// binder binds round robin.
type binder struct {
	kube   kubernetes.Interface
	pods   cache.SharedIndexInformer
	nodes  []string
	next   atomic.Int64
	bound  atomic.Int64
	synced atomic.Bool
}

func newBinder(ctx context.Context, kubeconfig string) (*binder, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = clientQPS, clientBurst
	config.ContentType, config.AcceptContentTypes = protobuf, protobuf+",application/json"
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	watcher, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	list, err := kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, errors.New("there are no nodes")
	}
	b := &binder{kube: kube}
	for i := range list.Items {
		b.nodes = append(b.nodes, list.Items[i].Name)
	}
	// A pod leaves the selection, and so this watch, when it is bound.
	waiting := func(o *metav1.ListOptions) {
		o.FieldSelector = "spec.nodeName=,spec.schedulerName=" + v1alpha1.SchedulerName
	}
	b.pods = metadatainformer.NewFilteredMetadataInformer(watcher, podResource, namespace, 0, nil, waiting).Informer()
	return b, nil
}

// run binds until the context ends or a bind fails.
func (b *binder) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan *metav1.PartialObjectMetadata, bindsInFlight)
	_, err := b.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if pod, ok := obj.(*metav1.PartialObjectMetadata); ok {
			select {
			case todo <- pod:
			case <-ctx.Done():
			}
		}
	}})
	if err != nil {
		return err
	}
	for range bindsInFlight {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case pod := <-todo:
					if err := b.bind(ctx, pod); err != nil {
						cancel(fmt.Errorf("bind %s: %w", pod.Name, err))
					}
				}
			}
		}()
	}
	go b.pods.RunWithContext(ctx)
	b.synced.Store(cache.WaitForCacheSync(ctx.Done(), b.pods.HasSynced))
	<-ctx.Done()
	return context.Cause(ctx)
}

func (b *binder) bind(ctx context.Context, pod *metav1.PartialObjectMetadata) error {
	node := b.nodes[int(b.next.Add(1)-1)%len(b.nodes)]
	err := b.kube.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err == nil {
		b.bound.Add(1)
	}
	return err
}

// ServeHTTP answers as a scheduler does, so that one way of asking fits all contestants.
func (b *binder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/readyz" && b.synced.Load():
		fmt.Fprintln(w, "ok")
	case r.URL.Path == "/readyz":
		http.Error(w, "the pods are not listed yet", http.StatusServiceUnavailable)
	case r.URL.Path == "/metrics":
		fmt.Fprintf(w, "# TYPE %[1]s counter\n%[1]s{profile=%[2]q,result=\"scheduled\"} %[3]d\n", attemptsMetric, bindOnlyName, b.bound.Load())
	default:
		http.NotFound(w, r)
	}
}
