package crd

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

const yarnExample = "docs/examples/yarn"

// What fair-scheduler.xml says, read off it by hand.
var yarnQueues = map[string]string{
	"root":                   "weight=1000 of-a-user=5 fair-share=5m0s",
	"root.default":           "weight=0",
	"root.etl":               "weight=250 guaranteed(cpu=10 memory=20000Mi) max(cpu=1k memory=2000000Mi) applications=10 guaranteed=30s",
	"root.etl.nightly":       "weight=3000 drivers=300 policy=FIFO not-preemptible",
	"root.etl.hourly":        "weight=1000 drivers=400",
	"root.analytics":         "weight=750 max(cpu=75% memory=75%) maxPod(cpu=4 memory=16Gi) threshold=800 fair-share=1m0s",
	"root.analytics.ad-hoc":  "weight=1000 guaranteed(cpu=10% memory=10%) drivers=1000",
	"root.analytics.reports": "weight=1000 drivers=400 policy=Fair",
	"root.rest":              "weight=0 drivers=400",
}

// What capacity-scheduler.xml says, read off it by hand.
var capacityQueues = map[string]string{
	"root":                    "weight=1000 max-priority=10",
	"root.default":            "weight=1000 capacity=0 drivers=200 policy=FIFO",
	"root.production":         "weight=1000 capacity=62500 not-preemptible",
	"root.production.nightly": "weight=1000 capacity=75000 drivers=200 priority=5 policy=FIFO",
	"root.production.serving": "weight=1000 capacity=25000 maxCapacity=40000 drivers=500 policy=FIFO",
	"root.development":        "weight=1000 maxPod(cpu=4 memory=16Gi) capacity=37500 maxCapacity=80000",
	"root.development.ad-hoc": "weight=1000 capacity=100000 applications=50 drivers=200 policy=Fair",
	"root.development.old":    "weight=1000 capacity=0 drivers=200 policy=FIFO",
}

// The Queues of the page for people who come from YARN are taken as they stand, and read as what the file said.
func TestYARNExample(t *testing.T) {
	for file, want := range map[string]map[string]string{"queues.yaml": yarnQueues, "capacity-queues.yaml": capacityQueues} {
		t.Run(file, func(t *testing.T) { checkExample(t, file, want) })
	}
}

func checkExample(t *testing.T, name string, queues map[string]string) {
	ctx := needCluster(t)
	file := filepath.Join(root, yarnExample, name)
	t.Cleanup(func() {
		if out, err := kubectl(context.Background(), "delete", "--ignore-not-found", "-f", file); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	if out, err := kubectl(ctx, "apply", "--validate=strict", "-f", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := raw.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != len(queues) {
		t.Errorf("%d queues, want %d", len(list.Items), len(queues))
	}
	for i := range list.Items {
		q, err := convert.DecodeQueue(&list.Items[i])
		if err != nil {
			t.Fatal(err)
		}
		d, err := convert.Declaration(q)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := spell(d), queues[q.Name]; got != want {
			t.Errorf("%s is read as %s\nwant %s", q.Name, got, want)
		}
	}
}

// The page shows the files that are tested, and says of every element of the XML what became of it.
func TestYARNPageShowsItsExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "yarn.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, language := range map[string]string{
		"fair-scheduler.xml": "xml", "queues.yaml": "yaml", "capacity-scheduler.xml": "xml", "capacity-queues.yaml": "yaml",
	} {
		text, err := os.ReadFile(filepath.Join(root, yarnExample, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```"+language+"\n"+string(text)+"```\n") {
			t.Errorf("docs/yarn.md does not show %s as it is", name)
		}
	}
	file, err := os.Open(filepath.Join(root, yarnExample, "fair-scheduler.xml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for decoder := xml.NewDecoder(file); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		element, ok := token.(xml.StartElement)
		if name := element.Name.Local; ok && name != "allocations" && name != "queue" && !strings.Contains(string(page), "| `"+name+"` |") &&
			!strings.Contains(string(page), "| `"+name+"`:") {
			t.Errorf("docs/yarn.md has no row for %s", name)
		}
	}
}

// The page has a row for every property of its capacity-scheduler.xml.
func TestYARNPageHasRowsForCapacities(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "yarn.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, yarnExample, "capacity-scheduler.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Properties []struct {
			Name string `xml:"name"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Properties) < 20 {
		t.Errorf("only %d properties: are they all read?", len(file.Properties))
	}
	for _, p := range file.Properties {
		name := strings.TrimPrefix(p.Name, "yarn.scheduler.capacity.")
		if strings.HasPrefix(name, "root.") {
			name = name[strings.LastIndex(name, ".")+1:]
		}
		if !strings.Contains(string(page), "\n| `"+name+"`") && !strings.Contains(string(page), ", `"+name+"` | ") {
			t.Errorf("docs/yarn.md has no row for %s", name)
		}
	}
}
