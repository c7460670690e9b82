package capacity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// Each case is lines PROPERTY=VALUE of a capacity-scheduler.xml, without "yarn.scheduler.capacity.", and the report of them; with "objects" also
// what is to be applied. Lines that begin with "site " are of a yarn-site.xml. Unless the case is "bare", there are the queues root.a with 40% and
// root.b with 60%, and root.b has children c and d with 50% each. Lines of the report about these, and about defaults that every file has, are
// left out unless the case has "defaults".
func TestProperties(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			site, own := "<configuration>", "<configuration>"
			if !d.HasArg("bare") {
				for _, p := range []string{"root.queues=a,b", "root.a.capacity=40", "root.b.capacity=60", "root.b.queues=c,d", "root.b.c.capacity=50", "root.b.d.capacity=50"} {
					own += property("yarn.scheduler.capacity." + p)
				}
			}
			for _, line := range strings.Split(d.Input, "\n") {
				own += "\n"
				if p, ok := strings.CutPrefix(line, "site "); ok {
					site += property(p)
				} else if strings.HasPrefix(line, "yarn.") {
					own += property(line)
				} else if line != "" {
					own += property("yarn.scheduler.capacity." + line)
				}
			}
			files := []config.File{{Name: "c.xml", Reader: strings.NewReader(own + "</configuration>")}}
			hasSite := d.HasArg("site") || site != "<configuration>"
			if hasSite {
				files = append([]config.File{{Name: "site.xml", Reader: strings.NewReader(site + "</configuration>")}}, files...)
			}
			c, err := config.Read(files...)
			if err != nil {
				return "error: " + err.Error()
			}
			return spell(Translate("c.xml", c, hasSite), d.HasArg("objects"), d.HasArg("defaults"))
		})
	})
}

func property(text string) string {
	name, value, _ := strings.Cut(text, "=")
	return "<property><name>" + name + "</name><value>" + value + "</value></property>"
}

func spell(p *plan.Plan, objects, defaults bool) string {
	var out strings.Builder
	for _, err := range p.Errors() {
		out.WriteString("error: " + err.Error() + "\n")
	}
	if len(p.Errors()) > 0 {
		return out.String()
	}
	p.Finish(plan.Schema{})
	for line := range strings.Lines(p.Report()) {
		if strings.Contains(line, " properties: ") || !defaults && (strings.HasPrefix(line, "c.xml: ") || strings.HasPrefix(line, "c.xml:1: ")) {
			continue
		}
		out.WriteString(line)
	}
	if objects {
		if err := p.Write(&out); err != nil {
			return err.Error()
		}
	}
	return out.String()
}

// Every property that is known has a case.
func TestEveryPropertyHasACase(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(text)
	}
	var missing []string
	find := func(part string) {
		if !strings.Contains(cases.String(), part) {
			missing = append(missing, part)
		}
	}
	for name := range rules {
		find("." + name + "=")
	}
	for _, p := range patterns {
		find("." + p.begin)
	}
	for name := range system {
		if strings.HasPrefix(name, prefix) {
			find("\n" + strings.TrimPrefix(name, prefix) + "=")
		} else {
			find(name + "=")
		}
	}
	for name := range knobs {
		find(preemptionKeys + name + "=")
	}
	if len(missing) > 0 {
		t.Errorf("no case has %q", missing)
	}
}
