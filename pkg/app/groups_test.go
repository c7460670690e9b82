package app

import (
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
)

// Beside our own gangs, upstream's scheduling would take pods of a group around the queues.
func TestUpstreamsWayToSchedulePodGroupsIsRefused(t *testing.T) {
	for off, on := range map[string]featuregatetesting.FeatureOverrides{
		"GenericWorkload=false":                      {features.GenericWorkload: true},
		"GangScheduling=false,GenericWorkload=false": {features.GenericWorkload: true, features.GangScheduling: true},
	} {
		t.Run(off, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, on)
			_, err := setup(t, "")
			if want := "start it with --feature-gates=" + off + " (in kube-apiserver"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	if _, err := setup(t, ""); err != nil {
		t.Errorf("without the gates: %v", err)
	}
}
