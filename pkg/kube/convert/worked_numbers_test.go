package convert

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// readQueues reads Queues as kubectl would send them.
func readQueues(t *testing.T, text string) []queue.Declaration {
	t.Helper()
	var out []queue.Declaration
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		if object.GetName() == "" { // a comment
			continue
		}
		q, err := DecodeQueue(object)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Declaration(q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// cluster is so many cores and GiB.
func cluster(cores, gi int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000}, resource.Entry{Name: resource.Memory, Value: gi << 30})
}

// The numbers of the document that describes the Fair Scheduler's properties, written as Queues. YARN counts memory in units of 2^20 bytes.
const workedNumbers = `
metadata: {name: root.x}
spec:
  weight: "0.25"
  guaranteed: {cpu: 10, memory: 20000Mi}
  max: {cpu: 1000, memory: 2000000Mi}
  maxRunningApplications: 10
  maxDriverShare: "0.3"
---
metadata: {name: root.y}
spec: {weight: "0.5"}
---
metadata: {name: root.z}
spec: {weight: "0.25"}
`

func TestWorkedNumbers(t *testing.T) {
	declared := readQueues(t, workedNumbers)
	spec := declared[0].Spec
	for what, tc := range map[string]struct{ got, want int64 }{
		"min 10 vcores":       {spec.Guaranteed.Get(resource.CPU), 10_000},
		"min 20000 mb":        {spec.Guaranteed.Get(resource.Memory), 20_000 << 20},
		"max 1000 vcores":     {spec.Max.Get(resource.CPU), 1_000_000},
		"max 2000000 mb":      {spec.Max.Get(resource.Memory), 2_000_000 << 20},
		"10 running":          {spec.MaxRunningApplications.Most, 10},
		"driver share 0.3":    {spec.MaxDriverShare.Most, 300},
		"weight 0.25":         {spec.Weight, 250},
		"no limit for others": {int64(declared[1].Spec.Max.Len() + declared[1].Spec.Guaranteed.Len()), 0},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", what, tc.got, tc.want)
		}
	}
	for name, tc := range map[string]struct {
		total  resource.List
		active string // "" for steady fair shares
		want   resource.List
	}{
		"a quarter of 1000 GB and 200 cores":   {cluster(200, 1000), "", cluster(50, 250)},
		"of a larger cluster":                  {cluster(400, 2000), "", cluster(100, 500)},
		"the floor, where a quarter is less":   {cluster(20, 40), "", resource.Of(resource.Entry{Name: resource.CPU, Value: 10_000}, resource.Entry{Name: resource.Memory, Value: 20_000 << 20})},
		"all of it, while others have no work": {cluster(200, 1000), "root.x", cluster(200, 1000)},
		"all of it up to the max":              {cluster(2000, 4000), "root.x", resource.Of(resource.Entry{Name: resource.CPU, Value: 1_000_000}, resource.Entry{Name: resource.Memory, Value: 2_000_000 << 20})},
	} {
		t.Run(name, func(t *testing.T) {
			tree := queue.Build(declared, nil, tc.total)
			var active []bool
			if tc.active != "" {
				active = make([]bool, len(tree.Nodes))
				i, _ := tree.Find(queue.Path(tc.active))
				active[i] = true
			}
			x, _ := tree.Find("root.x")
			if got := fairshare.Shares(tree, tc.total, active)[x]; !got.Equal(tc.want) {
				t.Errorf("root.x has (%s), want (%s)", got, tc.want)
			}
		})
	}
	// 0.3 of a share of 50 cores and 250 GB, in the unit in which maxDriverShare is kept.
	for share, want := range map[int64]int64{50_000: 15_000, 250 << 30: 75 << 30} {
		if got := resource.PartUp(share, spec.MaxDriverShare.Most, 1000); got != want {
			t.Errorf("drivers may use %d of %d, want %d", got, share, want)
		}
	}
}

// The example of docs/yarn.md: its Queues contradict one another nowhere, and have the shares that the page says.
func TestYARNExample(t *testing.T) {
	text, err := os.ReadFile("../../../docs/examples/yarn/queues.yaml")
	if err != nil {
		t.Fatal(err)
	}
	total := cluster(200, 1000)
	tree := queue.Build(readQueues(t, string(text)), nil, total)
	for _, p := range tree.Problems {
		t.Errorf("%s: %s", p.Path, p.Reason.Text())
	}
	half := func(cores, gi int64) resource.List { // halves of a core and of a GiB
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 500}, resource.Entry{Name: resource.Memory, Value: gi << 29})
	}
	want := map[queue.Path]resource.List{
		"root": total, "root.default": cluster(0, 0), "root.rest": cluster(0, 0),
		"root.etl": cluster(50, 250), "root.etl.nightly": half(75, 375), "root.etl.hourly": half(25, 125),
		"root.analytics": cluster(150, 750), "root.analytics.ad-hoc": cluster(75, 375), "root.analytics.reports": cluster(75, 375),
	}
	if len(tree.Nodes) != len(want) {
		t.Errorf("%d queues, want %d", len(tree.Nodes), len(want))
	}
	for i, share := range fairshare.Shares(tree, total, nil) {
		if p := tree.Nodes[i].Path; !share.Equal(want[p]) {
			t.Errorf("%s has (%s), want (%s)", p, share, want[p])
		}
	}
}
