package convert

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestHoldsAreReadBackFromAStatus(t *testing.T) {
	shown := []queue.Hold{
		{PodGroup: "team-a/train", Nodes: []string{"n1", "n2"}, Since: 60_999_999_999, Until: 375_400_000_000},
		{PodGroup: "team-a/train (scheduling.k8s.io)", Nodes: []string{"n3"}, Until: 300_000_000_000},
		{Pod: "team-a/large", Nodes: []string{"n4"}, Until: 300_000_000_000},
	}
	at := func(seconds int64) *metav1.Time { t := metav1.Unix(seconds, 0); return &t }
	status := v1alpha1.QueueStatus{Holds: QueueHolds(shown)}
	want := []v1alpha1.NodeHold{
		{
			For:   v1alpha1.HoldReference{APIGroup: "scheduling.x-k8s.io", Kind: "PodGroup", Namespace: "team-a", Name: "train"},
			Nodes: []string{"n1", "n2"}, WaitingSince: at(60), Until: at(375),
		},
		{
			For:   v1alpha1.HoldReference{APIGroup: "scheduling.k8s.io", Kind: "PodGroup", Namespace: "team-a", Name: "train"},
			Nodes: []string{"n3"}, Until: at(300),
		},
		{For: v1alpha1.HoldReference{Kind: "Pod", Namespace: "team-a", Name: "large"}, Nodes: []string{"n4"}, Until: at(300)},
	}
	if diff := cmp.Diff(want, status.Holds); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	read := []queue.Hold{ // to the second
		{PodGroup: "team-a/train", Nodes: []string{"n1", "n2"}, Since: 60e9, Until: 375e9},
		{PodGroup: "team-a/train (scheduling.k8s.io)", Nodes: []string{"n3"}, Until: 300e9},
		{Pod: "team-a/large", Nodes: []string{"n4"}, Until: 300e9},
	}
	if diff := cmp.Diff(read, holds(&status)); diff != "" {
		t.Errorf("read: -want +got:\n%s", diff)
	}
}

// A later version may hold nodes for objects of other kinds.
func TestHoldsForOtherKindsArePassedOver(t *testing.T) {
	until := metav1.Unix(1, 0)
	for _, of := range []v1alpha1.HoldReference{
		{Kind: "Node", Name: "p"}, {APIGroup: "apps", Kind: "Pod", Namespace: "ns", Name: "p"}, {APIGroup: "example.com", Kind: "PodGroup", Namespace: "ns", Name: "p"}, {},
	} {
		if got := holds(&v1alpha1.QueueStatus{Holds: []v1alpha1.NodeHold{{For: of, Nodes: []string{"n"}, Until: &until}}}); len(got) > 0 {
			t.Errorf("%+v: %+v", of, got)
		}
	}
	never := v1alpha1.NodeHold{For: v1alpha1.HoldReference{APIGroup: "scheduling.x-k8s.io", Kind: "PodGroup", Namespace: "ns", Name: "p"}}
	if got := holds(&v1alpha1.QueueStatus{Holds: []v1alpha1.NodeHold{never}}); len(got) > 0 {
		t.Errorf("without an end: %+v", got)
	}
}

// The schema refuses longer lists, and with them the whole status.
func TestHoldsAreBounded(t *testing.T) {
	many := make([]queue.Hold, 20)
	for i := range 1000 {
		many[0].Nodes = append(many[0].Nodes, strconv.Itoa(1000+i))
	}
	got := QueueHolds(many)
	if len(got) != 10 || len(got[0].Nodes) != 500 || got[0].Nodes[499] != "1499" {
		t.Errorf("%d holds, the first of %d nodes; want 10, and the first 500", len(got), len(got[0].Nodes))
	}
}
