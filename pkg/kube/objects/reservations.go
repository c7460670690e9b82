package objects

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// WithReservations returns the Reservations of the set as they would be after applying those of another: created now or, if they are there already, changed
// now. names are those of the other, as namespace/name, in order.
func (s *Set) WithReservations(asked *Set, now time.Time) (all []*unstructured.Unstructured, names []string) {
	before := map[string]*unstructured.Unstructured{}
	for _, u := range s.Reservations {
		before[nameOf(u)] = u
	}
	changed := map[string]bool{}
	for _, u := range asked.Reservations {
		key := nameOf(u)
		changed[key] = true
		is := before[key].DeepCopy()
		if is == nil {
			is = u.DeepCopy()
			unstructured.RemoveNestedField(is.Object, "status")
			is.SetGeneration(1)
			is.SetCreationTimestamp(metav1.NewTime(now))
		} else {
			is.Object["spec"] = u.Object["spec"]
			is.SetGeneration(is.GetGeneration() + 1)
		}
		all = append(all, is)
	}
	for _, u := range s.Reservations {
		if !changed[nameOf(u)] {
			all = append(all, u)
		}
	}
	return all, slices.Sorted(maps.Keys(changed))
}

func nameOf(u *unstructured.Unstructured) string { return u.GetNamespace() + "/" + u.GetName() }
