package ledger

import "testing"

func TestClusterTotal(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*fixture)
		want string
	}{
		"allocatable of usable nodes": {
			func(f *fixture) { f.ObserveNode(Node{Name: "second", Allocatable: amounts(10, 10), Usable: true}) }, "cpu=110 memory=410Gi"},
		"not of nodes that are cordoned or not ready": {
			func(f *fixture) { f.ObserveNode(Node{Name: "second", Allocatable: amounts(10, 10)}) }, "cpu=100 memory=400Gi"},
		"less what foreign pods take there": {
			func(f *fixture) { f.pod("x", "", foreignOn("node"), asks(10, 40)) }, "cpu=90 memory=360Gi"},
		"foreign pods that wait take nothing": {
			func(f *fixture) { f.pod("x", "", foreignOn("")) }, "cpu=100 memory=400Gi"},
		"never below nothing": {
			func(f *fixture) { f.pod("x", "", foreignOn("node"), asks(200, 40)) }, "memory=360Gi"},
		"foreign pods that end give it back": {
			func(f *fixture) { f.pod("x", "", foreignOn("node")); f.forget("x") }, "cpu=100 memory=400Gi"},
		"foreign pods that are resized": {
			func(f *fixture) { f.pod("x", "", foreignOn("node")); f.pod("x", "", foreignOn("node"), asks(2, 0)) }, "cpu=98 memory=400Gi"},
		"foreign pods on nodes that do not count": {
			func(f *fixture) { f.pod("x", "", foreignOn("elsewhere")) }, "cpu=100 memory=400Gi"},
		"our pods on usable nodes are not counted twice": {
			func(f *fixture) { f.pod("p", "a", boundTo("node")) }, "cpu=100 memory=400Gi"},
		"plus what our pods use on a node that is gone": {
			func(f *fixture) { f.pod("p", "a", boundTo("node")); f.ForgetNode("node") }, "cpu=1 memory=4Gi"},
		"plus what our pods use on a cordoned node": {
			func(f *fixture) {
				f.pod("p", "a", boundTo("node"))
				f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400)})
			}, "cpu=1 memory=4Gi"},
		"until they end": {
			func(f *fixture) { f.pod("p", "a", boundTo("node")); f.ForgetNode("node"); f.forget("p") }, ""},
		"a pod is seen before its node": {
			func(f *fixture) {
				f.pod("p", "a", boundTo("second"))
				f.pod("x", "", foreignOn("second"))
				f.ObserveNode(Node{Name: "second", Allocatable: amounts(10, 10), Usable: true})
			}, "cpu=109 memory=406Gi"},
		"a node comes back": {
			func(f *fixture) {
				f.ForgetNode("node")
				f.ObserveNode(Node{Name: "node", Allocatable: amounts(3, 3), Usable: true})
			}, "cpu=3 memory=3Gi"},
		"a node is unknown and forgotten": {
			func(f *fixture) { f.ForgetNode("nobody") }, "cpu=100 memory=400Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			tc.do(f)
			f.sound()
			if got := f.Snapshot().Total.String(); got != tc.want {
				t.Errorf("total %s, want %s", got, tc.want)
			}
		})
	}
}

func TestGrowingClusterReordersWhatWaits(t *testing.T) {
	// root.a is heavy in cpu, root.b in memory: the size of the cluster decides which of the two is dominant, and by how much.
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("a1", "a", asks(10, 1), boundTo("node"))
	f.pod("b1", "b", asks(1, 20), boundTo("node"))
	f.pod("a2", "a")
	f.pod("b2", "b")
	f.ObserveNode(Node{Name: "memory", Allocatable: amounts(0, 4000), Usable: true})
	f.run("b2") // 20 of 4400 GiB are less than 10 of 100 cpu
	f.ObserveNode(Node{Name: "cpu", Allocatable: amounts(100000, 0), Usable: true})
	f.run("a2")
}
