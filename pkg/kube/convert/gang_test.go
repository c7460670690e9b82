package convert

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func groupOf(t *testing.T, apiVersion, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	u.SetAPIVersion(apiVersion)
	u.SetKind(PodGroupKind)
	u.SetNamespace("ns")
	u.SetName("g")
	return u
}

const (
	theirs = "scheduling.x-k8s.io/v1alpha1"
	inside = "scheduling.k8s.io/v1alpha2"
)

func TestWhatAPodGroupDeclares(t *testing.T) {
	const key = "ns/g"
	for text, want := range map[string]ledger.PodGroup{
		"{spec: {minMember: 3}, status: {phase: Pending, succeeded: 2}}": {Key: "ns/g", MinMember: 3, Succeeded: 2},
		"":                          {Key: key, MinMember: 1},
		"spec: {}":                  {Key: key, MinMember: 1},
		"spec: {minMember: 0}":      {Key: key, MinMember: 1},
		"spec: {minMember: -3}":     {Key: key, MinMember: 1},
		"spec: {minMember: 4}":      {Key: key, MinMember: 4},
		"spec: {occupiedBy: a}":     {Key: key, MinMember: 1},
		"status: {phase: Running}":  {Key: key, MinMember: 1, Whole: true},
		"status: {phase: [a, {}]}":  {Key: key, MinMember: 1},
		"status: what":              {Key: key, MinMember: 1},
		"status: {scheduled: many}": {Key: key, MinMember: 1},
		"spec: {minMember: 2, scheduleTimeoutSeconds: 90}": {Key: key, MinMember: 2, Timeout: int64(90 * time.Second)},
		"spec: {minMember: 2, scheduleTimeoutSeconds: 0}":  {Key: key, MinMember: 2},
		"spec: {minMember: 2, scheduleTimeoutSeconds: -1}": {Key: key, MinMember: 2},
		"spec: {minMember: 3, minResources: {cpu: 1500m, memory: 2Gi, pods: 3}}": {
			Key: key, MinMember: 3,
			MinResources: resource.Of(resource.Entry{Name: resource.CPU, Value: 1500}, resource.Entry{Name: resource.Memory, Value: 2 << 30}),
		},
	} {
		got, err := Gang(groupOf(t, theirs, text))
		if err != nil || !cmp.Equal(got, want, cmp.Comparer(resource.List.Equal)) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestWhatAnInTreePodGroupDeclares(t *testing.T) {
	const key = "ns/g (scheduling.k8s.io)"
	for text, want := range map[string]ledger.PodGroup{
		"spec: {schedulingPolicy: {basic: {}}}":            {Key: key, MinMember: 1},
		"spec: {schedulingPolicy: {gang: {minCount: 3}}}":  {Key: key, MinMember: 3},
		"spec: {schedulingPolicy: {gang: {minCount: 0}}}":  {Key: key, MinMember: 1},
		"spec: {schedulingPolicy: {newer: {minCount: 5}}}": {Key: key, MinMember: 1},
		"status: {phase: Running}":                         {Key: key, MinMember: 1},
	} {
		got, err := Gang(groupOf(t, inside, text))
		if err != nil || !cmp.Equal(got, want, cmp.Comparer(resource.List.Equal)) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestAPodGroupThatCannotBeReadIsNamedWithItsField(t *testing.T) {
	for _, tc := range []struct{ apiVersion, text, want string }{
		{theirs, "spec: three", "pod group ns/g: spec: cannot be read: it is a string, not an object"},
		{theirs, "spec: {minMember: three}", "pod group ns/g: spec.minMember: cannot be read: "},
		{theirs, "spec: {minResources: {cpu: much}}", "pod group ns/g: spec.minResources: cannot be read: "},
		{theirs, "spec: {minResources: {memory: -1, cpu: -2}}", "pod group ns/g: spec.minResources: cpu: -2 is less than 0"},
		{theirs, "spec: {scheduleTimeoutSeconds: {}}", "pod group ns/g: spec.scheduleTimeoutSeconds: cannot be read: "},
		{inside, "spec: {schedulingPolicy: {gang: {minCount: x}}}", "pod group ns/g (scheduling.k8s.io): spec.schedulingPolicy: cannot be read: "},
	} {
		got, err := Gang(groupOf(t, tc.apiVersion, tc.text))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || got.Key != "" {
			t.Errorf("%s: %v, want %s", tc.text, err, tc.want)
		}
	}
}

// The phases that say "whole" are those that a group enters with enough pods; of one that ended, pods must be left.
func TestWhatAStatusSaysOfHavingBeenWhole(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                 false,
		"{phase: Pending}":                 false,
		"{phase: Pending, running: 2}":     false,
		"{phase: Unknown, running: 1}":     false,
		"{phase: Scheduling}":              true,
		"{phase: Running, running: 3}":     true,
		"{phase: Finished, succeeded: 3}":  true,
		"{phase: Finished}":                false,
		"{phase: Failed, failed: 1}":       true,
		"{phase: Failed, running: 2}":      true,
		"{phase: Failed}":                  false,
		"{phase: PreScheduling}":           false,
		"{phase: running, running: 3}":     false,
		"{phase: Scheduled, succeeded: 3}": false,
	} {
		if got := WasWhole(PodGroupStatus(groupOf(t, theirs, "status: "+text))); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestWhichGroupAPodNames(t *testing.T) {
	name, none := "f", ""
	for _, tc := range []struct {
		label string
		field *corev1.PodSchedulingGroup
		want  string
	}{
		{"", nil, ""},
		{"l", nil, "ns/l"},
		{"", &corev1.PodSchedulingGroup{PodGroupName: &name}, "ns/f (scheduling.k8s.io)"},
		{"", &corev1.PodSchedulingGroup{PodGroupName: &none}, ""},
		{"", &corev1.PodSchedulingGroup{}, ""},
		{"l", &corev1.PodSchedulingGroup{PodGroupName: &name}, "ns/l"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: corev1.PodSpec{SchedulingGroup: tc.field}}
		if tc.label != "" {
			pod.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": tc.label}
		}
		if got := GangOf(pod); got != tc.want {
			t.Errorf("label %q, field %v: %q, want %q", tc.label, tc.field, got, tc.want)
		}
	}
}
