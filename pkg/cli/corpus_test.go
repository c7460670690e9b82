package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// broken is a good file with one mistake.
type broken struct {
	name, text string
	field      string // of the mistake; "" if only the place is told
}

// goodQueue has every kind of field: amounts, numbers, enums, durations, parts, objects in objects.
var goodQueue = map[string]any{
	"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue", "metadata": map[string]any{"name": "root"},
	"spec": map[string]any{
		"weight": 2, "policy": "Fair", "fairResource": "cpu", "resourceCalculator": "Dominant", "state": "Running", "maxDriverShare": "0.3",
		"guaranteed": map[string]any{"cpu": 1}, "max": map[string]any{"cpu": 60, "memory": "50%"}, "maxPodResources": map[string]any{"cpu": 20},
		"maxRunningApplications": 5, "maxApplications": 100, "maxPriority": 10, "defaultPriority": 1,
		"users":      map[string]any{"maxRunningApplications": 3},
		"children":   map[string]any{"maxCreated": 7, "max": map[string]any{"cpu": 5}, "template": map[string]any{"weight": 1, "policy": "FIFO"}},
		"preemption": map[string]any{"observeOnly": true, "interval": "5s", "fairShareTimeout": "10m", "fairShareThreshold": "0.5"},
	},
}

var goodPolicy = map[string]any{
	"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "PlacementPolicy", "metadata": map[string]any{"name": "default"},
	"spec": map[string]any{"removeEmptyAfter": "10m", "rules": []any{
		map[string]any{"type": "Specified", "create": false},
		map[string]any{"type": "NestedUserQueue", "nested": map[string]any{"type": "PrimaryGroup", "create": true}},
		map[string]any{"type": "Default", "queue": "root.default"},
	}},
}

func inText(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func copied(object map[string]any) map[string]any {
	text, _ := json.Marshal(object)
	var c map[string]any
	_ = json.Unmarshal(text, &c)
	return c
}

// freeNames are fields whose keys are names of resources.
var freeNames = []string{"guaranteed", "max", "maxPodResources"}

// mutants breaks every field of an object in every way that is always a mistake.
func mutants(t *testing.T, kind string, object map[string]any) (all []broken) {
	t.Helper()
	var walk func(path []any)
	at := func(o any, path []any) any {
		for _, step := range path {
			switch s := step.(type) {
			case string:
				o = o.(map[string]any)[s]
			case int:
				o = o.([]any)[s]
			}
		}
		return o
	}
	add := func(path []any, key, how string, change func(parent map[string]any)) {
		c := copied(object)
		change(at(c, path).(map[string]any))
		field := ""
		for _, step := range append(slices.Clone(path), key) {
			if i, ok := step.(int); ok {
				field += "[" + strconv.Itoa(i) + "]"
			} else {
				field = strings.TrimPrefix(field+"."+step.(string), ".")
			}
		}
		all = append(all, broken{kind + " " + field + " " + how, inText(t, c), field})
	}
	walk = func(path []any) {
		switch v := at(object, path).(type) {
		case []any:
			for i := range v {
				walk(append(slices.Clone(path), i))
			}
		case map[string]any:
			free := len(path) > 0 && slices.Contains(freeNames, fmt.Sprint(path[len(path)-1]))
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if slices.Contains([]string{"apiVersion", "kind", "metadata"}, key) {
					continue
				}
				inner := append(slices.Clone(path), key)
				for how, wrong := range map[string]any{"is a list": []any{1}, "is an object": map[string]any{"x": "y"}, "is junk": "%junk%", "is negative": -5000000000} {
					_, object := v[key].(map[string]any)
					if object && how == "is an object" && free {
						continue
					}
					if _, text := v[key].(string); text && how == "is junk" && slices.Contains([]string{"type", "queue"}, key) {
						continue // the schema has no list of rules; the policy says so itself
					}
					_, list := v[key].([]any)
					if list && how == "is a list" || object && how == "is an object" {
						continue
					}
					add(path, key, how, func(parent map[string]any) { parent[key] = wrong })
				}
				if !free {
					for _, typo := range []string{key + "x", strings.ToUpper(key[:1]) + key[1:], key[1:]} {
						add(path, typo, "is misspelt", func(parent map[string]any) {
							parent[typo] = parent[key]
							if key != "type" { // it is required, which is another mistake
								delete(parent, key)
							}
						})
					}
				}
				walk(inner)
			}
		}
	}
	walk(nil)
	return all
}

