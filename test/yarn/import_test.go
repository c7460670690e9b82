// Package yarn tests the import of whole files of YARN: what is printed for them, and that the definitions which are shipped accept it.
//
// Input are the files in testdata, output are test results. No control plane runs here; test/crd applies the same files to one.
package yarn

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
	"github.com/fairway-scheduler/fairway/pkg/yarn/capacity"
	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/fair"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// TestFiles shows what whole files become, if all fields exist that the import can set.
func TestFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/files.txt", func(t *testing.T, d *datadriven.TestData) string {
		var file, site string
		d.ScanArgs(t, "file", &file)
		d.MaybeScanArgs(t, "site", &site)
		p := translate(t, file, site)
		var out strings.Builder
		for _, err := range p.Errors() {
			out.WriteString("error: " + err.Error() + "\n")
		}
		if len(p.Errors()) > 0 {
			return out.String()
		}
		p.Finish(plan.Schema{})
		if err := p.Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.String() + "=== report\n" + p.Report()
	})
}

func translate(t *testing.T, file, site string) *plan.Plan {
	t.Helper()
	read := func(name string) config.File {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return config.File{Name: name, Reader: bytes.NewReader(text)}
	}
	var files []config.File
	if site != "" {
		files = append(files, read(site))
	}
	if !strings.Contains(file, "capacity") {
		var c *config.Configuration
		if site != "" {
			c = configuration(t, files)
		}
		p, err := fair.Translate(file, read(file), c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return capacity.Translate(file, configuration(t, append(files, read(file))), site != "")
}

func configuration(t *testing.T, files []config.File) *config.Configuration {
	t.Helper()
	c, err := config.Read(files...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs kubectl fairway.
func run(t *testing.T, stdin string, args ...string) (out, failed string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(t.Context(), args, cli.Environment{
		In: strings.NewReader(stdin), Out: tty.Screen{Out: &stdout}, Err: &stderr, Now: time.Now, Version: "v0.0.0-test",
	})
	return stdout.String(), stderr.String(), code
}

func TestCommand(t *testing.T) {
	const good, site = "testdata/bank/fair-scheduler.xml", "testdata/bank/yarn-site.xml"
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args           []string
		stdin          string
		code           int
		objects        bool
		last, anywhere string
	}{
		"translated":           {[]string{good, "--yarn-site", site}, "", 0, true, "not translated\n", ":67: not translated: user svc_batch: maxRunningApps 100;"},
		"from a pipe":          {[]string{"-"}, string(text), 0, true, "not translated\n", "-:67: not translated"},
		"checked":              {[]string{good, "--check"}, "", 1, true, "kubectl-fairway: not everything is translated; see the report\n", "not translated: user"},
		"checked and complete": {[]string{"-", "--check"}, `<allocations><queue name="a"><weight>2</weight></queue></allocations>`, 0, true, "0 not translated\n", "-:1: translated: root.a: weight 2 -> weight: 2"},
		"a file with mistakes": {[]string{"testdata/legacy/fair-scheduler.xml"}, "", 1, false, "kubectl-fairway: YARN would not load this; nothing is translated\n",
			"testdata/legacy/fair-scheduler.xml:14: the name of a queue (web.logs_) must not have a dot\n"},
		"a file that is not XML":       {[]string{"-"}, "a: 1", 1, false, "kubectl-fairway: -: there is no XML element in the file\n", ""},
		"a file of something else":     {[]string{"-"}, "<project/>", 1, false, "kubectl-fairway: -:1: the top element is project; that of fair-scheduler.xml is allocations, and that of capacity-scheduler.xml configuration\n", ""},
		"a yarn-site.xml that is none": {[]string{good, "--yarn-site", good}, "", 1, false, "kubectl-fairway: " + good + ":3: the top element is allocations, not configuration\n", ""},
		"no file":                      {nil, "", 1, false, "kubectl-fairway: name one file: fair-scheduler.xml or capacity-scheduler.xml; see 'kubectl fairway import --help'\n", ""},
		"a file that is not there":     {[]string{"none.xml"}, "", 1, false, "kubectl-fairway: open none.xml: no such file or directory\n", ""},
		"the site that is not there":   {[]string{good, "--yarn-site", "none.xml"}, "", 1, false, "kubectl-fairway: open none.xml: no such file or directory\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, failed, code := run(t, tc.stdin, append([]string{"import"}, tc.args...)...)
			if code != tc.code || (out != "") != tc.objects || !strings.HasSuffix(failed, tc.last) || !strings.Contains(failed, tc.anywhere) {
				t.Errorf("exit code %s, objects %t, and\n%s", strconv.Itoa(code), out != "", failed)
			}
		})
	}
}
