package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

const (
	jobA  = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a","namespace":"ns","uid":"uj","creationTimestamp":"2026-03-01T00:00:00Z","labels":{"a":"b"}},"spec":{"completions":1,"parallelism":5,"template":{}}}`
	setA  = `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a","namespace":"ns","uid":"us"},"spec":{"replicas":3}}`
	rcA   = `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"a"}}`
	rsA   = `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"a","namespace":"ns","uid":"ur"},"spec":{"replicas":1}}`
	alien = `{"apiVersion":"batch.example.com/v1","kind":"Job","metadata":{"name":"a","namespace":"ns"}}`
)

// Of what controls pods, a set keeps what it is and how many pods it says it has, alone, in a List of one kind or of all.
func TestOwnersSayHowManyPodsTheyHave(t *testing.T) {
	want := map[string]bool{"Job uj": true, "StatefulSet us": false, "ReplicationController ReplicationController/default/a": true, "ReplicaSet ur": true}
	for _, stream := range []string{
		jobA + setA + rcA + rsA, listOf("List", "v1", jobA, setA, rcA, rsA),
		listOf("JobList", "batch/v1", typed(jobA)...) + listOf("StatefulSetList", "apps/v1", typed(setA)...) + rcA + listOf("ReplicaSetList", "apps/v1", typed(rsA)...),
	} {
		s, err := Read("dump", strings.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, o := range s.Owners {
			got[o.Kind+" "+string(o.UID)] = o.OnePod()
			if o.Labels != nil {
				t.Errorf("%s has labels", o.Kind)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := Read("dump", strings.NewReader(alien)); err == nil || !strings.HasSuffix(err.Error(), `apiVersion is "batch.example.com/v1"; allowed is batch/v1`) {
		t.Error(err)
	}
}

func TestASetIsGatedByAnyStateAwareQueue(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, queueA: false, podA + jobA: false,
		strings.Replace(queueA, `"weight":"1"`, `"policy":"StateAware"`, 1):                true,
		strings.Replace(queueA, `"weight":"1"`, `"policy":"stateaware"`, 1) + queueB:       true,
		strings.Replace(queueA, `"policy":"Fair"`, `"policy":"StateAware"`, 1):             true, // the last good one
		strings.Replace(queueA, `"weight":"1"`, `"policy":7`, 1):                           false,
		strings.Replace(queueA, `"weight":"1"`, `"weight":"1","policy":"StateUnaware"`, 1): false,
	} {
		if got := mustRead(t, "dump", text).Gated(); got != want {
			t.Errorf("gated is %v: %s", got, text)
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
