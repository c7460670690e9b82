package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of the numbers.
const (
	maxPodConditionWritesPerSecond int32 = 1000 // as many requests as the scheduler's client sends in all
	maxUnschedulableAfterSeconds   int32 = 3600
	maxMetricsMaxQueues            int32 = 100_000
	maxLedgerChecksPerSecond       int32 = 100
	maxLocalityDelay               int32 = 100_000
	maxLargePodPatienceSeconds     int32 = 3600
)

// Validate returns what is wrong with arguments whose defaults are set; at is where they stand in the configuration.
func Validate(a *FairwayArgs, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if a.APIVersion != "" && a.APIVersion != GroupVersion {
		errs = append(errs, field.NotSupported(at.Child("apiVersion"), a.APIVersion, []string{GroupVersion}))
	}
	if a.Kind != "" && a.Kind != Kind {
		errs = append(errs, field.NotSupported(at.Child("kind"), a.Kind, []string{Kind}))
	}
	within := func(name string, value, least, most int32) {
		if value < least || value > most {
			errs = append(errs, field.Invalid(at.Child(name), value, fmt.Sprintf("must be from %d to %d", least, most)))
		}
	}
	within("podConditionWritesPerSecond", *a.PodConditionWritesPerSecond, 1, maxPodConditionWritesPerSecond)
	within("unschedulableAfterSeconds", *a.UnschedulableAfterSeconds, 0, maxUnschedulableAfterSeconds)
	within("metricsMaxQueues", *a.MetricsMaxQueues, 0, maxMetricsMaxQueues)
	within("ledgerChecksPerSecond", *a.LedgerChecksPerSecond, 0, maxLedgerChecksPerSecond)
	within("nodeLocalityDelay", *a.NodeLocalityDelay, -1, maxLocalityDelay)
	within("rackLocalityDelay", *a.RackLocalityDelay, -1, maxLocalityDelay)
	within("largePodPatienceSeconds", *a.LargePodPatienceSeconds, 0, maxLargePodPatienceSeconds)
	for _, wrong := range validation.IsQualifiedName(*a.RackTopologyKey) {
		errs = append(errs, field.Invalid(at.Child("rackTopologyKey"), *a.RackTopologyKey, wrong))
	}
	return errs
}
