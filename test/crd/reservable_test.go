package crd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

const (
	wantWindow      = "must be a duration from 1m to 2160h in hours, minutes and seconds, such as 24h"
	wantEnforcement = "must be a duration from 0s to 2160h in hours, minutes and seconds, such as 1h"
	wantPart        = `must be a percentage from 0% to 100% with at most two decimals, such as "12.5%"`
	wantBelowRoot   = "spec.reservable: Invalid value: is for queues below root, at most 11 levels deep, root included: the pods of the queue go to queues below it"
)

func TestRefusalsOfReservableQueues(t *testing.T) {
	deep := "root" + strings.Repeat(".a", 11)
	cases := map[string]refusal{
		"root":                      {"root", "{reservable: true}", []string{wantBelowRoot}},
		"12 levels":                 {deep, "{reservable: true}", []string{wantBelowRoot}},
		"a queue for children":      {"root.a", "{reservable: true, children: {}}", []string{"spec.children: Invalid value: a reservable queue is for pods: remove children"}},
		"settings without the word": {"root.a", "{reservations: {}}", []string{"spec.reservations: Invalid value: is for queues that state reservable: true"}},
		"settings with false":       {"root.a", "{reservable: false, reservations: {}}", []string{"spec.reservations: Invalid value: is for queues that state reservable: true"}},
	}
	refuse := func(field, value, want string) {
		cases[field+" "+value] = refusal{"root.a", fmt.Sprintf("{reservable: true, reservations: {%s: %s}}", field, value),
			[]string{fmt.Sprintf("spec.reservations.%s: Invalid value: %s: %s", field, value, want)}}
	}
	for _, value := range []string{`""`, `"59s"`, `"2160h1s"`, `"500ms"`, `"-5m"`, `"1.5h"`, `"30s5m"`, `"60"`, `"never"`} {
		refuse("window", value, wantWindow)
	}
	for _, value := range []string{`""`, `"2160h1s"`, `"500ms"`, `"-5m"`, `"60"`} {
		refuse("enforcementWindow", value, wantEnforcement)
	}
	for _, value := range []string{`"100.01%"`, `"-1%"`, `"12.345%"`, `"50"`, `"half"`, `""`} {
		refuse("averageShare", value, wantPart)
		refuse("instantaneousShare", value, wantPart)
	}
	checkRefusals(t, cases)
}

func TestAcceptedReservableQueues(t *testing.T) {
	ctx := needCluster(t)
	for name, tc := range map[string]struct{ queue, spec string }{
		"the word alone":         {"root.a", "{reservable: true}"},
		"no":                     {"root.a", "{reservable: false}"},
		"11 levels":              {"root" + strings.Repeat(".a", 10), "{reservable: true}"},
		"all settings":           {"root.a", `{reservable: true, reservations: {window: 1h30m, averageShare: 12.5%, instantaneousShare: 80%, enforcementWindow: 30m, moveOnExpiry: false}}`},
		"the smallest":           {"root.a", `{reservable: true, reservations: {window: 1m, averageShare: 0%, instantaneousShare: 0.01%, enforcementWindow: 0s}}`},
		"the largest":            {"root.a", `{reservable: true, reservations: {window: 2160h, averageShare: 100%, instantaneousShare: 100.00%, enforcementWindow: 2160h}}`},
		"settings of its pods":   {"root.a", `{reservable: true, policy: StateAware, maxStarting: 2, users: {minSharePercent: 25}, preemption: {guaranteedTimeout: 30s}}`},
		"what shares by percent": {"root.a", `{reservable: true, capacity: 40%, maxCapacity: 60%}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := create(ctx, t, object(t, tc.queue, tc.spec)); err != nil {
				t.Error(err)
			}
		})
	}
}

// The queue of a Reservation cannot be changed, what is not stated has its default, and the status is a subresource.
func TestAStoredReservation(t *testing.T) {
	ctx := needCluster(t)
	r := object(t, "night", `{queue: root.a, arrival: "2030-01-01T02:00:00Z", deadline: "2030-01-01T06:00:00Z", requests: [{pods: 4, resources: {cpu: 2}, duration: 1h}]}`)
	r.SetKind("Reservation")
	r.SetNamespace("default")
	all := reservationClient(t)
	stored, err := all.Create(ctx, r, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Delete(context.Background(), "night", metav1.DeleteOptions{}) })
	interpreter, _, _ := unstructured.NestedString(stored.Object, "spec", "interpreter")
	requests, _, _ := unstructured.NestedSlice(stored.Object, "spec", "requests")
	if interpreter != "All" || requests[0].(map[string]any)["concurrency"] != int64(1) {
		t.Errorf("the defaults are %s and %v", interpreter, requests)
	}
	moved := stored.DeepCopy()
	_ = unstructured.SetNestedField(moved.Object, "root.b", "spec", "queue")
	want := `spec.queue: Invalid value: "root.b": cannot be changed: delete the Reservation and create another one`
	if _, err := all.Update(ctx, moved, metav1.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("another queue: %v", err)
	}
	later := stored.DeepCopy()
	_ = unstructured.SetNestedField(later.Object, "2030-01-01T07:00:00Z", "spec", "deadline")
	_ = unstructured.SetNestedField(later.Object, "Ended", "status", "phase")
	if later, err = all.Update(ctx, later, metav1.UpdateOptions{}); err != nil || later.GetGeneration() != 2 || later.Object["status"] != nil {
		t.Errorf("another deadline: %v, generation %d, status %v", err, later.GetGeneration(), later.Object["status"])
	}
	said := later.DeepCopy()
	_ = unstructured.SetNestedField(said.Object, "Over", "status", "phase")
	want = `status.phase: Unsupported value: "Over": supported values: "Pending", "Accepted", "Rejected", "Active", "Ended", "Cancelled"`
	if _, err := all.UpdateStatus(ctx, said, metav1.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("another phase: %v", err)
	}
	_ = unstructured.SetNestedField(said.Object, string(v1alpha1.ReservationActive), "status", "phase")
	if said, err = all.UpdateStatus(ctx, said, metav1.UpdateOptions{}); err != nil || said.GetGeneration() != 2 {
		t.Errorf("a status: %v, generation %d", err, said.GetGeneration())
	}
	out, err := kubectl(ctx, "get", "fr", "-n", "default")
	if err != nil || !strings.Contains(out, "QUEUE") || !strings.Contains(out, "root.a") || !strings.Contains(out, "Active") {
		t.Errorf("kubectl get fr: %v\n%s", err, out)
	}
}

func reservationClient(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	c, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c.Resource(v1alpha1.ReservationResource).Namespace("default")
}
