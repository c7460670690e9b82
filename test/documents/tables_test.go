package documents

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	configv1alpha1 "github.com/fairway-scheduler/fairway/pkg/apis/config/v1alpha1"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// column returns the cells of the rows below a heading of a table: of the first column, and of the second.
func column(t *testing.T, page, heading string) map[string]string {
	t.Helper()
	_, table, found := strings.Cut(page, heading+"\n")
	if !found {
		t.Fatalf("no table %q", heading)
	}
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "|") {
			break
		}
		if name, code := strings.CutPrefix(cells[0], "| `"); code {
			rows[strings.TrimSuffix(name, "`")] = strings.Trim(cells[1], "`")
		}
	}
	return rows
}

func TestArgumentsAndTheirDefaultsAreInTheirTable(t *testing.T) {
	var args configv1alpha1.FairwayArgs
	configv1alpha1.SetDefaults(&args)
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, value := range fields {
		want[name] = strings.Trim(string(value), `"`)
	}
	if diff := cmp.Diff(want, column(t, read(t, "docs", "operating.md"), "| field | default | what it does |")); diff != "" {
		t.Errorf("the table of arguments in docs/operating.md (-arguments +table):\n%s", diff)
	}
}

func TestAlertsAreInTheirTable(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct{ Alert string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "manifests", "monitoring", "rules.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			want = append(want, rule.Alert)
		}
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(column(t, read(t, "docs", "metrics.md"), "| Alert | It fires when |")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of alerts in docs/metrics.md (-rules +table):\n%s", diff)
	}
}

// The versions that the pages name are those of the modules that we build from.
func TestVersionsAreThoseOfTheModules(t *testing.T) {
	for _, tc := range []struct{ module, mod, page, says string }{
		{"k8s.io/kubernetes", "go.mod", "README.md", "kube-scheduler VERSION"},
		{"k8s.io/kubernetes", "go.mod", "docs/identity.md", "Fairway is tested with NUMBER."},
		{"sigs.k8s.io/scheduler-plugins", "go.mod", "docs/gangs.md", "scheduler-plugins VERSION"},
		{"github.com/ray-project/kuberay/ray-operator", "hack/operators/kuberay/go.mod", "docs/applications.md", "KubeRay 0.2 (NUMBER)"},
		{"github.com/kubeflow/training-operator", "hack/operators/training/go.mod", "docs/applications.md", "Training operator 1.4 (NUMBER:"},
		{"sigs.k8s.io/jobset", "hack/operators/jobset/go.mod", "docs/applications.md", "0.1, the first (NUMBER)"},
	} {
		version := regexp.MustCompile(regexp.QuoteMeta(tc.module) + ` v(\S+)`).FindStringSubmatch(read(t, tc.mod))
		if version == nil {
			t.Fatalf("%s does not require %s", tc.mod, tc.module)
		}
		want := strings.NewReplacer("VERSION", "v"+version[1], "NUMBER", version[1]).Replace(tc.says)
		if !strings.Contains(read(t, tc.page), want) {
			t.Errorf("%s does not say %q", tc.page, want)
		}
	}
}

// asked are commands whose answers together have every key, but those of the second list.
var (
	asked = []string{
		"tree -f weights.yaml", "tree -f starting.yaml", "tree -f held.yaml", "tree -f weights.yaml --with night-heavy.yaml", "why x-3 -f weights.yaml", "why report-03 -f scenario-a.yaml",
		"why etl-42 -f etl.yaml", "apps -f starting.yaml", "users -f weights.yaml", "users -f capacities.yaml", "order -f etl.yaml --next 3", "order -f weights.yaml --next 5",
		"place --user ann --groups dev,ops -f placement.yaml", "preemption -f evictions.yaml",
		"preemption --plan -f scenario-a.yaml -f protected.yaml", "access ada --groups ads -f access.yaml", "tree -f misspelt.yaml",
	}
	notMet = []string{"rejected"} // nobody is rejected in these worlds
)

var (
	quoted = regexp.MustCompile(`"([A-Za-z]+)"`)
	// Keys that are names of resources or of queues.
	dynamic = regexp.MustCompile(`^(cpu|memory|pods|example\.com/.*|root(\..*)?)$`)
)

// The page on kubectl fairway names every key of its JSON, and none besides.
func TestKeysOfTheJSON(t *testing.T) {
	page := read(t, "docs", "kubectl-fairway.md")
	_, section, _ := strings.Cut(page, "## JSON\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, match := range quoted.FindAllStringSubmatch(section, -1) {
		named[match[1]] = true
	}
	delete(named, "pods") // also a resource
	dir, err := filepath.Abs(filepath.Join(root, "pkg", "cli", "testdata", "worlds"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	met := map[string]bool{}
	for _, line := range asked {
		out, failed := fairway(t, append(strings.Fields(line), "-o", "json")...)
		var value any
		if err := json.Unmarshal([]byte(out), &value); err != nil {
			t.Errorf("%s: %v: %s", line, err, failed)
		}
		gather(value, met)
	}
	for key := range met {
		if !named[key] && !dynamic.MatchString(key) {
			t.Errorf("docs/kubectl-fairway.md does not name the key %s", key)
		}
	}
	for key := range named {
		if !met[key] && !slices.Contains(notMet, key) {
			t.Errorf("docs/kubectl-fairway.md names the key %s, which no answer has", key)
		}
	}
}

func gather(value any, keys map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			gather(item, keys)
		}
	case map[string]any:
		for key, item := range v {
			keys[key] = true
			gather(item, keys)
		}
	}
}
