package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"sigs.k8s.io/yaml"
)

// profile is one with the arguments given, as YAML in one line; "" states none.
func profileWith(name, args string) string {
	if args != "" {
		args = ", pluginConfig: [{name: Fairway, args: " + args + "}]"
	}
	return "{schedulerName: " + name + ", plugins: " + fairwayPlugins + args + "}"
}

func TestArgsAreThoseOfAnyProfile(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"", "", "20 true 5 1000 5 false"},
		{"{}", "", "20 true 5 1000 5 false"},
		{"{podConditionWritesPerSecond: 7, showUnschedulable: false, unschedulableAfterSeconds: 0, metricsMaxQueues: 3, ledgerChecksPerSecond: 0, checkAccess: true}", "", "7 false 0 3 0 true"},
		{"", "{metricsMaxQueues: 3}", "20 true 5 3 5 false"},
		{"{metricsMaxQueues: 3}", "{metricsMaxQueues: 3, unschedulableAfterSeconds: 5}", "20 true 5 3 5 false"}, // the same, once defaults are filled in
		{"{apiVersion: config.fairway.dev/v1alpha1, kind: FairwayArgs}", "{}", "20 true 5 1000 5 false"},
	} {
		s, err := setup(t, "profiles: ["+profileWith("fairway", c.first)+", "+profileWith("fairway-packed", c.second)+"]")
		if err != nil {
			t.Errorf("%q, %q: %v", c.first, c.second, err)
			continue
		}
		a := s.args
		got := fmt.Sprint(*a.PodConditionWritesPerSecond, *a.ShowUnschedulable, *a.UnschedulableAfterSeconds, *a.MetricsMaxQueues, *a.LedgerChecksPerSecond, *a.CheckAccess)
		if got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.first, c.second, got, c.want)
		}
	}
	if s, err := setup(t, ""); err != nil || *s.args.MetricsMaxQueues != 1000 {
		t.Errorf("without --config: %v, %v", s, err)
	}
}

func TestTheInstalledConfigurationIsAccepted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "manifests", "scheduler", "configuration.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Data map[string]string }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	_, profiles, found := strings.Cut(file.Data["config.yaml"], "\nprofiles:")
	if !found {
		t.Fatal("it has no profiles")
	}
	if _, err := setup(t, "profiles:"+profiles); err != nil {
		t.Error(err)
	}
}

// --write-config-to writes what is in force, in a form that can be read again.
func TestArgsInForceAreWritten(t *testing.T) {
	s, err := setup(t, "profiles: ["+profileWith("fairway", "{metricsMaxQueues: 3}")+", "+profileWith("fairway-packed", "")+"]")
	if err != nil {
		t.Fatal(err)
	}
	info, _ := runtime.SerializerInfoForMediaType(configscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	text, err := runtime.Encode(configscheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion), &s.Config.ComponentConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind: FairwayArgs", "metricsMaxQueues: 3", "podConditionWritesPerSecond: 20", "showUnschedulable: true"} {
		if n := strings.Count(string(text), want); n != 2 {
			t.Errorf("%q stands there %d times, want once for each profile:\n%s", want, n, text)
		}
	}
	_, profiles, _ := strings.Cut(string(text), "\nprofiles:")
	again, err := setup(t, "profiles:"+profiles)
	if err != nil || *again.args.MetricsMaxQueues != 3 {
		t.Errorf("read again: %v", err)
	}
}

func TestWrongArgsAreRefused(t *testing.T) {
	for _, c := range []struct {
		first, second string
		want          []string
	}{
		{"{metricsMaxQueue: 3}", "", []string{`profile "fairway": profiles[0].pluginConfig[0].args`, `unknown field "metricsMaxQueue"`, "allowed are podConditionWritesPerSecond, showUnschedulable, unschedulableAfterSeconds, metricsMaxQueues, ledgerChecksPerSecond, checkAccess, nodeLocalityDelay, rackLocalityDelay, rackTopologyKey, largePodPatienceSeconds"}},
		{"{podConditionWritesPerSecond: many}", "", []string{`profile "fairway": profiles[0].pluginConfig[0].args`, "podConditionWritesPerSecond"}},
		{"", "{podConditionWritesPerSecond: 0}", []string{`profile "fairway-packed": profiles[1].pluginConfig[0].args.podConditionWritesPerSecond`, "must be from 1 to 1000"}},
		{"{kind: Args}", "", []string{"args.kind", "FairwayArgs"}},
		{"{metricsMaxQueues: 3}", "{metricsMaxQueues: 4}", []string{`profiles "fairway" and "fairway-packed" state different args`, "the same in all"}},
		{"{}", "{showUnschedulable: false}", []string{"state different args"}},
	} {
		_, err := setup(t, "profiles: ["+profileWith("fairway", c.first)+", "+profileWith("fairway-packed", c.second)+"]")
		if err == nil {
			t.Errorf("%q, %q: accepted", c.first, c.second)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is missing in: %v", part, err)
			}
		}
	}
}
