package app

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"sigs.k8s.io/yaml"

	configv1alpha1 "github.com/fairway-scheduler/fairway/pkg/apis/config/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

// shareArgs writes the complete arguments into every profile: upstream requires the arguments of the one queue
// sort to be equal in all profiles, and --write-config-to writes what is in force.
func shareArgs(profiles []config.KubeSchedulerProfile) (*configv1alpha1.FairwayArgs, error) {
	args, err := argsOf(profiles)
	if err != nil {
		return nil, err
	}
	full := *args
	full.APIVersion, full.Kind = configv1alpha1.GroupVersion, configv1alpha1.Kind
	raw, err := json.Marshal(full)
	if err != nil {
		return nil, err
	}
	shared := config.PluginConfig{Name: plugin.Name, Args: &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}}
	for i := range profiles {
		p := &profiles[i]
		if at := indexOfArgs(p); at >= 0 {
			p.PluginConfig[at] = shared
		} else {
			p.PluginConfig = append(p.PluginConfig, shared)
		}
	}
	return args, nil
}

func indexOfArgs(p *config.KubeSchedulerProfile) int {
	return slices.IndexFunc(p.PluginConfig, func(c config.PluginConfig) bool { return c.Name == plugin.Name })
}

// argsOf returns the arguments of plugin Fairway with every default filled in. All profiles share one ledger,
// so the arguments of all profiles that state any must mean the same.
func argsOf(profiles []config.KubeSchedulerProfile) (*configv1alpha1.FairwayArgs, error) {
	var args *configv1alpha1.FairwayArgs
	var from string
	for i := range profiles {
		p := &profiles[i]
		at := indexOfArgs(p)
		if at < 0 {
			continue
		}
		path := field.NewPath("profiles").Index(i).Child("pluginConfig").Index(at).Child("args")
		own, err := decodeArgs(p.PluginConfig[at].Args, path)
		if err != nil {
			return nil, fmt.Errorf("profile %q: %w", p.SchedulerName, err)
		}
		if args != nil && !reflect.DeepEqual(args, own) {
			return nil, fmt.Errorf("profiles %q and %q state different args for plugin %s, and all profiles share one: "+
				"state them in one profile, or the same in all", from, p.SchedulerName, plugin.Name)
		}
		args, from = own, p.SchedulerName
	}
	if args == nil {
		args = &configv1alpha1.FairwayArgs{}
		configv1alpha1.SetDefaults(args)
	}
	return args, nil
}

func decodeArgs(stated runtime.Object, at *field.Path) (*configv1alpha1.FairwayArgs, error) {
	args := &configv1alpha1.FairwayArgs{}
	switch raw := stated.(type) {
	case nil:
	case *runtime.Unknown:
		if err := yaml.UnmarshalStrict(raw.Raw, args); err != nil {
			return nil, fmt.Errorf("%s: %w; allowed are %s", at, err, strings.Join(argNames(), ", "))
		}
	default:
		return nil, fmt.Errorf("%s: is a %T, not %s", at, stated, configv1alpha1.Kind)
	}
	configv1alpha1.SetDefaults(args)
	if err := configv1alpha1.Validate(args, at).ToAggregate(); err != nil {
		return nil, err
	}
	args.APIVersion, args.Kind = "", "" // arguments with and without them mean the same
	return args, nil
}

// argNames are the fields of the arguments as users write them.
func argNames() (names []string) {
	t := reflect.TypeFor[configv1alpha1.FairwayArgs]()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
