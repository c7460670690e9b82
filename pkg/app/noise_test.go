package app

import (
	"bytes"
	"os"
	"strings"
	"testing"

	componentmetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// logged is what setting a scheduler up logs.
func logged(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&out)
	defer func() {
		klog.Flush()
		klog.SetOutput(os.Stderr)
		klog.LogToStderr(true)
	}()
	if _, err := setup(t, ""); err != nil {
		t.Fatal(err)
	}
	klog.Flush()
	return out.String()
}

// Upstream reports a manifest that nobody named as an error. What somebody does name is left to it.
func TestAStartReportsNoError(t *testing.T) {
	for line := range strings.Lines(logged(t)) {
		if strings.HasPrefix(line, "E") {
			t.Errorf("logged: %s", line)
		}
	}
	for name, state := range map[string]func(*componentmetrics.Options){
		"a manifest": func(m *componentmetrics.Options) { m.AllowListMappingManifest = "labels.yaml" },
		"a list":     func(m *componentmetrics.Options) { m.AllowListMapping = map[string]string{"metric,label": "value"} },
	} {
		opts := options.NewOptions()
		state(opts.Metrics)
		if applyMetrics(opts); opts.Metrics == nil {
			t.Errorf("%s is not read", name)
		}
	}
}

// The other flags about metrics count as before.
func TestMetricsThatAreDisabledStaySo(t *testing.T) {
	opts := options.NewOptions()
	opts.Metrics.DisabledMetrics = []string{"fairway_test_disabled"}
	applyMetrics(opts)
	if counter := componentmetrics.NewCounter(&componentmetrics.CounterOpts{Name: "fairway_test_disabled"}); legacyregistry.Register(counter) != nil || counter.IsCreated() {
		t.Error("it is there")
	}
}
