package crd

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
	"github.com/fairway-scheduler/fairway/test/documents"
)

// Marks of YAML that is no complete object.
const (
	partOfPod     = "part of Pod"
	partOfConfig  = "part of KubeSchedulerConfiguration"
	kustomization = "kustomization.yaml"
	partOfOther   = "part of prometheus.yml" // no library here reads that
)

func blocks(t *testing.T) []documents.Block {
	t.Helper()
	all, err := documents.Blocks(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// All YAML of README and docs is what the API server takes, with no field that it does not know. A part of an object says of what it is a part, in a
// comment before the block, and is completed.
func TestDocumentedYAML(t *testing.T) {
	ctx := needCluster(t)
	needNamespace(t, "team-a")
	needNamespace(t, "reports")
	dry := func(t *testing.T, text []byte) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "shown.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := kubectl(ctx, "apply", "--dry-run=server", "--validate=strict", "-f", file); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, text)
		}
	}
	judges := map[string]func(*testing.T, *documents.Block){
		"":        func(t *testing.T, b *documents.Block) { dry(t, []byte(b.Text)) },
		partOfPod: func(t *testing.T, b *documents.Block) { dry(t, completePod(t, b.Text)) },
		partOfConfig: func(t *testing.T, b *documents.Block) {
			for _, profile := range readConfig(t, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+b.Text).Profiles {
				statedArgs(t, &profile)
			}
		},
		kustomization: func(t *testing.T, b *documents.Block) {
			if out, err := kubectl(ctx, "kustomize", kustomizationFolder(t, b)); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		},
		partOfOther: func(t *testing.T, b *documents.Block) {
			if err := yaml.UnmarshalStrict([]byte(b.Text), &map[string]any{}); err != nil {
				t.Error(err)
			}
		},
	}
	met := map[string]int{}
	for _, b := range blocks(t) {
		if b.Language != "yaml" {
			continue
		}
		t.Run(b.At(), func(t *testing.T) {
			judge := judges[b.Mark]
			if judge == nil {
				t.Fatalf("the comment before the block says %q, which means nothing here", b.Mark)
			}
			judge(t, &b)
			met[b.Mark]++
		})
	}
	for mark := range judges {
		if met[mark] == 0 {
			t.Errorf("no page has YAML with the mark %q", mark)
		}
	}
}

func needNamespace(t *testing.T, name string) {
	t.Helper()
	if err := client.IgnoreAlreadyExists(typed.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})); err != nil {
		t.Fatal(err)
	}
}

