package objects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchedulersAreThoseOfPodsThatShowThem(t *testing.T) {
	pod := func(name, scheduler, more string) string {
		return "---\n{kind: Pod, apiVersion: v1, metadata: {name: " + name + ", annotations: {fairway.dev/placed-queue: root.a}}, spec: {schedulerName: " + scheduler + more + "}\n"
	}
	queued := "}, status: {conditions: [{type: fairway.dev/Queued, status: \"True\"}]}"
	s := mustRead(t, "dump", pod("a", "batch", queued)+pod("b", "batch", ", nodeName: n1}")+pod("c", "zeta", queued)+pod("d", "gpu", ", nodeName: n1}")+
		pod("e", "gpu", ", nodeName: n1}")+pod("f", "forged", "}")+strings.Replace(pod("g", "plain", ", nodeName: n1}"), "placed-queue", "queue", 1))
	known, likely := s.Schedulers()
	if diff := cmp.Diff([]string{"batch", "zeta"}, known); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"gpu"}, likely); diff != "" {
		t.Error(diff)
	}
}
