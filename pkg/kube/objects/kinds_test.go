package objects

import (
	"fmt"
	"strings"
	"testing"
)

// podAs is a state of one pod. What is empty is left out.
func podAs(uid, version, node string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns","uid":%q,"resourceVersion":%q},"spec":{"nodeName":%q}}`, uid, version, node)
}

func TestOfOneObjectTwiceTheNewerCounts(t *testing.T) {
	for what, tc := range map[string]struct{ first, second, uid, node string }{
		"the second is newer":                {podAs("u", "9", "old"), podAs("u", "10", "new"), "u", "new"},
		"the first is newer":                 {podAs("u", "10", "new"), podAs("u", "9", "old"), "u", "new"},
		"they are the same":                  {podAs("u", "10", "x"), podAs("u", "10", "x"), "u", "x"},
		"one version is no number":           {podAs("u", "10", "old"), podAs("u", "x9", "new"), "u", "new"},
		"one has no version":                 {podAs("u", "10", "old"), podAs("u", "", "new"), "u", "new"},
		"by hand, after a dumped one":        {podAs("u", "10", "old"), podAs("", "", "new"), "u", "new"},
		"by hand, before a dumped one":       {podAs("", "", "old"), podAs("u", "10", "new"), "u", "new"},
		"by hand, both":                      {podAs("", "", "old"), podAs("", "", "new"), "Pod/ns/a", "new"},
		"by hand, with an old version of it": {podAs("u", "10", "new"), podAs("", "9", "old"), "u", "new"},
	} {
		s, err := Read("dump", strings.NewReader(tc.first+tc.second))
		if err != nil || len(s.Pods) != 1 {
			t.Errorf("%s: %v: %v", what, names(s), err)
			continue
		}
		if p := s.Pods[0]; string(p.UID) != tc.uid || p.Spec.NodeName != tc.node {
			t.Errorf("%s: uid %s on node %s, want %s on %s", what, p.UID, p.Spec.NodeName, tc.uid, tc.node)
		}
	}
}

// Names are told apart by kind and namespace.
func TestObjectsOfOneNameAreSeveral(t *testing.T) {
	stream := podAs("u1", "", "") + strings.Replace(podAs("u2", "", ""), `"ns"`, `"other"`, 1) +
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"u3"}}{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"Queue","metadata":{"name":"a","uid":"u4"}}`
	s, err := Read("dump", strings.NewReader(stream))
	if err != nil || len(s.Pods) != 2 || len(s.Nodes) != 1 || len(s.Queues) != 1 {
		t.Errorf("%v: %v", names(s), err)
	}
}

func TestWhatIsWrittenByHandGetsAStableUID(t *testing.T) {
	const sketch = `
{kind: Queue, apiVersion: scheduling.fairway.dev/v1alpha1, metadata: {name: root.a}}
---
{kind: Node, apiVersion: v1, metadata: {name: n1}}
---
{kind: Pod, apiVersion: v1, metadata: {name: p}}
---
{kind: DeviceClass, apiVersion: resource.k8s.io/v1, metadata: {name: gpu}}
`
	s, err := Read("dump", strings.NewReader(sketch))
	if err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[string]string{
		string(s.Queues[0].GetUID()): "Queue//root.a", string(s.Nodes[0].UID): "Node//n1", string(s.Pods[0].UID): "Pod/default/p", string(s.DeviceClasses[0].UID): "DeviceClass//gpu",
	} {
		if uid != want {
			t.Errorf("uid %q, want %q", uid, want)
		}
	}
}

// A sketch of a node says whether it is ready; a node of a cluster is taken as it is.
func TestOnlyASketchOfANodeMustSayThatItIsReady(t *testing.T) {
	for node, want := range map[string]bool{
		`{kind: Node, apiVersion: v1, metadata: {name: n1}, status: {allocatable: {cpu: 4}}}`:                                               true,
		`{kind: Node, apiVersion: v1, metadata: {name: n1, uid: u}, status: {allocatable: {cpu: 4}}}`:                                       false,
		`{kind: Node, apiVersion: v1, metadata: {name: n1}}`:                                                                                false,
		`{kind: Node, apiVersion: v1, metadata: {name: n1}, status: {allocatable: {cpu: 4}, conditions: [{type: Ready, status: "False"}]}}`: false,
	} {
		if _, err := Read("dump", strings.NewReader(node)); (err != nil) != want {
			t.Errorf("%s: %v", node, err)
		}
	}
}

// One Queue that cannot be decoded hides nothing; what is wrong with it is found on the way into the ledger.
func TestAQueueThatCannotBeDecodedIsKept(t *testing.T) {
	s, err := Read("dump", strings.NewReader(`{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"Queue","metadata":{"name":"root.a","creationTimestamp":"never"},"spec":{"weight":{"a":-1}}}`+podA))
	if err != nil || len(s.Queues) != 1 || len(s.Pods) != 1 {
		t.Errorf("%v: %v", names(s), err)
	}
}

func TestManagedFieldsAreDropped(t *testing.T) {
	s, err := Read("dump", strings.NewReader(strings.Replace(podA+node+queue, `"metadata":{`, `"metadata":{"managedFields":[{"manager":"x","fieldsV1":{"f:a":{}}}],`, -1)))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pods[0].ManagedFields) > 0 || len(s.Nodes[0].ManagedFields) > 0 || len(s.Queues[0].GetManagedFields()) > 0 {
		t.Error("managedFields are kept")
	}
}
