package crd

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	core "github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

func TestDefaults(t *testing.T) {
	ctx := needCluster(t)
	for name, spec := range map[string]string{"no spec": "-", "an empty spec": "{}"} {
		t.Run(name, func(t *testing.T) {
			stored, err := create(ctx, t, object(t, "root.a", spec))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"weight": "1"} // the policy depends on where the queue stands
			if diff := cmp.Diff(want, stored.Object["spec"]); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("what is stated stays", func(t *testing.T) {
		stored, err := create(ctx, t, object(t, "root.a", "{weight: 0, policy: FIFO}"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"weight": int64(0), "policy": "FIFO"}
		if diff := cmp.Diff(want, stored.Object["spec"]); diff != "" {
			t.Errorf("spec (-want +got):\n%s", diff)
		}
	})
}

func TestServerSideApplyWithTwoManagers(t *testing.T) {
	ctx := needCluster(t)
	apply := func(manager, spec string) (*unstructured.Unstructured, error) {
		return raw.Apply(ctx, "root.shared", object(t, "root.shared", spec), metav1.ApplyOptions{FieldManager: manager})
	}
	t.Cleanup(func() { _ = raw.Delete(context.Background(), "root.shared", metav1.DeleteOptions{}) })
	if _, err := apply("admin", `{weight: 3, max: {cpu: 10}}`); err != nil {
		t.Fatal(err)
	}
	// Another manager adds a resource to the same list: the lists are maps, and each owns its own entries.
	if _, err := apply("tuner", `{max: {memory: 10Gi}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("tuner", `{weight: 4, max: {memory: 10Gi}}`); !apierrors.IsConflict(err) {
		t.Errorf("taking over a field of another manager gives %v, want a conflict", err)
	}
	got, err := apply("admin", `{max: {cpu: 20}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"weight": "1", // given up by its only owner: the default
		"max":    map[string]any{"cpu": int64(20), "memory": "10Gi"},
	}
	if diff := cmp.Diff(want, got.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestStatusIsASubresource(t *testing.T) {
	ctx := needCluster(t)
	if _, err := create(ctx, t, object(t, "root.a", "{weight: 2}")); err != nil {
		t.Fatal(err)
	}
	var q v1alpha1.Queue
	if err := typed.Get(ctx, client.ObjectKey{Name: "root.a"}, &q); err != nil {
		t.Fatal(err)
	}
	heavy := resource.MustParse("7")
	q.Spec.Weight = &heavy
	fillStatus(&q, "50", "200Gi", "75", "300Gi", 0)
	belowFairShare, belowGuaranteed := metav1.Unix(1_700_000_000, 0), metav1.Unix(1_700_000_030, 0)
	q.Status.BelowFairShareSince, q.Status.BelowGuaranteedSince = &belowFairShare, &belowGuaranteed
	if err := typed.Status().Update(ctx, &q); err != nil {
		t.Fatal(err)
	}
	if err := typed.Get(ctx, client.ObjectKey{Name: "root.a"}, &q); err != nil {
		t.Fatal(err)
	}
	if got := q.Spec.Weight.String(); got != "2" {
		t.Errorf("a write of the status changed the weight to %s", got)
	}
	if q.Generation != 1 {
		t.Errorf("a write of the status made generation %d", q.Generation)
	}
	if diff := cmp.Diff(filledStarts(), q.Status.Starts); diff != "" {
		t.Errorf("the starts came back otherwise (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(filledPreemption(), q.Status.Preemption); diff != "" {
		t.Errorf("what is owed came back otherwise (-want +got):\n%s", diff)
	}
	if d, err := convert.Declaration(&q); err != nil || d.Memory.BelowFairShareSince != 1_700_000_000e9 || d.Memory.BelowGuaranteedSince != 1_700_000_030e9 {
		t.Errorf("the clocks are read back as %+v, %v", d.Memory, err)
	}
	if got := convert.Amounts(q.Status.FairShare).String(); got != "cpu=50 memory=200Gi" {
		t.Errorf("the status came back with fair share %s", got)
	}
	q.Status.Summary.FairShare = "everything"
	q.Spec.Weight = &heavy
	if err := typed.Update(ctx, &q); err != nil {
		t.Fatal(err)
	}
	if q.Status.Summary.FairShare != "50c 200Gi" || q.Generation != 2 {
		t.Errorf("after a write of the spec: generation %d, status %+v", q.Generation, q.Status)
	}
}

// filledPreemption is all that is said of a queue with an open claim.
func filledPreemption() *v1alpha1.QueuePreemptionStatus {
	fair, guaranteed := metav1.Unix(1_700_000_060, 0), metav1.Unix(1_700_000_045, 0)
	return &v1alpha1.QueuePreemptionStatus{
		FairShareDue: &fair, GuaranteedDue: &guaranteed, ClaimOpen: true, Owed: corev1.ResourceList{"memory": resource.MustParse("20Gi")},
	}
}

// filledStarts is as much as a status remembers.
func filledStarts() *v1alpha1.QueueStarts {
	s := &v1alpha1.QueueStarts{Timeout: "37.5s", Percentile95: "12.5s"}
	since, until := metav1.Unix(1_700_000_000, 0), metav1.Unix(1_700_000_037, 0)
	for i := range v1alpha1.MaxStartingShown {
		s.Applications = append(s.Applications, v1alpha1.StartingApplication{Name: fmt.Sprintf("spark/app-%d", i), Since: &since, Until: &until})
	}
	for i := range v1alpha1.MaxStartedRemembered {
		s.Started = append(s.Started, fmt.Sprintf("spark/old-%d", i))
	}
	for range v1alpha1.MaxStartsRemembered {
		s.LastStarts = append(s.LastStarts, "12.5s")
	}
	return s
}

// The lists of a status are as long as the writer makes them, and no longer: what it cuts them to is what the schema takes.
func TestListsOfAStatusAreBounded(t *testing.T) {
	ctx := needCluster(t)
	if _, err := create(ctx, t, object(t, "root.a", "{policy: StateAware}")); err != nil {
		t.Fatal(err)
	}
	var q v1alpha1.Queue
	if err := typed.Get(ctx, client.ObjectKey{Name: "root.a"}, &q); err != nil {
		t.Fatal(err)
	}
	for want, grow := range map[string]func(*v1alpha1.QueueStarts){
		"status.starts.applications: Too many: 101: must have at most 100 items": func(s *v1alpha1.QueueStarts) {
			s.Applications = append(s.Applications, v1alpha1.StartingApplication{Name: "more"})
		},
		"status.starts.started: Too many: 101: must have at most 100 items":  func(s *v1alpha1.QueueStarts) { s.Started = append(s.Started, "more") },
		"status.starts.lastStarts: Too many: 21: must have at most 20 items": func(s *v1alpha1.QueueStarts) { s.LastStarts = append(s.LastStarts, "1s") },
	} {
		q.Status.Starts = filledStarts()
		grow(q.Status.Starts)
		if err := typed.Status().Update(ctx, &q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("refused with\n%v\nwant in it\n%s", err, want)
		}
	}
}

// What is held is bounded too, and as much as the scheduler writes at most is taken.
func TestHoldsOfAStatusAreBounded(t *testing.T) {
	ctx := needCluster(t)
	if _, err := create(ctx, t, object(t, "root.a", "{}")); err != nil {
		t.Fatal(err)
	}
	var q v1alpha1.Queue
	if err := typed.Get(ctx, client.ObjectKey{Name: "root.a"}, &q); err != nil {
		t.Fatal(err)
	}
	held := func(holds, nodes int) []v1alpha1.NodeHold {
		all := make([]v1alpha1.NodeHold, holds)
		for i := range all {
			all[i].For = v1alpha1.HoldReference{APIGroup: "scheduling.x-k8s.io", Kind: "PodGroup", Namespace: "team", Name: "ring"}
			for n := range nodes {
				all[i].Nodes = append(all[i].Nodes, strconv.Itoa(n))
			}
		}
		return all
	}
	for want, holds := range map[string][]v1alpha1.NodeHold{
		"status.holds: Too many: 11: must have at most 10 items":            held(v1alpha1.MaxHoldsShown+1, 1),
		"status.holds[0].nodes: Too many: 501: must have at most 500 items": held(1, v1alpha1.MaxHeldShown+1),
	} {
		q.Status.Holds = holds
		if err := typed.Status().Update(ctx, &q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("refused with\n%v\nwant in it\n%s", err, want)
		}
	}
	q.Status.Holds = held(v1alpha1.MaxHoldsShown, v1alpha1.MaxHeldShown)
	if err := typed.Status().Update(ctx, &q); err != nil {
		t.Error(err)
	}
}

// fillStatus writes what the scheduler would.
func fillStatus(q *v1alpha1.Queue, shareCPU, shareMemory, usedCPU, usedMemory string, pending int32) {
	list := func(cpu, memory string) core.List {
		return convert.Amounts(corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)})
	}
	share, used := list(shareCPU, shareMemory), list(usedCPU, usedMemory)
	q.Status = v1alpha1.QueueStatus{
		ObservedGeneration: q.Generation,
		Policy:             v1alpha1.PolicyDominantResourceFairness,
		FairShare:          convert.ResourceList(share),
		SteadyFairShare:    convert.ResourceList(share),
		Allocated:          convert.ResourceList(used),
		Demand:             convert.ResourceList(used),
		Pods:               v1alpha1.PodCounts{Pending: pending, Running: 3},
		Starts:             filledStarts(),
		Preemption:         filledPreemption(),
		Summary: v1alpha1.QueueSummary{
			FairShare: report.Amounts(share), SteadyFairShare: report.Amounts(share),
			Allocated: report.Amounts(used), Demand: report.Amounts(used),
		},
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInForce,
			Message: "the queue works as its spec says", LastTransitionTime: metav1.Now(),
		}},
	}
}

// age finds the age of a queue, with the blanks around it: how many there are depends on the age.
var age = regexp.MustCompile(`(True|False) +\d+[smh][0-9smh]* *`)

// `kubectl get queues` answers the daily question on a terminal of 80 columns.
func TestPrinterColumns(t *testing.T) {
	ctx := needCluster(t)
	for _, row := range []struct {
		name, spec, shareCPU, shareMemory, usedCPU, usedMemory string
		pending                                                int32
	}{
		{"root", "{}", "100", "400Gi", "100", "399.5Gi", 1250},
		{"root.busy", "{}", "50", "200Gi", "87.5", "350Gi", 1238},
		{"root.sometimes-busy", `{weight: "1.125"}`, "9999", "999.9Ti", "12500m", "49.9Gi", 12},
		{"root.zzz", "{weight: 250m}", "0", "0", "0", "0", 0},
	} {
		if _, err := create(ctx, t, object(t, row.name, row.spec)); err != nil {
			t.Fatal(err)
		}
		var q v1alpha1.Queue
		if err := typed.Get(ctx, client.ObjectKey{Name: row.name}, &q); err != nil {
			t.Fatal(err)
		}
		fillStatus(&q, row.shareCPU, row.shareMemory, row.usedCPU, row.usedMemory, row.pending)
		if row.name == "root.sometimes-busy" {
			since := metav1.NewTime(time.Now().Add(-1000 * time.Hour)) // kubectl rounds 41 days and 16 hours to days
			q.Status.BelowFairShareSince = &since
		}
		if err := typed.Status().Update(ctx, &q); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		file string
		args []string
		fits int
	}{
		{"testdata/queues.txt", []string{"get", "queues"}, 80},
		{"testdata/queues_wide.txt", []string{"get", "fq", "-o", "wide"}, 0},
		{"testdata/queues.txt", []string{"get", "fairway"}, 80}, // the category
	} {
		out, err := kubectl(ctx, tc.args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		// The header ends with AGE, which is as wide as an age of three characters ("12d"). One of the rows has the widest amounts.
		header, _, _ := strings.Cut(out, "\n")
		if width := len(strings.TrimSpace(header)); tc.fits > 0 && width > tc.fits {
			t.Errorf("%d columns:\n%s", width, out)
		}
		compare(t, tc.file, strings.ReplaceAll(age.ReplaceAllString(out, "$1    AGE   "), "   \n", "\n"))
	}
}

// `kubectl explain` reads well on 80 columns: kubectl wraps the lines of a description one by one, so those that were written longer, or
// broken early, come out ragged.
func TestExplain(t *testing.T) {
	ctx := needCluster(t)
	for field, names := range map[string][]string{
		"queue.spec":              {"weight", "guaranteed", "max", "maxPodResources", "maxRunningApplications", "maxApplications", "maxDriverShare", "users", "policy", "fairResource", "resourceCalculator", "strict", "maxStarting", "startingTimeout", "defaultPriority", "maxPriority", "preemption", "state", "reservable", "reservations"},
		"queue.spec.users":        {"maxRunningApplications"},
		"queue.spec.reservations": {"window", "averageShare", "instantaneousShare", "enforcementWindow", "moveOnExpiry"},
		"queue.spec.preemption": {"fairShareThreshold", "fairShareTimeout", "guaranteedTimeout", "preemptible", "observeOnly", "utilizationThreshold", "interval", "maxWaitBeforeKill",
			"totalPerRound", "maxIgnoredOverCapacity", "naturalTerminationFactor"},
		"queue.status.preemption":           {"fairShareDue", "guaranteedDue", "claimOpen", "owed"},
		"queue.status.effective":            {"policy", "fairResource", "maxDriverShare", "maxPodResources", "fairShareThreshold", "fairShareTimeout", "guaranteedTimeout", "preemptible"},
		"queue.status.limits":               {"runningApplications", "applications", "drivers"},
		"queue.status.applications":         {"pending", "starting", "running"},
		"queue.status.starts":               {"timeout", "percentile95", "applications", "started", "lastStarts"},
		"placementpolicy.spec":              {"rules", "mappings", "override", "userAsDefaultQueue", "allowUndeclaredQueues"},
		"placementpolicy.spec.rules":        {"type", "create", "queue", "parent", "nested"},
		"placementpolicy.spec.rules.nested": {"type", "create", "queue", "parent"},
		"placementpolicy.status":            {"inForce", "observedGeneration"},
		"reservation.spec":                  {"queue", "arrival", "deadline", "interpreter", "requests", "recurrence"},
		"reservation.spec.requests":         {"pods", "resources", "duration", "concurrency"},
		"reservation.status":                {"phase", "acceptedTime", "recurrence", "allocation", "start", "queue", "refusal"},

		"queue.status": {"fairShare", "steadyFairShare", "policy", "resourceCalculator", "starts", "belowFairShareSince", "belowGuaranteedSince", "preemption", "effective", "limits"},
	} {
		out, err := kubectl(ctx, "explain", field)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		described := map[string]bool{}
		before, of := "", ""
		for line := range strings.Lines(out) {
			line = strings.TrimRight(line, "\n")
			text, indented := strings.CutPrefix(line, "    ")
			if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "  "), "\t<"); ok && rest != "" {
				of = name
			}
			described[of] = described[of] || indented
			if first, _, _ := strings.Cut(text, " "); indented && strings.HasPrefix(before, "    ") && text != "" && len(before)+1+len(first) <= 80 {
				t.Errorf("%s: %q would fit behind %q", of, first, before)
			}
			if len(line) > 80 {
				t.Errorf("%d columns: %s", len(line), line)
			}
			before = strings.TrimRight(line, " ")
		}
		for _, name := range names {
			if !described[name] {
				t.Errorf("%s has no description of %s:\n%s", field, name, out)
			}
		}
	}
}

// compare holds text against a committed file; UPDATE=1 in the environment writes the file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
