package convert

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPreferredNodesAndRacks(t *testing.T) {
	for list, want := range map[string]string{
		"":                "",
		" , ":             "",
		"n2":              "n2",
		"n2,n1":           "n1,n2",
		" n2 , n1,, n2\n": "n1,n2",
	} {
		pod := makePod(func(pod *corev1.Pod) {
			pod.Annotations["fairway.dev/preferred-nodes"], pod.Annotations["fairway.dev/preferred-rack"] = list, list
		})
		if nodes, racks := PreferredNodes(pod), PreferredRacks(pod); nodes != want || racks != want {
			t.Errorf("%q: nodes %q and racks %q, want %q", list, nodes, racks, want)
		}
	}
}

func TestOnlySoManyPreferredNodesCount(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("n-%02d", i))
	}
	pod := makePod(func(pod *corev1.Pod) { pod.Annotations["fairway.dev/preferred-nodes"] = strings.Join(all, ",") })
	if got, want := PreferredNodes(pod), strings.Join(all[:64], ","); got != want {
		t.Errorf("got %s", got)
	}
}
