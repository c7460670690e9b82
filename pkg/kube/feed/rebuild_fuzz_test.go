package feed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/dump"
)

// FuzzPicture puts any bytes on the way from a file to what faces show. What cannot be read is an error that names the stream; whatever can be
// read gives a picture without contradictions; nothing panics.
func FuzzPicture(f *testing.F) {
	for _, format := range []dump.Format{dump.YAML, dump.JSON} {
		var text bytes.Buffer
		if err := dump.Write(&text, dump.Size{Queues: 1, Nodes: 1, Pods: 1}, format); err != nil {
			f.Fatal(err)
		}
		f.Add(text.Bytes())
	}
	for _, seed := range []string{
		"kind: Queue\napiVersion: scheduling.fairway.dev/v1alpha1\nmetadata: {name: root.a}\nspec: {weight: -1, max: {cpu: 12.5%}, users: {maxRunningApplications: 1}}\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: a, labels: {fairway.dev/queue: root.b}}\nspec: {schedulerName: fairway, nodeName: x}\n",
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"spec":{"unschedulable":true,"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"1e30","pods":"-0"},"conditions":[{"type":"Ready","status":"True"}]}}]}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"fairway.dev/queue":"root.a.b","batch.kubernetes.io/job-name":"j"}},"spec":{"schedulerName":"fairway","schedulingGates":[{"name":"g"}],"resourceClaims":[{"name":"c"}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchExpressions":[{"key":"a","operator":"In"}]},"topologyKey":"z"}]},"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Gt","values":["x"]}]}]}}},"containers":[{"resources":{"requests":{"cpu":"9E"}}}]},"status":{"phase":"Pending","containerStatuses":[{"allocatedResources":{"cpu":"-1"}}]}}`,
		"kind: DeviceClass\napiVersion: resource.k8s.io/v1\nmetadata: {name: d}\nspec: {extendedResourceName: a/b}\n---\nkind: Queue\napiVersion: scheduling.fairway.dev/v1alpha1\nmetadata: {name: ROOT, deletionTimestamp: x, creationTimestamp: 5}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		set, err := objects.Read("the stream", bytes.NewReader(stream))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "the stream:") {
				t.Errorf("the error does not name the stream: %v", err)
			}
			return
		}
		l := Rebuild(set, ours, set.Newest(), ledger.Options{})
		l.Snapshot()
		l.Applications()
		l.Pods()
		if wrong := l.Check(); len(wrong) > 0 {
			t.Error(wrong)
		}
		if after, err := set.With(&objects.Set{Queues: set.Queues}); err == nil {
			Rebuild(after, ours, now, ledger.Options{}).Snapshot()
		}
	})
}
