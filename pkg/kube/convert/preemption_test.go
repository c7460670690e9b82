package convert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// under is a Queue with these settings, as they are written.
func under(t *testing.T, name, settings string, value any) *v1alpha1.Queue {
	t.Helper()
	q, err := DecodeQueue(&unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"preemption": map[string]any{settings: value}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestPreemption(t *testing.T) {
	lasting := func(d time.Duration) queue.Timeout { return queue.Timeout{Stated: true, Nanoseconds: int64(d)} }
	never := queue.Timeout{Stated: true, Never: true}
	for _, tc := range []struct {
		queue, field string
		value        any
		want         queue.Preemption
	}{
		{"root.a", "fairShareThreshold", "0.5", queue.Preemption{FairShareThreshold: queue.AtMost(500)}},
		{"root.a", "fairShareThreshold", "1m", queue.Preemption{FairShareThreshold: queue.AtMost(1)}},
		{"root.a", "fairShareThreshold", int64(1), queue.Preemption{FairShareThreshold: queue.AtMost(1000)}},
		{"root.a", "fairShareTimeout", "60s", queue.Preemption{FairShareTimeout: lasting(time.Minute)}},
		{"root.a", "fairShareTimeout", "24h", queue.Preemption{FairShareTimeout: lasting(24 * time.Hour)}},
		{"root.a", "fairShareTimeout", "never", queue.Preemption{FairShareTimeout: never}},
		{"root.a", "guaranteedTimeout", "1s", queue.Preemption{GuaranteedTimeout: lasting(time.Second)}},
		{"root.a", "guaranteedTimeout", "never", queue.Preemption{GuaranteedTimeout: never}},
		{"root.a", "preemptible", false, queue.Preemption{Preemptible: queue.PreemptibleNo}},
		{"root.a", "preemptible", true, queue.Preemption{Preemptible: queue.PreemptibleYes}},
		{"root", "observeOnly", true, queue.Preemption{ObserveOnly: true}},
		{"root", "observeOnly", false, queue.Preemption{}},
		{"root", "utilizationThreshold", int64(0), queue.Preemption{UtilizationThreshold: queue.AtMost(0)}},
		{"root", "interval", "1h", queue.Preemption{Interval: lasting(time.Hour)}},
		{"root", "maxWaitBeforeKill", "0s", queue.Preemption{MaxWaitBeforeKill: lasting(0)}},
		{"root", "totalPerRound", "0.1", queue.Preemption{TotalPerRound: queue.AtMost(100)}},
		{"root", "maxIgnoredOverCapacity", "100m", queue.Preemption{MaxIgnoredOverCapacity: queue.AtMost(100)}},
		{"root", "naturalTerminationFactor", ".2", queue.Preemption{NaturalTerminationFactor: queue.AtMost(200)}},
	} {
		d, err := Declaration(under(t, tc.queue, tc.field, tc.value))
		if err != nil {
			t.Errorf("%s %v: %v", tc.field, tc.value, err)
		} else if d.Spec.Preemption != tc.want {
			t.Errorf("%s %v: %+v, want %+v", tc.field, tc.value, d.Spec.Preemption, tc.want)
		}
	}
}

func TestRefusedPreemption(t *testing.T) {
	const (
		range01  = " is not between 0 and 1 with at most three decimals"
		positive = "it is not above 0, and nothing would ever be preempted"
		ofRoot   = "it holds over all queues, so it can be stated in the queue root only"
		timeout  = " is neither a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, nor the word never"
	)
	for _, tc := range []struct {
		queue, field string
		value        any
		want         string
	}{
		{"root.a", "fairShareThreshold", int64(0), "a queue is never below 0 of its fair share; to switch preemption off for a queue, leave fairShareTimeout unset or set it to never"},
		{"root.a", "fairShareThreshold", "1.001", "1.001" + range01},
		{"root.a", "fairShareThreshold", "-1", "-1" + range01},
		{"root.a", "fairShareThreshold", "0.0001", "100u" + range01},
		{"root.a", "fairShareTimeout", "0s", `"0s"` + timeout},
		{"root.a", "fairShareTimeout", "24h1s", `"24h1s"` + timeout},
		{"root.a", "fairShareTimeout", "Never", `"Never"` + timeout},
		{"root.a", "guaranteedTimeout", "500ms", `"500ms"` + timeout},
		{"root", "utilizationThreshold", int64(80), "80" + range01},
		{"root", "interval", "0s", `"0s" is not a duration from 1s to 1h in hours, minutes and seconds, such as 3s or 1m30s`},
		{"root", "interval", "never", `"never" is not a duration from 1s to 1h in hours, minutes and seconds, such as 3s or 1m30s`},
		{"root", "maxWaitBeforeKill", "61m", `"61m" is not a duration from 0s to 1h in hours, minutes and seconds, such as 3s or 1m30s`},
		{"root", "totalPerRound", int64(0), positive},
		{"root", "maxIgnoredOverCapacity", int64(2), "2" + range01},
		{"root", "naturalTerminationFactor", "0.0", positive},
		{"root.a", "observeOnly", false, ofRoot},
		{"root.a", "utilizationThreshold", "0.8", ofRoot},
		{"root.a", "interval", "3s", ofRoot},
		{"root.a", "maxWaitBeforeKill", "15s", ofRoot},
		{"root.a", "totalPerRound", int64(1), ofRoot},
		{"root.a", "maxIgnoredOverCapacity", int64(0), ofRoot},
		{"root.root", "naturalTerminationFactor", int64(1), ofRoot},
	} {
		_, err := Declaration(under(t, tc.queue, tc.field, tc.value))
		if want := fmt.Sprintf("queue %s: spec.preemption.%s: %s", tc.queue, tc.field, tc.want); err == nil || err.Error() != want {
			t.Errorf("%s %v is refused with\n%v\nwant\n%s", tc.field, tc.value, err, want)
		}
	}
}

// The same numbers as the schema's rules know them: a share of 0 in any spelling.
func TestNoSpellingOfZeroIsAThreshold(t *testing.T) {
	for _, text := range []string{"0", "0.000", "0m", "0k", "0e5"} {
		q := makeQueue("root.a", func(q *v1alpha1.Queue) {
			zero := apiresource.MustParse(text)
			q.Spec.Preemption = &v1alpha1.QueuePreemption{FairShareThreshold: &zero}
		})
		if _, err := Declaration(q); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestDecodeQueueNamesPreemption(t *testing.T) {
	_, err := DecodeQueue(&unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "root.a"}, "spec": map[string]any{"preemption": map[string]any{"fairShareTimeout": int64(60)}},
	}})
	if want := "queue root.a: spec.preemption: cannot be read: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v does not begin with %s", err, want)
	}
}

