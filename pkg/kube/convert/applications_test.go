package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/test/simulator"
)

// writtenPod is a pod as something that users run writes it, with what Fairway is to make of it.
type writtenPod struct {
	Application string     `json:"application"`
	Role        string     `json:"role"`
	User        string     `json:"user,omitempty"` // where it is stated
	Pod         corev1.Pod `json:"pod"`
}

// writtenPods reads testdata/applications: a file for each operator, whose first line says which, in which version.
func writtenPods(t *testing.T) map[string][]writtenPod {
	t.Helper()
	paths, err := filepath.Glob("testdata/applications/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata/applications: %v", err)
	}
	files := map[string][]writtenPod{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var pods []writtenPod
		if err := yaml.UnmarshalStrict(data, &pods); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(pods) == 0 || !strings.HasPrefix(string(data), "# ") {
			t.Fatalf("%s: want a comment that names the operator and its version, then pods", path)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = pods
	}
	return files
}

func TestPodsThatOperatorsWriteAreRecognised(t *testing.T) {
	for file, pods := range writtenPods(t) {
		for _, w := range pods {
			t.Run(file+"/"+w.Pod.Name, func(t *testing.T) {
				name, role := ApplicationOf(&w.Pod)
				if name != w.Application || role.String() != w.Role {
					t.Errorf("recognised as %v of %s, want %s of %s", role, name, w.Role, w.Application)
				}
				if user := User(&w.Pod); w.User != "" && user != w.User {
					t.Errorf("counts for %s, want %s", user, w.User)
				}
			})
		}
	}
}

// A pod that no API server would take proves nothing.
func TestPodsThatOperatorsWriteCanExist(t *testing.T) {
	for file, pods := range writtenPods(t) {
		for _, w := range pods {
			at := field.NewPath(file, w.Pod.Name)
			problems := validation.ValidateObjectMeta(&w.Pod.ObjectMeta, true, validation.NameIsDNSSubdomain, at)
			problems = append(problems, unversioned.ValidateLabels(w.Pod.Labels, at.Child("labels"))...)
			if err := problems.ToAggregate(); err != nil {
				t.Error(err)
			}
			if len(w.Pod.Spec.Containers) == 0 {
				t.Errorf("%v: a pod has containers", at)
			}
		}
	}
}

// Each way to recognise an application is proved by pods that something real writes, and each that knows roles by a driver and an executor.
func TestEveryRecogniserIsProved(t *testing.T) {
	roles := map[string][]string{}
	for file, pods := range writtenPods(t) {
		for _, w := range pods {
			_, kind, _, ok := application.Split(w.Application)
			if !ok {
				t.Errorf("%s: %s cannot be taken apart", file, w.Application)
			}
			roles[kind] = append(roles[kind], w.Role)
		}
	}
	for _, r := range recognisers {
		want := []string{"none"}
		switch {
		case r.kind == "app": // any role, by the label of its own
			want = nil
		case r.role != nil:
			want = []string{"driver", "executor"}
		}
		if len(roles[r.kind]) == 0 {
			t.Errorf("no pod is recognised as %s", r.kind)
		}
		for _, role := range want {
			if !slices.Contains(roles[r.kind], role) {
				t.Errorf("no pod is recognised as %s with role %s", r.kind, role)
			}
		}
	}
	for _, kind := range []string{"pod", "deployment.apps", "replicaset.apps", "statefulset.apps", "daemonset.apps"} {
		if len(roles[kind]) == 0 {
			t.Errorf("no pod is recognised as %s", kind)
		}
	}
}

// The simulator knows no pods of operators. It draws applications from a list of kinds and their roles, which is this one.
func TestTheSimulatorDrawsEveryKind(t *testing.T) {
	written := map[string][]string{}
	for _, pods := range writtenPods(t) {
		for _, w := range pods {
			if _, kind, _, _ := application.Split(w.Application); !slices.Contains(written[kind], w.Role) {
				written[kind] = append(written[kind], w.Role)
			}
		}
	}
	drawn := map[string][]string{}
	for _, k := range simulator.Kinds {
		for _, role := range k.Roles {
			drawn[k.Name] = append(drawn[k.Name], role.String())
		}
	}
	for kind := range written {
		slices.Sort(written[kind])
		slices.Sort(drawn[kind])
	}
	if diff := cmp.Diff(written, drawn); diff != "" {
		t.Errorf("kinds and roles of written pods (-), and those that the simulator draws (+):\n%s", diff)
	}
}
