package app

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

// Client limits of the default configuration. Upstream's limit of 50 requests a second would cap the
// throughput at 50 binds a second; an API server on a small machine takes about 1,200. The API server's own
// fairness protects it from us, so the limit only stops a runaway.
const (
	clientQPS   = 1000
	clientBurst = 2000
)

// leaderLease keeps fairway-scheduler and a kube-scheduler in the same cluster from electing one leader
// between them.
const leaderLease = "fairway-scheduler"

// Default is the configuration without --config: upstream's defaults, with one profile "fairway" that has the
// plugin at every point, without PrioritySort (all profiles share one queue sort, ours) and without
// DefaultPreemption (it would evict across queues by priority).
func Default() (*config.KubeSchedulerConfiguration, error) {
	c, err := latest.Default()
	if err != nil {
		return nil, err
	}
	c.ClientConnection.QPS, c.ClientConnection.Burst = clientQPS, clientBurst
	c.LeaderElection.ResourceName = leaderLease
	p := &c.Profiles[0]
	p.SchedulerName = v1alpha1.SchedulerName
	p.Plugins.MultiPoint.Enabled = slices.DeleteFunc(p.Plugins.MultiPoint.Enabled, func(e config.Plugin) bool {
		return e.Name == names.PrioritySort || e.Name == names.DefaultPreemption
	})
	p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, config.Plugin{Name: plugin.Name})
	return c, nil
}

// needs are the extension points at which every profile must enable Fairway, and how to read them from a built
// profile.
var needs = []struct {
	point string
	set   func(*config.Plugins) config.PluginSet
}{
	{"queueSort", func(p *config.Plugins) config.PluginSet { return p.QueueSort }},
	{"preEnqueue", func(p *config.Plugins) config.PluginSet { return p.PreEnqueue }},
	{"preFilter", func(p *config.Plugins) config.PluginSet { return p.PreFilter }},
	{"filter", func(p *config.Plugins) config.PluginSet { return p.Filter }},
	{"postFilter", func(p *config.Plugins) config.PluginSet { return p.PostFilter }},
	{"reserve", func(p *config.Plugins) config.PluginSet { return p.Reserve }},
	{"permit", func(p *config.Plugins) config.PluginSet { return p.Permit }},
}

// howTo is the end of every refusal of a configuration.
const howTo = `; in the KubeSchedulerConfiguration give each profile
  plugins:
    multiPoint:
      enabled: [{name: Fairway}]
      disabled: [{name: PrioritySort}, {name: DefaultPreemption}]`

// checkProfiles refuses profiles that would break the queues silently, because they go around them or preempt
// across them.
func checkProfiles(profiles profile.Map) error {
	var all []string
	for name := range profiles {
		all = append(all, name)
	}
	slices.Sort(all)
	for _, name := range all {
		enabled := profiles[name].ListPlugins()
		var missing []string
		for _, n := range needs {
			if !has(n.set(enabled), plugin.Name) {
				missing = append(missing, n.point)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("profile %q does not enable plugin %s at %s: its pods would go around the queues%s",
				name, plugin.Name, strings.Join(missing, ", "), howTo)
		}
		if has(enabled.PostFilter, names.DefaultPreemption) {
			return fmt.Errorf("profile %q enables plugin %s, which evicts pods of other queues by priority alone%s",
				name, names.DefaultPreemption, howTo)
		}
		if has(enabled.Permit, names.GangScheduling) {
			return fmt.Errorf("profile %q enables plugin %s, which starts pod groups in its own way, around the queues: "+
				"Fairway starts them together by itself%s", name, names.GangScheduling, howTo)
		}
	}
	return nil
}

func has(s config.PluginSet, name string) bool {
	return slices.ContainsFunc(s.Enabled, func(p config.Plugin) bool { return p.Name == name })
}

// checkQueueSort says before anything is built, and more clearly than upstream, that all profiles share one
// queue sort, which must be ours.
func checkQueueSort(profiles []config.KubeSchedulerProfile) error {
	for i := range profiles {
		p := &profiles[i]
		enables := func(name string) bool {
			return p.Plugins != nil && (has(p.Plugins.MultiPoint, name) || has(p.Plugins.QueueSort, name))
		}
		if !enables(plugin.Name) {
			return fmt.Errorf("profile %q does not enable plugin %s: its pods would go around the queues%s", p.SchedulerName, plugin.Name, howTo)
		}
		if enables(names.PrioritySort) {
			return fmt.Errorf("profile %q enables plugin %s beside %s, and there can be only one queue sort%s",
				p.SchedulerName, names.PrioritySort, plugin.Name, howTo)
		}
	}
	return nil
}

// ignoredResources are the resources, and groups of resources, that the resource filter of some profile
// ignores. If only some profiles ignore one, pods get an attempt too many, never one too few.
func ignoredResources(profiles []config.KubeSchedulerProfile) (names []string) {
	for i := range profiles {
		for _, c := range profiles[i].PluginConfig {
			if args, ok := c.Args.(*config.NodeResourcesFitArgs); ok {
				names = slices.Concat(names, args.IgnoredResources, args.IgnoredResourceGroups)
			}
		}
	}
	return names
}
