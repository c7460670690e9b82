package feed

import (
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// elsewhere is what pods get on nodes that do not list it (see ledger.ObserveUnlisted).
type elsewhere struct {
	mu      sync.Mutex
	ignored []string                   // by configuration: resources and groups of them
	classes map[string][]resource.Name // by name of the DeviceClass
}

// IgnoreResources names the resources, and groups of resources, that the filters of every profile ignore.
func (f *Feed) IgnoreResources(names []string) {
	f.elsewhere.mu.Lock()
	defer f.elsewhere.mu.Unlock()
	f.elsewhere.ignored = names
	f.tellElsewhere()
}

// DeviceClasses is the handler for the informer of DeviceClasses: pods may ask for their devices as for a resource of a node.
func (f *Feed) DeviceClasses() cache.ResourceEventHandler {
	return handler(func(c *resourcev1.DeviceClass) {
		names := []resource.Name{resource.Name(resourcev1.ResourceDeviceClassPrefix + c.Name)}
		if c.Spec.ExtendedResourceName != nil {
			names = append(names, resource.Name(*c.Spec.ExtendedResourceName))
		}
		f.deviceClass(c.Name, names)
	}, func(c *resourcev1.DeviceClass) { f.deviceClass(c.Name, nil) })
}

func (f *Feed) deviceClass(class string, names []resource.Name) {
	f.elsewhere.mu.Lock()
	if f.elsewhere.classes == nil {
		f.elsewhere.classes = map[string][]resource.Name{}
	}
	if names == nil {
		delete(f.elsewhere.classes, class)
	} else {
		f.elsewhere.classes[class] = names
	}
	f.tellElsewhere()
	f.elsewhere.mu.Unlock()
	f.Kick()
}

func (f *Feed) tellElsewhere() {
	all := map[resource.Name]bool{}
	for _, name := range f.elsewhere.ignored {
		all[resource.Name(name)] = true
	}
	for _, names := range f.elsewhere.classes { // into a set: order does not matter
		for _, name := range names {
			all[name] = true
		}
	}
	f.Ledger.ObserveUnlisted(all)
}
