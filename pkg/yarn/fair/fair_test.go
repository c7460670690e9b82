package fair

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// Each case is a piece of a file, and the report of it; with "objects" also what is to be applied. Lines about defaults that every file has are
// left out of the report, unless the case is about them.
//
//	queue     the elements of a queue root.a beside a queue root.b
//	parent    the same, with a child root.a.c
//	top       elements below <allocations>, beside a queue root.a
//	rules     elements of <queuePlacementPolicy>
//	file      a whole file
//
// site=PROPERTY=VALUE;... is a yarn-site.xml, and "site" an empty one.
func TestProperties(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := d.Input
			switch d.Cmd {
			case "queue":
				text = `<allocations><queue name="b"/><queue name="a">` + text + `</queue></allocations>`
			case "parent":
				text = `<allocations><queue name="a"><queue name="c"/>` + text + `</queue></allocations>`
			case "top":
				text = `<allocations><queue name="a"/>` + text + `</allocations>`
			case "rules":
				text = `<allocations><queue name="a"/><queuePlacementPolicy>` + text + `</queuePlacementPolicy></allocations>`
			}
			p, err := Translate("f.xml", strings.NewReader(text), siteOf(t, d))
			if err != nil {
				return "error: " + err.Error()
			}
			return spell(p, d.HasArg("objects"), d.HasArg("defaults"))
		})
	})
}

func siteOf(t *testing.T, d *datadriven.TestData) *config.Configuration {
	t.Helper()
	if !d.HasArg("site") {
		return nil
	}
	var text strings.Builder
	text.WriteString("<configuration>")
	for _, arg := range d.CmdArgs {
		for _, value := range arg.Vals {
			if arg.Key == "site" {
				name, value, _ := strings.Cut(value, "=")
				text.WriteString("<property><name>" + name + "</name><value>" + value + "</value></property>\n")
			}
		}
	}
	c, err := config.Read(config.File{Name: "site.xml", Reader: strings.NewReader(text.String() + "</configuration>")})
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return c
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
		if strings.Contains(line, " properties: ") || !defaults && strings.HasPrefix(line, "f.xml: ") {
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

// Every element and property that is known has a case.
func TestEveryPropertyHasACase(t *testing.T) {
	cases := casesIn(t)
	var missing []string
	for name := range properties {
		if !strings.Contains(cases, "<"+name) {
			missing = append(missing, name)
		}
	}
	for name := range topLevel {
		if !strings.Contains(cases, "<"+name+">") {
			missing = append(missing, name)
		}
	}
	for name := range rules {
		if !strings.Contains(cases, `<rule name="`+name+`"`) {
			missing = append(missing, name)
		}
	}
	for name := range notNeeded {
		if !strings.Contains(cases, prefix+name+"=") {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no case has %v", missing)
	}
}

func casesIn(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
