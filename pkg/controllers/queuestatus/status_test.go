package queuestatus

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

var (
	start = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	later = start.Add(time.Hour)
)

func amounts(cores, gib int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000}, resource.Entry{Name: resource.Memory, Value: gib << 30})
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse(cpu), corev1.ResourceMemory: apiresource.MustParse(memory)}
}

func sound(path queue.Path) ledger.QueueState {
	spec := queue.DefaultSpec()
	spec.Policy = queue.DominantResourceFairness // no queue in the tree has none
	return ledger.QueueState{Path: path, Declared: true, InTree: true, Leaf: true, Spec: spec}
}

func TestStatusSpellsEveryAmount(t *testing.T) {
	q := sound("root.a")
	q.Spec = queue.Spec{Weight: 2000, Guaranteed: amounts(1, 2), Max: amounts(30, 40), Policy: queue.FIFO}
	q.SteadyFairShare, q.FairShare, q.Allocated, q.Demand = amounts(3, 4), amounts(5, 6), amounts(7, 8), amounts(9, 10)
	q.ApplicationsPending, q.ApplicationsStarting, q.ApplicationsRunning, q.PodsPending, q.PodsRunning = 1, 4, 2, 3, math.MaxInt32+1

	at := metav1.NewTime(start)
	want := v1alpha1.QueueStatus{
		ObservedGeneration: 7,
		Conditions: []metav1.Condition{
			{Type: "FieldsIgnored", Status: "False", ObservedGeneration: 7, LastTransitionTime: at, Reason: "AllFieldsCount"},
			{Type: "OverLimit", Status: "False", ObservedGeneration: 7, LastTransitionTime: at, Reason: "WithinLimits"},
			{Type: "Overcommitted", Status: "False", ObservedGeneration: 7, LastTransitionTime: at, Reason: "GuaranteesFit"},
			{Type: "Ready", Status: "True", ObservedGeneration: 7, LastTransitionTime: at, Reason: "InForce"},
			{Type: "Starved", Status: "False", ObservedGeneration: 7, LastTransitionTime: at, Reason: "Served"},
		},
		Policy: v1alpha1.PolicyFIFO,
		Effective: &v1alpha1.QueueEffective{
			Policy: stated("FIFO", "default"), MaxDriverShare: stated("0.5", "default"), FairShareThreshold: stated("0.5", "default"),
			FairShareTimeout: stated("never", "default"), GuaranteedTimeout: stated("never", "default"), Preemptible: &v1alpha1.EffectiveFlag{Value: true, From: "default"},
		},
		SteadyFairShare: list("3", "4Gi"), FairShare: list("5", "6Gi"),
		Guaranteed: list("1", "2Gi"), Max: list("30", "40Gi"),
		Allocated: list("7", "8Gi"), Demand: list("9", "10Gi"),
		Applications: v1alpha1.ApplicationCounts{Pending: 1, Starting: 4, Running: 2},
		Pods:         v1alpha1.PodCounts{Pending: 3, Running: math.MaxInt32},
		Summary:      v1alpha1.QueueSummary{FairShare: "5c 6Gi", SteadyFairShare: "3c 4Gi", Allocated: "7c 8Gi", Demand: "9c 10Gi"},
	}
	got := Status(q, v1alpha1.QueueStatus{}, 7, metav1.NewTime(start.Add(123*time.Millisecond)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestConditions(t *testing.T) {
	cpu := func(r reason.Reason) reason.Reason { r.Resource = resource.CPU; return r }
	missing := reason.Reason{Code: reason.ParentMissing, Queue: "root.a.b", Details: reason.Parent{Path: "root.a"}}
	over := cpu(reason.Reason{Code: reason.OverLimit, Queue: "root.a", Limit: 1000, Used: 2000})
	committed := cpu(reason.Reason{Code: reason.Overcommitted, Queue: "root.a", Details: reason.Guarantees{Guaranteed: 1000, Children: 2000}})
	policy := reason.Reason{Code: reason.PolicyNotAllowed, Queue: "root.a", Details: reason.Policies{Stated: "FIFO", InForce: "Fair"}}
	lifted := cpu(reason.Reason{Code: reason.SpecInvalid, Queue: "root.a", Limit: 1000, Details: reason.Guarantees{Guaranteed: 2000}})
	ignored := reason.Reason{Code: reason.FieldIgnored, Queue: "root.a", Details: reason.Ignored{Field: "maxDriverShare", Cause: reason.ForLeaves}}
	stopped := reason.Reason{Code: reason.RunningBelowStopped, Queue: "root.a", Details: reason.Stop{By: "root"}}
	unreadable := reason.Reason{Code: reason.SpecInvalid, Queue: "root.a", Details: reason.Invalid{Why: "spec.weight: 1e99 is not between 0 and 1000000"}}

	for name, tc := range map[string]struct {
		problems []reason.Reason
		outside  bool                // not in the tree
		want     map[string][]string // what differs from the sound state: status, reason, message
	}{
		"nothing is wrong": {},
		"no parent": {
			problems: []reason.Reason{missing}, outside: true,
			want: map[string][]string{"Ready": {"False", "ParentMissing",
				"queue root.a.b is not in force: its parent root.a does not exist; create Queue root.a"}},
		},
		"out of the tree without a word": {
			outside: true,
			want:    map[string][]string{"Ready": {"False", "QueueNotReady", "queue root.a is not in force yet"}},
		},
		"policy": {
			problems: []reason.Reason{policy},
			want: map[string][]string{"Ready": {"False", "PolicyNotAllowed",
				"queue root.a has child queues, and policy FIFO is only for queues without; Fair is in force until policy is changed"}},
		},
		"unreadable": {
			problems: []reason.Reason{unreadable},
			want: map[string][]string{"Ready": {"False", "SpecInvalid",
				"queue root.a cannot be used as written: spec.weight: 1e99 is not between 0 and 1000000; until that is mended its last good state stays in force, if it ever had one"}},
		},
		"over its limit, and still ready": {
			problems: []reason.Reason{over},
			want: map[string][]string{"OverLimit": {"True", "OverLimit",
				"queue root.a uses 2 cpu, above its max of 1 cpu; nothing is stopped, and nothing more is released until its usage fits"}},
		},
		"overcommitted, and still ready": {
			problems: []reason.Reason{committed},
			want: map[string][]string{"Overcommitted": {"True", "Overcommitted",
				"the children of queue root.a are guaranteed 2 cpu together, but root.a itself only 1 cpu; raise its guaranteed or lower theirs"}},
		},
		"fields without effect, and still ready": {
			problems: []reason.Reason{ignored, stopped},
			want:     map[string][]string{"FieldsIgnored": {"True", "FieldIgnored", ignored.Text() + ". " + stopped.Text()}},
		},
		"being deleted": {
			problems: []reason.Reason{{Code: reason.Deleting, Queue: "root.a", Details: reason.Leftovers{Pods: 3, Children: 2}}},
			want: map[string][]string{"Ready": {"False", "Deleting",
				"queue root.a is deleted: 3 pods still run and 2 child queues exist; it goes when none is left"}},
		},
		"everything at once": {
			problems: []reason.Reason{over, policy, committed, lifted},
			want: map[string][]string{
				"OverLimit":     {"True", "OverLimit", over.Text()},
				"Overcommitted": {"True", "Overcommitted", committed.Text()},
				"Ready":         {"False", "PolicyNotAllowed", policy.Text() + ". " + lifted.Text()},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := sound("root.a")
			q.InTree, q.Problems = !tc.outside, tc.problems
			want := map[string][]string{
				"FieldsIgnored": {"False", "AllFieldsCount", ""},
				"OverLimit":     {"False", "WithinLimits", ""}, "Overcommitted": {"False", "GuaranteesFit", ""}, "Ready": {"True", "InForce", ""}, "Starved": {"False", "Served", ""},
			}
			for name, c := range tc.want {
				want[name] = c
			}
			got := map[string][]string{}
			for _, c := range Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Conditions {
				got[c.Type] = []string{string(c.Status), c.Reason, c.Message}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEveryReasonHasAPlaceAndASpelling(t *testing.T) {
	for _, code := range reason.Codes() {
		q := sound("root.a")
		q.Problems = []reason.Reason{{Code: code, Queue: "root.a"}}
		told := 0
		for _, c := range Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Conditions {
			if c.Reason == string(code) {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%s is told by %d conditions", code, told)
		}
	}
}

func TestTransitionTimesStayWhileTheStatusDoes(t *testing.T) {
	over := reason.Reason{Code: reason.OverLimit, Queue: "root.a", Resource: resource.CPU, Limit: 1000, Used: 2000}
	more := over
	more.Used = 3000
	q := sound("root.a")
	first := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))

	q.Problems = []reason.Reason{over}
	second := Status(q, first, 1, metav1.NewTime(later))
	q.Problems = []reason.Reason{more}
	third := Status(q, second, 2, metav1.NewTime(later.Add(time.Hour)))

	for _, tc := range []struct {
		status v1alpha1.QueueStatus
		want   map[string]time.Time
	}{
		{first, map[string]time.Time{"FieldsIgnored": start, "OverLimit": start, "Overcommitted": start, "Ready": start, "Starved": start}},
		{second, map[string]time.Time{"FieldsIgnored": start, "OverLimit": later, "Overcommitted": start, "Ready": start, "Starved": start}},
		{third, map[string]time.Time{"FieldsIgnored": start, "OverLimit": later, "Overcommitted": start, "Ready": start, "Starved": start}},
	} {
		for _, c := range tc.status.Conditions {
			if !c.LastTransitionTime.Time.Equal(tc.want[c.Type]) {
				t.Errorf("%s: got %v, want %v", c.Type, c.LastTransitionTime, tc.want[c.Type])
			}
		}
	}
	if third.Conditions[1].Message == second.Conditions[1].Message || third.Conditions[1].ObservedGeneration != 2 {
		t.Errorf("got %+v, want the new message for generation 2", third.Conditions[1])
	}
}

func TestTheLastGoodPolicyOutlivesTroubleWithTheTree(t *testing.T) {
	q := ledger.QueueState{Path: "root.a.b", Declared: true}
	if got := Status(q, v1alpha1.QueueStatus{Policy: v1alpha1.PolicyFair}, 1, metav1.NewTime(start)).Policy; got != v1alpha1.PolicyFair {
		t.Errorf("got %q, want the policy it had", got)
	}
	if got := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Policy; got != "" {
		t.Errorf("got %q for a queue that never was in force", got)
	}
	if got := Status(sound("root.a.b"), v1alpha1.QueueStatus{Policy: v1alpha1.PolicyFair}, 1, metav1.NewTime(start)).Policy; got != v1alpha1.PolicyDominantResourceFairness {
		t.Errorf("got %q for a queue in the tree, want its own", got)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	q := sound("root.a")
	q.Problems = []reason.Reason{{Code: reason.SpecInvalid, Queue: "root.a", Details: reason.Invalid{Why: strings.Repeat("é", 100_000)}}}
	for _, c := range Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Conditions {
		if len(c.Message) > messageLimit {
			t.Errorf("%s: %d bytes", c.Type, len(c.Message))
		}
	}
}

// atSecond is a moment of the wire, after the start of the test's day.
func atSecond(n int) *metav1.Time {
	t := metav1.NewTime(start.Add(time.Duration(n) * time.Second))
	return &t
}

func TestStartsAreShownAndRemembered(t *testing.T) {
	q := sound("root.a")
	q.Spec.Policy = queue.StateAware
	q.Starts = &ledger.GateStatus{
		Timeout: 37_500_000_000, Percentile: 12_500_000_000,
		Starting: []ledger.StartingApplication{
			{Application: "one", Since: start.UnixNano() + 999_999_999, Until: start.Add(37*time.Second).UnixNano() + 499_999_999},
			{Application: "two", Since: start.Add(time.Second).UnixNano(), Until: start.Add(38 * time.Second).UnixNano()},
		},
		Memory: queue.Memory{Started: []string{"old"}, Starts: []int64{12_500_000_000, 1_000_400_000}},
	}
	got := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))
	want := &v1alpha1.QueueStarts{
		Timeout: "37.5s", Percentile95: "12.5s",
		Applications: []v1alpha1.StartingApplication{
			{Name: "one", Since: atSecond(0), Until: atSecond(37)}, {Name: "two", Since: atSecond(1), Until: atSecond(38)},
		},
		Started: []string{"old"}, LastStarts: []string{"12.5s", "1s"},
	}
	if diff := cmp.Diff(want, got.Starts); diff != "" || got.Policy != v1alpha1.PolicyStateAware {
		t.Errorf("policy %s, -want +got:\n%s", got.Policy, diff)
	}

	q.Starts = &ledger.GateStatus{Timeout: 300_000_000_000}
	if diff := cmp.Diff(&v1alpha1.QueueStarts{Timeout: "5m"}, Status(q, got, 1, metav1.NewTime(start)).Starts); diff != "" {
		t.Errorf("with nothing starting and nothing learnt, -want +got:\n%s", diff)
	}
	if s := Status(ledger.QueueState{Path: "root.a", Declared: true}, got, 1, metav1.NewTime(start)).Starts; s == nil || !slices.Equal(s.Started, want.Started) {
		t.Errorf("out of the tree it remembers %+v, want what it did", s)
	}
	if s := Status(sound("root.a"), got, 1, metav1.NewTime(start)).Starts; s != nil {
		t.Errorf("under another policy it shows %+v", s)
	}
}

// The schema refuses longer lists, and with them the whole status.
func TestStartsAreBounded(t *testing.T) {
	q := sound("root.a")
	q.Starts = &ledger.GateStatus{}
	for i := range 200 {
		q.Starts.Starting = append(q.Starts.Starting, ledger.StartingApplication{Application: strconv.Itoa(i)})
		q.Starts.Memory.Started = append(q.Starts.Memory.Started, strconv.Itoa(i))
		q.Starts.Memory.Starts = append(q.Starts.Memory.Starts, int64(i)*1e9)
	}
	s := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Starts
	if len(s.Applications) != 100 || s.Applications[0].Name != "0" || s.Applications[99].Name != "99" {
		t.Errorf("%d starting, want the first 100", len(s.Applications))
	}
	if len(s.Started) != 100 || s.Started[0] != "0" || s.Started[99] != "99" {
		t.Errorf("%d started, want the first 100", len(s.Started))
	}
	if len(s.LastStarts) != 20 || s.LastStarts[0] != "3m" || s.LastStarts[19] != "3m19s" {
		t.Errorf("durations %v, want the last 20", s.LastStarts)
	}
}

// isReadBack checks that a status is read as it was written, and returns what is read.
func isReadBack(t *testing.T, written v1alpha1.QueueStatus) v1alpha1.QueueStatus {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&written)
	if err != nil {
		t.Fatal(err)
	}
	read := statusOf(&unstructured.Unstructured{Object: map[string]any{"status": content}})
	if !equality.Semantic.DeepEqual(read, written) {
		t.Errorf("-written +read:\n%s", cmp.Diff(written, read))
	}
	return read
}

// What was written is read back as it was, else it would be written again and again.
func TestStartsAreReadBackAsTheyWereWritten(t *testing.T) {
	q := sound("root.a")
	q.Starts = &ledger.GateStatus{
		Timeout: 1_234_567, Percentile: 7_654_321, Starting: []ledger.StartingApplication{{Application: "one", Since: start.UnixNano() + 1, Until: start.UnixNano() - 1}},
		Memory: queue.Memory{Started: []string{"old"}, Starts: []int64{1, 2_999_999}},
	}
	written := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))
	isReadBack(t, written)
}

// What was written is read back as it was; and a queue for which nothing is held says nothing about it.
func TestHoldsAreReadBackAsTheyWereWritten(t *testing.T) {
	q := sound("root.a")
	if got := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).Holds; got != nil {
		t.Errorf("nothing is held, and it shows %+v", got)
	}
	q.Holds = []queue.Hold{{PodGroup: "ns/g", Nodes: []string{"n"}, Since: start.UnixNano() + 1, Until: start.UnixNano() - 1}}
	written := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))
	if len(written.Holds) != 1 {
		t.Fatalf("it shows %+v", written.Holds)
	}
	read := isReadBack(t, written)
	q.Holds = nil
	if got := Status(q, read, 1, metav1.NewTime(start)).Holds; got != nil {
		t.Errorf("nothing is held any more, and it shows %+v", got)
	}
}