// completePod adds what a pod must have besides what a page shows of it.
func completePod(t *testing.T, part string) []byte {
	t.Helper()
	var pod map[string]any
	if err := yaml.UnmarshalStrict([]byte(part), &pod); err != nil {
		t.Fatal(err)
	}
	within := func(name string) map[string]any {
		if pod[name] == nil {
			pod[name] = map[string]any{}
		}
		return pod[name].(map[string]any)
	}
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	within("metadata")["name"] = "shown"
	if within("spec")["containers"] == nil {
		within("spec")["containers"] = []any{map[string]any{"name": "main", "image": "example.com/main:1"}}
	}
	text, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// documentedKustomization makes a folder with the kustomization.yaml that a page shows first.
func documentedKustomization(t *testing.T, page string) (dir string) {
	t.Helper()
	for _, b := range blocks(t) {
		if b.Page == page && b.Mark == kustomization {
			return kustomizationFolder(t, &b)
		}
	}
	t.Fatalf("no kustomization on %s", page)
	return ""
}

var manifestsPath = regexp.MustCompile(`(fairway/)?manifests\b`)

func kustomizationFolder(t *testing.T, b *documents.Block) (dir string) {
	t.Helper()
	dir = t.TempDir()
	manifests, err := filepath.Abs(filepath.Join(root, "manifests"))
	if err == nil {
		manifests, err = filepath.Rel(dir, manifests)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, kustomization), []byte(manifestsPath.ReplaceAllString(b.Text, manifests)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// notRun are the blocks with commands of kubectl that cannot run here, each by a part of its text.
var notRun = map[string]string{
	"kind: PrometheusRule": "the kind is one of the Prometheus operator",
}

// kubectlTrial stands for kubectl: what would change the cluster only tries to. What fails is written to a file. Fairway's own commands run in
// test/documents, and nobody is here for whom to wait.
const kubectlTrial = `#!/bin/bash
case $1 in
fairway) [[ $2 != import ]] || cat imported.yaml; exit 0 ;;
wait) exit 0 ;;
apply | create | delete | patch) set -- "$@" --dry-run=server ;;
esac
"$KUBECTL" "$@" 2>errors || { echo "kubectl $*: $(cat errors)" >>failed; exit 1; }
`

// Every command of kubectl in a block of README and docs runs on a real API server, in a folder with the manifests.
func TestDocumentedCommandsRun(t *testing.T) {
	ctx := needCluster(t)
	needNamespace(t, "team-a")
	if _, err := create(ctx, t, object(t, "root.etl", "-")); err != nil {
		t.Fatal(err)
	}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shown"}}
	if err := typed.Create(ctx, budget); err != nil {
		t.Fatal(err)
	}
	dir := trialFolder(t)
	ran, left := 0, map[string]bool{}
	for _, b := range blocks(t) {
		script := "" // a shell: what else the block calls does nothing
		for _, c := range b.Commands() {
			script += c.Line + "\n"
		}
		if !regexp.MustCompile(`(?m)(^|\| )kubectl [a-eg-z]`).MatchString(script) || left[leftOut(script)] {
			continue
		}
		if why := leftOut(script); why != "" {
			left[why] = true
			continue
		}
		ran++
		t.Run(b.At(), func(t *testing.T) {
			out := inTrialFolder(t, dir, script)
			if failed, err := os.ReadFile(filepath.Join(dir, "failed")); err == nil {
				t.Errorf("%s%s", failed, out)
				_ = os.Remove(filepath.Join(dir, "failed"))
			}
		})
	}
	if len(left) != len(notRun) || ran < 10 {
		t.Errorf("%d blocks ran, and of %d that cannot run %d are there", ran, len(notRun), len(left))
	}
	checkDump(t, filepath.Join(dir, "dump.json"))
}

// With a second profile, the recipe of docs/identity.md makes every policy know its name.
func TestPoliciesLearnASecondName(t *testing.T) {
	needCluster(t)
	dir := trialFolder(t)
	for _, b := range blocks(t) {
		if b.Page == "docs/identity.md" && strings.HasPrefix(b.Text, "sed -i") {
			inTrialFolder(t, dir, b.Text)
		}
	}
	known := 0
	err := filepath.WalkDir(filepath.Join(dir, "manifests"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		known += strings.Count(string(text), "['fairway', 'default-scheduler']")
		if strings.Contains(string(text), "'fairway'") && strings.Count(string(text), "'fairway'") != strings.Count(string(text), "['fairway', ") {
			t.Errorf("%s still knows one name only", path)
		}
		return err
	})
	if err != nil || known == 0 {
		t.Errorf("%d policies know both names: %v", known, err)
	}
}

func leftOut(script string) string {
	for part := range notRun {
		if strings.Contains(script, part) {
			return part
		}
	}
	return ""
}

// trialFolder is a folder with what the commands read: the manifests, and what an import prints.
func trialFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.CopyFS(filepath.Join(dir, "manifests"), os.DirFS(filepath.Join(root, "manifests"))))
	queues, err := os.ReadFile(filepath.Join(root, yarnExample, "queues.yaml"))
	must(err)
	must(os.WriteFile(filepath.Join(dir, "imported.yaml"), queues, 0o600))
	must(os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "bin", "kubectl"), []byte(kubectlTrial), 0o700)) //nolint:gosec // it is a program
	return dir
}

func inTrialFolder(t *testing.T, dir, script string) string {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(root, "bin", "tools", "kubectl"))
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := filepath.Abs(cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", "make() { :; }; go() { :; }\n"+script)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECTL="+program, "KUBECONFIG="+kubeconfig)
	out, _ := command.CombinedOutput() // grep fails where it finds nothing; kubectl's failures are in the file
	return string(out)
}

// checkDump: the recipe for a dump takes all kinds that the answers are made from, and kubectl fairway reads what it writes.
func checkDump(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Queue", "PodDisruptionBudget"} {
		if !strings.Contains(string(text), `"kind": "`+kind+`"`) {
			t.Errorf("the dump has no %s", kind)
		}
	}
	var out, failed bytes.Buffer
	if code := cli.Run(t.Context(), []string{"tree", "-f", file}, cli.Environment{Out: tty.Screen{Out: &out}, Err: &failed, Now: time.Now}); code != 0 {
		t.Error(failed.String())
	}
}

// The recipe for uninstalling takes away every part, so that no role or policy stays. identity-operators is identity with more, and has a recipe of
// its own; the component in check has no objects.
func TestUninstallTakesAllParts(t *testing.T) {
	recipe := ""
	for _, b := range blocks(t) {
		if strings.Contains(b.Text, "kubectl delete crd queues.scheduling.fairway.dev") {
			recipe = b.Text
		}
	}
	err := fs.WalkDir(os.DirFS(root), "manifests", func(path string, entry fs.DirEntry, err error) error {
		part := filepath.ToSlash(filepath.Dir(path))
		if err != nil || entry.Name() != kustomization || part == "manifests/identity-operators" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if !strings.Contains(string(text), "kind: Component") && !strings.Contains(recipe, "kubectl delete -k "+part+" ") {
			t.Errorf("uninstalling leaves %s", part)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
