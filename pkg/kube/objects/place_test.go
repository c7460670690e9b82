package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// picky refuses spec.weight and every field that is named wrong.
func picky(kind, _ string, raw []byte) ([]Fault, error) {
	var faults []Fault
	if kind == "Queue" {
		if strings.Contains(string(raw), "weight") {
			faults = append(faults, Fault{"spec.weight", "refused"})
		}
		if strings.Contains(string(raw), "x.y/z") {
			faults = append(faults, Fault{"spec.max[x.y/z]", "refused"})
		}
	}
	return faults, nil
}

const (
	weighed = "apiVersion: scheduling.fairway.dev/v1alpha1\nkind: Queue\nmetadata:\n  name: root\n# weights\nspec:\n  policy: Fair\n  weight: 2\n"
	pretty  = "{\n  \"apiVersion\": \"scheduling.fairway.dev/v1alpha1\",\n  \"kind\": \"Queue\",\n\t\"metadata\": {\"name\": \"root.a\"},\n  \"spec\": {\n    \"weight\": 2\n  }\n}\n"
)

func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}

func asItem(text string) string { return "- " + indented(text, "  ")[2:] }

// In each stream the faults are where `weight` and `x.y/z` stand.
func TestFaultsHaveTheirLine(t *testing.T) {
	long := "apiVersion: scheduling.fairway.dev/v1alpha1\nkind: Queue\nmetadata: {name: root.b}\nspec:\n  max:\n    x.y: 1\n    x.y/z: 2\n"
	for name, stream := range map[string]string{
		"a document":              weighed,
		"after a separator":       "---\n" + weighed,
		"documents":               weighed + "---\n" + long + "---\n# nothing\n---\n" + strings.Replace(weighed, "root", "root.c", 1),
		"Windows lines":           strings.ReplaceAll(weighed+"---\n"+long, "\n", "\r\n"),
		"after an end":            weighed + "...\n---\n" + long + "...\n" + strings.Replace(weighed, "root", "root.c", 1),
		"a List":                  "apiVersion: v1\nkind: List\nitems:\n" + asItem(weighed) + asItem(long),
		"a List, kind last":       "apiVersion: v1\nitems:\n" + asItem(weighed) + asItem(long) + "kind: List\n",
		"a List in a List":        "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n" + indented(asItem(long), "  ") + asItem(weighed) + "kind: List\n",
		"a List and a document":   "apiVersion: v1\nitems:\n" + asItem(weighed) + "kind: List\n---\n" + long,
		"JSON":                    pretty,
		"JSON objects":            "\n" + pretty + strings.Replace(pretty, "root.a", "root.c", 1),
		"JSON, then YAML":         pretty + "\n---\n" + weighed,
		"JSON in YAML":            "---\n" + weighed + "---\n" + pretty,
		"a JSON List":             "{\"apiVersion\": \"v1\",\n \"items\": [\n" + pretty + ",\n" + strings.Replace(pretty, "root.a", "root.c", 1) + "],\n\"kind\": \"List\"}",
		"a JSON List in a List":   "{\"apiVersion\": \"v1\", \"items\": [\n{\"kind\": \"List\",\"apiVersion\": \"v1\",\n\"items\": [" + pretty + "]}],\n\"kind\": \"List\"}",
		"kinds left":              "apiVersion: scheduling.fairway.dev/v1alpha1\nitems:\n" + asItem("metadata:\n  name: root\nspec:\n  weight: 2\n") + "kind: QueueList\n",
		"kinds left in JSON":      "{\"apiVersion\": \"scheduling.fairway.dev/v1alpha1\",\n\"items\": [\n{\"metadata\":{\"name\":\"root\"},\n\"spec\":{\n\"weight\":2}}],\"kind\":\"QueueList\"}",
		"texts before the fields": strings.Replace(weighed, "  name: root\n", "  name: root\n  annotations:\n    a: |\n      - b\n      ---\n\n    c: d\n", 1),
	} {
		var want []int
		for i, line := range strings.Split(stream, "\n") {
			if strings.Contains(line, "weight:") || strings.Contains(line, `weight"`) || strings.Contains(line, "x.y/z") {
				want = append(want, i+1)
			}
		}
		for _, whole := range modes {
			_, problems, err := readFiles([]File{{"empty", strings.NewReader("")}, {"dump", strings.NewReader(stream)}}, picky, whole)
			var got []int
			for _, p := range problems {
				got = append(got, p.Line)
				if p.File != "dump" || p.Message != "refused" {
					t.Errorf("%s: %v", name, p)
				}
			}
			if err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s, items apart from %d bytes: lines %v, want %v; %v in\n%s", name, whole, got, want, err, stream)
			}
		}
	}
}

func TestErrorsHaveTheirLine(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n"
	for stream, want := range map[string]string{
		weighed + "---\nkind: Queue\na: [\n":                                       "dump:",
		"a: b\nc: d: e\n":                                                          "dump:2: document 1: yaml: line 2: mapping values",
		weighed + "---\n\na: b\nc: d: e\n":                                         "dump:12: document 2: yaml: line 12: mapping values",
		weighed + "---\nkind: Deployment\n":                                        "dump:10: document 2: Deployment without a name",
		list + asItem(weighed) + "- kind: Nothing\n":                               "dump:12: document 1, item 2: Nothing without a name",
		list + asItem(weighed) + "- a: b\n  c: d: e\n":                             "dump:13: document 1",
		"\n" + pretty + "{\"kind\": 5}":                                            "dump:10: document 2",
		"{\"kind\": \"List\",\n\"items\": [\n{},\n{\"kind\": \n\n]}]}":             "dump:",
		"kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec:\n  nodeName: [a]\n": "dump:5: document 1: Pod a: json: cannot unmarshal",
		weighed + "--- x\n":                                                        "dump:9: document 1: ",
	} {
		for _, whole := range modes {
			_, problems, err := readFiles([]File{{"dump", strings.NewReader(stream)}}, nil, whole)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s\n got %v\nwant %s", stream, err, want)
			} else if len(problems) != 1 || problems[0].Error() != err.Error() || problems[0].Line == 0 {
				t.Errorf("%s\nthe error is no problem of its own: %v", stream, problems)
			}
		}
	}
}

func TestAMisspeltListHidesNothing(t *testing.T) {
	for stream, want := range map[string]string{
		"apiVersion: v1\nkind: List\nitem:\n" + asItem(weighed):                   "dump:3: List: item: there is no such field",
		"kind: List\nitems:\n" + asItem(weighed):                                  "dump:1: List: apiVersion: is \"\"; allowed is v1",
		"{\"apiVersion\": \"v1\", \"kind\": \"PodList\",\n \"itmes\": []}":        "dump:2: PodList: itmes: there is no such field",
		"apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n" + asItem("{}\n"[:3]): "",
	} {
		_, problems, err := readFiles([]File{{"dump", strings.NewReader(stream)}}, func(string, string, []byte) ([]Fault, error) { return nil, nil }, 1<<20)
		switch {
		case want == "" && len(problems) == 1 && err != nil:
		case err != nil || len(problems) != 1 || problems[0].Error() != want:
			t.Errorf("%s\n got %v, %v\nwant %s", stream, problems, err, want)
		}
	}
}

func TestAProblemSaysWhere(t *testing.T) {
	for want, p := range map[string]Problem{
		"a.yaml:3: Queue root: spec.max: wrong": {"a.yaml", 3, "Queue root", "spec.max", "wrong"},
		"a.yaml: wrong":                         {File: "a.yaml", Message: "wrong"},
	} {
		if got := fmt.Sprint(&p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
