package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

// kubeconfig names a server that does not exist: setting up contacts none.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`

// setup sets a scheduler up with the given KubeSchedulerConfiguration; "" is without --config.
func setup(t testing.TB, text string, flags ...string) (*Scheduler, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flags = append(flags, "kubeconfig="+write("kubeconfig", kubeconfig), "leader-elect=false", "secure-port=0")
	if text != "" {
		connection := "clientConnection: {kubeconfig: " + filepath.Join(dir, "kubeconfig") + "}\nleaderElection: {leaderElect: false}\n"
		flags = append(flags, "config="+write("config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+connection+text))
	}
	opts := options.NewOptions()
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		found := false
		for _, fs := range opts.Flags.FlagSets {
			if fs.Lookup(name) != nil {
				found = true
				if err := fs.Set(name, value); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !found {
			t.Fatalf("no flag %s", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return Setup(ctx, opts, Options{})
}

func TestWithoutConfigurationOneProfileHasFairwayEverywhere(t *testing.T) {
	s, err := setup(t, "")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Config.ComponentConfig
	if len(c.Profiles) != 1 || c.Profiles[0].SchedulerName != "fairway" {
		t.Fatalf("profiles %v", c.Profiles)
	}
	if c.ClientConnection.QPS < 1000 {
		t.Errorf("client QPS is %v: binds would be throttled", c.ClientConnection.QPS)
	}
	enabled := s.Scheduler.Profiles["fairway"].ListPlugins()
	if got := enabled.QueueSort.Enabled; len(got) != 1 || got[0].Name != plugin.Name {
		t.Errorf("queue sort is %v", got)
	}
	for _, p := range enabled.PostFilter.Enabled {
		if p.Name == "DefaultPreemption" {
			t.Error("DefaultPreemption is enabled")
		}
	}
	var filters []string
	for _, p := range enabled.Filter.Enabled {
		filters = append(filters, p.Name)
	}
	for _, want := range []string{"NodeResourcesFit", "TaintToleration", "InterPodAffinity", "VolumeBinding"} {
		if !slices.Contains(filters, want) {
			t.Errorf("upstream's filter %s is lost: %v", want, filters)
		}
	}
}

func TestUpstreamFlagsStillWork(t *testing.T) {
	s, err := setup(t, "", "kube-api-qps=7", "kube-api-burst=9", "pod-max-in-unschedulable-pods-duration=1m")
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Config.ComponentConfig.ClientConnection; c.QPS != 7 || c.Burst != 9 {
		t.Errorf("QPS %v, burst %v", c.QPS, c.Burst)
	}
}

const fairwayPlugins = `{multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}`

func TestConfigurationsThatGoAroundTheQueuesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // parts of the refusal; none: accepted
	}{
		"the documented configuration is accepted": {
			"profiles: [{schedulerName: fairway, plugins: " + fairwayPlugins + "}]", nil,
		},
		"two profiles with Fairway are accepted": {
			"profiles: [{schedulerName: fairway, plugins: " + fairwayPlugins + "}, {schedulerName: fairway-packed, plugins: " + fairwayPlugins + "}]", nil,
		},
		"a profile without Fairway is refused": {
			"profiles: [{schedulerName: fairway, plugins: " + fairwayPlugins + "}, {schedulerName: plain}]",
			[]string{`profile "plain"`, "does not enable plugin Fairway", "multiPoint"},
		},
		"a profile that leaves out a point is refused by its name": {
			`profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}, permit: {disabled: [{name: Fairway}]}}}]`,
			[]string{`profile "fairway"`, "at permit"},
		},
		"not at filter": {
			`profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}, filter: {disabled: [{name: Fairway}]}}}]`,
			[]string{`profile "fairway"`, "at filter"},
		},
		"not at postFilter": {
			`profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}, postFilter: {disabled: [{name: Fairway}]}}}]`,
			[]string{`profile "fairway"`, "at postFilter"},
		},
		"PrioritySort beside Fairway is refused": {
			`profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: DefaultPreemption}]}}}]`,
			[]string{`profile "fairway"`, "PrioritySort", "only one"},
		},
		"DefaultPreemption is refused": {
			`profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}]}}}]`,
			[]string{`profile "fairway"`, "DefaultPreemption", "evicts pods of other queues"},
		},
		"GangScheduling is refused": {
			`profiles: [{schedulerName: fairway, plugins: {multiPoint: {enabled: [{name: Fairway}, {name: GangScheduling}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}}]`,
			[]string{`profile "fairway"`, "GangScheduling", "around the queues"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := setup(t, c.text)
			if c.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is missing in: %v", part, err)
				}
			}
		})
	}
}

func TestWhatTheResourceFilterPassesOverIsFoundInEveryProfile(t *testing.T) {
	plugins := `plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}`
	s, err := setup(t, `profiles:
- {schedulerName: fairway, `+plugins+`, pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/foo], ignoredResourceGroups: [example.org]}}]}
- {schedulerName: fairway-plain, `+plugins+`}
- {schedulerName: fairway-packed, `+plugins+`, pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/bar]}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ignoredResources(s.Config.ComponentConfig.Profiles), []string{"example.com/foo", "example.org", "example.com/bar"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