// badFiles are files that are no objects of a cluster, whatever is in their fields.
func badFiles(t *testing.T) (all []broken) {
	t.Helper()
	good := inText(t, goodQueue)
	for i := 10; i < len(good)-2; i += 23 { // cut off inside a word or a value, or closed too early
		all = append(all, broken{name: "cut and left open at " + strconv.Itoa(i), text: good[:i] + "\n  : [{\n"})
	}
	asJSON, err := json.MarshalIndent(goodQueue, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for i := 10; i < len(asJSON)-2; i += 41 {
		all = append(all, broken{name: "JSON cut at " + strconv.Itoa(i), text: string(asJSON[:i])})
	}
	for name, text := range map[string]string{
		"tabs":                 strings.Replace(good, "  ", "\t", 1),
		"another version":      strings.Replace(good, "v1alpha1", "v1", 1),
		"another kind":         strings.Replace(good, "Queue", "Queu", 1),
		"no kind":              strings.Replace(good, "kind: Queue\n", "", 1),
		"no name":              strings.Replace(good, "name: root\n", "nome: root\n", 1),
		"a key twice":          good + "kind: Queue\n",
		"a field twice":        strings.Replace(string(asJSON), `"policy"`, `"weight": 3, "policy"`, 1),
		"a list of text":       "- a\n- b\n",
		"a number":             "5\n",
		"text":                 "hello\n",
		"UTF-16":               "\xff\xfea\x00",
		"not UTF-8":            "kind: \xff\n",
		"a List without items": "apiVersion: v1\nkind: List\nitem: []\n",
		"text after documents": good + "--- x\n",
		"no path":              strings.Replace(good, "name: root\n", "name: rot\n", 1),
		"upper case":           strings.Replace(good, "name: root\n", "name: root.A\n", 1),
		"deep":                 strings.Replace(good, "name: root\n", "name: root"+strings.Repeat(".a", 12)+"\n", 1),
		"two clusters":         strings.Replace(good, "name: root\n", "name: root\n  uid: a\n", 1) + "---\n" + strings.Replace(good, "name: root\n", "name: root\n  uid: b\n", 1),
		"a label":              strings.Replace(good, "name: root\n", "name: root\n  labels: {a: 'b c'}\n", 1),
		"another policy":       strings.Replace(inText(t, goodPolicy), "name: default", "name: other", 1),
		"rules in no order":    "apiVersion: scheduling.fairway.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: default}\nspec: {rules: [{type: Default}, {type: User}]}\n",
		"an unknown rule":      "apiVersion: scheduling.fairway.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: default}\nspec: {rules: [{type: Standard}]}\n",
	} {
		all = append(all, broken{name: name, text: text})
	}
	return all
}

// Whatever is wrong with a file, each command says so, with the place, for people and for programs, and none panics.
func TestNoCommandIsSilentAboutABrokenFile(t *testing.T) {
	all := slices.Concat(mutants(t, "Queue", goodQueue), mutants(t, "PlacementPolicy", goodPolicy), badFiles(t))
	if len(all) < 200 {
		t.Errorf("%d broken files, which are not 200", len(all))
	}
	good, err := filepath.Abs(filepath.Join("testdata", "worlds", "weights.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	commands := []string{
		"tree -f broken.yaml", "tree -f good.yaml --with broken.yaml", "preemption --plan -f broken.yaml", "preemption -f broken.yaml", "apps -f broken.yaml",
		"users -f broken.yaml", "order -f broken.yaml", "why x-1 -f good.yaml --with broken.yaml", "access ada -f broken.yaml", "place --user ann -f broken.yaml",
		"place --user ann -f good.yaml --with broken.yaml", "preemption --plan -f good.yaml --with broken.yaml", "order -f good.yaml -f broken.yaml",
	}
	for i, b := range all {
		if err := os.WriteFile("broken.yaml", []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := os.Symlink(good, "good.yaml"); err != nil {
				t.Fatal(err)
			}
			loud(t, "tree -f good.yaml", broken{name: "nothing"}, false)
		}
		for j, command := range commands {
			if j < 2 || (i+j)%7 == 0 { // each command meets mistakes of each sort
				loud(t, command, b, true)
			}
		}
	}
	t.Logf("%d broken files", len(all))
}

func loud(t *testing.T, command string, b broken, want bool) {
	t.Helper()
	out, failed, code := run(t, pipe, "", append(strings.Fields(command), "-o", "json")...)
	var answer struct {
		Problems []struct {
			File, Object, Field, Message string
			Line                         int
		}
	}
	switch err := json.Unmarshal([]byte(out), &answer); {
	case err != nil:
		t.Errorf("%s: %s: no JSON: %v\n%s%s", b.name, command, err, out, failed)
		return
	case (code != 0) != want, (failed != "") != want, (len(answer.Problems) > 0) != want:
		t.Errorf("%s: %s: exit code %d, %d problems, says %q\n%s", b.name, command, code, len(answer.Problems), failed, b.text)
		return
	case !want:
		return
	}
	p := answer.Problems[0]
	if p.File != "broken.yaml" || p.Message == "" || !strings.Contains(failed, "broken.yaml:") {
		t.Errorf("%s: %s: the place is not told: %+v, %s", b.name, command, p, failed)
	}
	if b.field == "" {
		return
	}
	parts := strings.Split(b.field, ".")
	found := false
	for _, p := range answer.Problems {
		lines := strings.Split(b.text, "\n")
		if strings.HasPrefix(p.Field, b.field) || strings.HasPrefix(b.field, p.Field) && p.Field != "" {
			last := p.Field[strings.LastIndexByte(p.Field, '.')+1:]
			last, _, _ = strings.Cut(last, "[")
			found = found || p.Line > 0 && strings.Contains(lines[p.Line-1], strings.Trim(last, "]"))
		}
	}
	if !found {
		t.Errorf("%s: %s: neither field nor line of %s: %+v in\n%s", b.name, command, parts, answer.Problems, b.text)
	}
}
