package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func decoded(t *testing.T, text string) *FairwayArgs {
	t.Helper()
	a := &FairwayArgs{}
	if err := json.Unmarshal([]byte(text), a); err != nil {
		t.Fatal(err)
	}
	SetDefaults(a)
	return a
}

func TestDefaultsFillWhatIsNotStated(t *testing.T) {
	show := func(a *FairwayArgs) string {
		return fmt.Sprint(*a.PodConditionWritesPerSecond, *a.ShowUnschedulable, *a.UnschedulableAfterSeconds, *a.MetricsMaxQueues, *a.LedgerChecksPerSecond, *a.CheckAccess,
			*a.NodeLocalityDelay, *a.RackLocalityDelay, *a.RackTopologyKey, *a.LargePodPatienceSeconds)
	}
	for text, want := range map[string]string{
		`{}`: "20 true 5 1000 5 false 40 -1topology.kubernetes.io/rack15",
		`{"podConditionWritesPerSecond":1,"showUnschedulable":false,"unschedulableAfterSeconds":0,"metricsMaxQueues":0,"ledgerChecksPerSecond":0,"checkAccess":true}`: "1 false 0 0 0 true 40 -1topology.kubernetes.io/rack15",
		`{"metricsMaxQueues":7}`:        "20 true 5 7 5 false 40 -1topology.kubernetes.io/rack15",
		`{"largePodPatienceSeconds":0}`: "20 true 5 1000 5 false 40 -1topology.kubernetes.io/rack0",
		`{"nodeLocalityDelay":-1,"rackLocalityDelay":0,"rackTopologyKey":"example.com/rack"}`: "20 true 5 1000 5 false -1 0example.com/rack15",
	} {
		if got := show(decoded(t, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestValidationNamesFieldAndBounds(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // one for each error
	}{
		{`{}`, nil},
		{`{"apiVersion":"config.fairway.dev/v1alpha1","kind":"FairwayArgs"}`, nil},
		{`{"podConditionWritesPerSecond":1000,"unschedulableAfterSeconds":3600,"metricsMaxQueues":100000,"ledgerChecksPerSecond":100}`, nil},
		{`{"ledgerChecksPerSecond":101}`, []string{`args.ledgerChecksPerSecond: Invalid value: 101: must be from 0 to 100`}},
		{`{"nodeLocalityDelay":-2,"rackLocalityDelay":100001}`, []string{
			`args.nodeLocalityDelay: Invalid value: -2: must be from -1 to 100000`, `args.rackLocalityDelay: Invalid value: 100001`}},
		{`{"largePodPatienceSeconds":3601}`, []string{`args.largePodPatienceSeconds: Invalid value: 3601: must be from 0 to 3600`}},
		{`{"rackTopologyKey":"a rack"}`, []string{`args.rackTopologyKey: Invalid value: "a rack"`}},
		{`{"podConditionWritesPerSecond":0}`, []string{`args.podConditionWritesPerSecond: Invalid value: 0: must be from 1 to 1000`}},
		{`{"podConditionWritesPerSecond":1001}`, []string{`args.podConditionWritesPerSecond: Invalid value: 1001`}},
		{`{"unschedulableAfterSeconds":-1,"metricsMaxQueues":-1}`, []string{
			`args.unschedulableAfterSeconds: Invalid value: -1: must be from 0 to 3600`, `args.metricsMaxQueues: Invalid value: -1: must be from 0 to 100000`}},
		{`{"unschedulableAfterSeconds":3601,"metricsMaxQueues":100001}`, []string{`args.unschedulableAfterSeconds`, `args.metricsMaxQueues`}},
		{`{"apiVersion":"v1","kind":"Args"}`, []string{`args.apiVersion: Unsupported value: "v1": supported values: "config.fairway.dev/v1alpha1"`,
			`args.kind: Unsupported value: "Args": supported values: "FairwayArgs"`}},
	} {
		errs := Validate(decoded(t, c.text), field.NewPath("args"))
		if len(errs) != len(c.want) {
			t.Errorf("%s: %v, want %d errors", c.text, errs, len(c.want))
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(errs[i].Error(), want) {
				t.Errorf("%s: %v, want %q", c.text, errs[i], want)
			}
		}
	}
}
