package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// hostileTexts do something to a terminal, or make a line of their own, or are long.
var hostileTexts = map[string]string{
	"controls":         "a\x1b[2J\x1b]0;title\a\u009b2J\x00b\xffc\u200bd\u00ade\ufefff\U000e0001g",
	"false lines":      "a\n  FALSE LINE\r\nFALSE LINE\u2028FALSE LINE\u0085FALSE LINE\tb",
	"turned around":    "a\u202egnol\u2066x",
	"long":             strings.Repeat("y", 20_000),
	"long with blanks": strings.Repeat("FALSE LINE ", 2_000),
	"YAML":             "a: b\n- c\n--- \"d",
}

// hostileWorld has the text in every field that people write of pods, their owners, groups, nodes and Queues.
func hostileWorld(text string) []any {
	type m = map[string]any
	pod := func(i int, more func(meta, spec, status m)) m {
		name := fmt.Sprintf("p%d", i)
		meta := m{"name": name, "namespace": "team", "creationTimestamp": "2026-01-01T00:00:00Z", "uid": name, "labels": m{}, "annotations": m{"fairway.dev/user": text}}
		spec := m{"schedulerName": "fairway", "containers": []any{m{"name": text, "image": text, "resources": m{"requests": m{"cpu": "5", "memory": "1Gi"}}}}}
		status := m{}
		more(meta, spec, status)
		return m{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
	}
	queue := func(name string, spec m) m {
		return m{"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue", "spec": spec,
			"metadata": m{"name": name, "uid": name, "labels": m{"fairway.dev/created-by": "placement"}, "annotations": m{"fairway.dev/created-for": text}}}
	}
	label := func(key string) func(meta, _, _ m) {
		return func(meta, _, _ m) { meta["labels"] = m{"fairway.dev/queue": "root.a", key: text} }
	}
	annotation := func(key string) func(meta, _, _ m) {
		return func(meta, _, _ m) { meta["annotations"].(m)[key] = text }
	}
	all := []any{
		queue("root", m{"users": m{"maxRunningApplications": 1}, "preemption": m{"fairShareTimeout": "1s"}}), queue("root.a", m{"policy": text}), queue("root.b", m{"max": m{text: "5"}}),
		queue("root.c", m{"maxRunningApplications": 1, "policy": "FIFO"}), queue(text, m{}), queue("root."+text, m{}), queue("root.lost.x", m{text: 1}),
		m{"apiVersion": "v1", "kind": "Node", "metadata": m{"name": text, "labels": m{text: text}},
			"status": m{"allocatable": m{"cpu": "12", "memory": "40Gi", "pods": "110"}, "conditions": []any{m{"type": "Ready", "status": "True", "message": text}}}},
		m{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": m{"name": text, "namespace": "team"}, "spec": m{"minMember": 3}},
		m{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": m{"name": text, "namespace": text}, "spec": m{"maxUnavailable": 0, "selector": m{}}},
		m{"apiVersion": "batch/v1", "kind": "Job", "metadata": m{"name": text, "namespace": "team"}, "spec": m{"parallelism": 1}},
		m{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": m{"name": text}, "rules": []any{m{"verbs": []any{"submit"}, "apiGroups": []any{"*"}, "resources": []any{"queues"}, "resourceNames": []any{text, "root.c"}}}},
		m{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": m{"name": text}, "roleRef": m{"kind": "ClusterRole", "name": text, "apiGroup": "rbac.authorization.k8s.io"},
			"subjects": []any{m{"kind": "User", "name": text, "apiGroup": "rbac.authorization.k8s.io"}}},
	}
	writers := []func(meta, spec, status m){
		annotation("fairway.dev/queue"), annotation("fairway.dev/application-priority"), annotation("fairway.dev/preferred-nodes"), annotation("yunikorn.apache.org/app-id"),
		annotation("fairway.dev/application"), annotation("fairway.dev/placed-queue"), annotation("fairway.dev/placed-user"), label("fairway.dev/application"), label("fairway.dev/queue"),
		label("fairway.dev/role"), label("scheduling.x-k8s.io/pod-group"), label("spark-app-selector"), label("yunikorn.apache.org/app-id"), label("fairway.dev/application-size"),
		func(meta, _, _ m) { meta["name"] = text },
		func(meta, _, _ m) { meta["namespace"] = text },
		func(meta, _, _ m) {
			meta["ownerReferences"] = []any{m{"kind": text, "apiVersion": text, "name": text, "uid": "u", "controller": true}}
		},
		func(meta, spec, _ m) {
			meta["labels"] = m{"fairway.dev/queue": "c"}
			spec["nodeName"] = text
		},
		func(meta, spec, _ m) {
			meta["labels"], spec["nodeSelector"] = m{"fairway.dev/queue": "c"}, m{text: text}
		},
		func(meta, spec, _ m) {
			meta["labels"], spec["containers"] = m{"fairway.dev/queue": "c"}, []any{m{"name": "c", "resources": m{"requests": m{text: "3"}}}}
		},
		func(meta, spec, status m) {
			meta["labels"], spec["nodeName"] = m{"fairway.dev/queue": "c"}, text
			status["conditions"] = []any{m{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "Preempted by queue root.c " + text, "lastTransitionTime": "2026-01-01T00:00:00Z"}}
		},
		func(meta, _, status m) {
			meta["labels"] = m{"fairway.dev/queue": "c"}
			status["conditions"] = []any{m{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}}
		},
		func(_, spec, _ m) { spec["schedulingGates"] = []any{m{"name": text}} },
		func(meta, spec, _ m) {
			spec["schedulerName"], spec["nodeName"] = text, "n"
			meta["annotations"].(m)["fairway.dev/placed-queue"] = "root.c"
		},
		func(meta, _, status m) {
			meta["labels"] = m{"fairway.dev/queue": "c"}
			meta["annotations"].(m)["fairway.dev/user"] = "second " + text
		},
	}
	for i, w := range writers {
		all = append(all, pod(i, w))
	}
	return all
}

// Nothing that people write reaches the reader as it is: no command, in no form, lets a terminal obey it, makes a line of it, or a line without end.
func TestNothingThatUsersWriteReachesATerminalRaw(t *testing.T) {
	t.Chdir(t.TempDir())
	commands := []string{
		"tree", "apps", "users", "order --next 40", "why -A -l !none", "preemption", "preemption --plan", "access ada", "place --user ada --queue root.c", "tree --with overlay.yaml",
		"apps --with overlay.yaml",
	}
	if err := os.WriteFile("overlay.yaml", []byte("{kind: Queue, apiVersion: scheduling.fairway.dev/v1alpha1, metadata: {name: root.c}, spec: {weight: 5}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range hostileTexts {
		objects, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": hostileWorld(text)})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("world.json", objects, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range commands {
			for _, form := range []string{"table", "wide", "json", "yaml"} {
				for _, width := range []int{0, 90} {
					if (form != "table" || strings.Contains(command, "overlay")) && (width > 0) != (form == "table") ||
						form == "wide" && len(command) > len("users") || form == "yaml" && strings.HasPrefix(command, "why") { // its answers take time
						continue
					}
					args := strings.Fields(command + " -f world.json -o " + form)
					out, failed, _ := run(t, func(b *bytes.Buffer) tty.Screen { return terminal(b, width) }, "", args...)
					if command == "order --next 40" && out == "" {
						t.Errorf("%s: %s: nothing is shown: %s", name, command, failed[max(len(failed)-600, 0):])
					}
					harmless(t, name+": "+strings.Join(args, " "), out, width, form)
					harmless(t, name+": "+strings.Join(args, " ")+", its errors", failed, 0, "errors")
					valid(t, name+": "+command, form, out)
				}
			}
		}
	}
}

func harmless(t *testing.T, what, out string, width int, form string) {
	t.Helper()
	for i, line := range strings.Split(out, "\n") {
		for _, r := range line {
			if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
				t.Errorf("%s: line %d holds %U: %.200q", what, i+1, r, line)
				return
			}
		}
		if form != "yaml" && strings.HasPrefix(strings.TrimLeft(line, " "), "FALSE LINE") { // YAML breaks long texts at blanks, deeper than all keys
			t.Errorf("%s: line %d is not ours: %.200q, after %.300q", what, i+1, line, strings.Split(out, "\n")[max(i-2, 0):i])
			return
		}
		if n := utf8.RuneCountInString(line); width > 0 && n > width || n > 12000 && form != "json" && form != "yaml" {
			t.Errorf("%s: line %d has %d characters: %.200q", what, i+1, n, line)
			return
		}
	}
}

// valid: what programs read is still what they can read.
func valid(t *testing.T, what, form, out string) {
	t.Helper()
	var value any
	switch form {
	case "json":
		if err := json.Unmarshal([]byte(out), &value); err != nil && out != "" {
			t.Errorf("%s: %v", what, err)
		}
	case "yaml":
		if err := yaml.Unmarshal([]byte(out), &value); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAWatchedScreenIsNotObeyedEither(t *testing.T) {
	objects, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": hostileWorld(hostileTexts["controls"])})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "world.json")
	if err := os.WriteFile(file, objects, 0o600); err != nil {
		t.Fatal(err)
	}
	out, failed, _ := run(t, func(b *bytes.Buffer) tty.Screen {
		s := terminal(b, 90)
		s.Style = report.Style{Color: true}
		return s
	}, "", "users", "-f", file)
	if strings.Contains(out+failed, "\x1b[2J") || strings.Contains(out+failed, "\x1b]0") || !strings.Contains(failed, `\x1b[2J`) {
		t.Errorf("%q\n%q", out, failed)
	}
}

func TestCompletionOffersNothingToObey(t *testing.T) {
	objects, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": hostileWorld(hostileTexts["false lines"])})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "world.json")
	if err := os.WriteFile(file, objects, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"tree", "why"} {
		if out, _, _ := run(t, pipe, "", "__complete", command, "-f", file, ""); strings.Contains(out, "FALSE") {
			t.Errorf("%s: %q", command, out)
		}
	}
}
