package objects

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
)

// Select returns the UIDs of the pods of a namespace ("" for all) that a label selector matches. The error names the selector.
func (s *Set) Select(namespace, selector string) ([]string, error) {
	matching, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", selector, err)
	}
	var uids []string
	for _, p := range s.Pods {
		if (namespace == "" || p.Namespace == namespace) && matching.Matches(labels.Set(p.Labels)) {
			uids = append(uids, string(p.UID))
		}
	}
	return uids, nil
}
