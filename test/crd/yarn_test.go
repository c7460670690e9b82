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

// The Queues of the page for people who come from YARN are taken as they stand, and read as what the file said.
func TestYARNExample(t *testing.T) {
	ctx := needCluster(t)
	file := filepath.Join(root, yarnExample, "queues.yaml")
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
	if len(list.Items) != len(yarnQueues) {
		t.Errorf("%d queues, want %d", len(list.Items), len(yarnQueues))
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
		if got, want := spell(d), yarnQueues[q.Name]; got != want {
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
	for language, name := range map[string]string{"xml": "fair-scheduler.xml", "yaml": "queues.yaml"} {
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
