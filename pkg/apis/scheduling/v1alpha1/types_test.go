package v1alpha1

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestSchemeKnowsTheTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Queue", "QueueList", "PlacementPolicy", "PlacementPolicyList", "Reservation", "ReservationList"} {
		if _, err := scheme.New(GroupVersion.WithKind(kind)); err != nil {
			t.Error(err)
		}
	}
	if got := Resource("queues").String(); got != "queues.scheduling.fairway.dev" {
		t.Errorf("the resource is %s", got)
	}
}

// A Queue made in Go states only what was set: nothing unset may arrive as a zero, least of all a weight.
func TestUnsetFieldsAreNotStated(t *testing.T) {
	text, err := json.Marshal(&Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.a"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"name":"root.a"},"spec":{},"status":{"applications":{"pending":0,"starting":0,"running":0},"pods":{"pending":0,"running":0}}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// A number is kept digit by digit, also where 32 bits or a float would not hold it.
func TestAmountsKeepTheirText(t *testing.T) {
	var amounts Amounts
	in := `{"cpu":8,"example.com/gpu":"12.5%","memory":9223372036854775807,"ephemeral-storage":"64Gi"}`
	if err := json.Unmarshal([]byte(in), &amounts); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(amounts)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"cpu":"8","ephemeral-storage":"64Gi","example.com/gpu":"12.5%","memory":"9223372036854775807"}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	for _, bad := range []string{`{"cpu":true}`, `{"cpu":{}}`, `{"cpu":[1]}`} {
		if err := json.Unmarshal([]byte(bad), &amounts); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