// A clock that is read back has begun when it did, or up to a second later: it never runs out before its time.
func TestClocksGoThereAndBack(t *testing.T) {
	const second = int64(time.Second)
	for _, tc := range []struct{ since, want int64 }{
		{0, 0},
		{1_700_000_000 * second, 1_700_000_000 * second},
		{1_700_000_000*second + 1, 1_700_000_001 * second},
		{1_700_000_001*second - 1, 1_700_000_001 * second},
	} {
		d, err := Declaration(makeQueue("root.a", func(q *v1alpha1.Queue) {
			q.Status.BelowFairShareSince = ClockTime(tc.since)
		}))
		if err != nil || d.Memory.BelowFairShareSince != tc.want || d.Memory.BelowGuaranteedSince != 0 {
			t.Errorf("%d is read back as %+v, %v", tc.since, d.Memory, err)
		}
	}
	d, err := Declaration(makeQueue("root.a", func(q *v1alpha1.Queue) {
		q.Status.BelowGuaranteedSince, q.Status.BelowFairShareSince = ClockTime(5*second), &metav1.Time{}
	}))
	if err != nil || d.Memory.BelowFairShareSince != 0 || d.Memory.BelowGuaranteedSince != 5*second {
		t.Errorf("read back as %+v, %v", d.Memory, err)
	}
	d, err = Declaration(makeQueue("root.a", func(q *v1alpha1.Queue) {
		q.Status.Preemption = &v1alpha1.QueuePreemptionStatus{FairShareDue: ClockTime(70 * second), GuaranteedDue: ClockTime(80 * second)}
	}))
	if err != nil || d.Memory.FairShareDue != 70*second || d.Memory.GuaranteedDue != 80*second {
		t.Errorf("read back as %+v, %v", d.Memory, err)
	}
}

func TestAnOpenClaimIsReadBack(t *testing.T) {
	below := &metav1.Time{Time: time.Unix(5, 0)}
	for name, tc := range map[string]struct {
		status v1alpha1.QueueStatus
		claims bool
	}{
		"open, and above the threshold": {v1alpha1.QueueStatus{Preemption: &v1alpha1.QueuePreemptionStatus{ClaimOpen: true}}, true},
		"open, and below it":            {v1alpha1.QueueStatus{BelowFairShareSince: below, Preemption: &v1alpha1.QueuePreemptionStatus{ClaimOpen: true}}, true},
		"not due yet":                   {v1alpha1.QueueStatus{BelowFairShareSince: below, Preemption: &v1alpha1.QueuePreemptionStatus{}}, false},
		"on the guarantee":              {v1alpha1.QueueStatus{BelowGuaranteedSince: below, Preemption: &v1alpha1.QueuePreemptionStatus{ClaimOpen: true}}, false},
		"none":                          {v1alpha1.QueueStatus{}, false},
	} {
		d, err := Declaration(makeQueue("root.a", func(q *v1alpha1.Queue) { q.Status = tc.status }))
		if err != nil || d.Memory.ClaimsFairShare != tc.claims {
			t.Errorf("%s: read back as %+v, %v", name, d.Memory, err)
		}
	}
}
