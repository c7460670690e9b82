package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Select returns the pods of a namespace ("" for all) that a label selector matches. The error names the selector.
func (s *Set) Select(namespace, selector string) ([]*corev1.Pod, error) {
	matching, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", selector, err)
	}
	var pods []*corev1.Pod
	for _, p := range s.Pods {
		if (namespace == "" || p.Namespace == namespace) && matching.Matches(labels.Set(p.Labels)) {
			pods = append(pods, p)
		}
	}
	return pods, nil
}
