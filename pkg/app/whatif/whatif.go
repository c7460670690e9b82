package whatif

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// Options say whose filters to ask, and about which cluster.
type Options struct {
	Profiles []config.KubeSchedulerProfile
	// Plugins are the factories of out-of-tree plugins that the profiles name. A plugin that refuses pods for
	// reasons that exist only in a real attempt must be replaced by one that does not.
	Plugins frameworkruntime.Registry
	Cache   Cache
	// Like is the running scheduler's instance of any profile: what profiles share is shared with it, too.
	Like       fwk.Handle
	Client     kubernetes.Interface
	Informers  informers.SharedInformerFactory
	KubeConfig *rest.Config
	// Pods returns the newest object of a pod; nil if there is none with that UID.
	Pods func(uid string) *v1.Pod
	// Budgets lists the PodDisruptionBudgets of the cluster; nil means there are none.
	Budgets policylisters.PodDisruptionBudgetLister
}

// Cache is the scheduler's cache.
type Cache interface {
	UpdateSnapshot(klog.Logger, *internalcache.Snapshot) error
}

// Frameworks are instances of the profiles that see their own picture of the cluster. Only one goroutine may
// use them.
type Frameworks struct {
	o        Options
	picture  *picture
	profiles map[string]framework.Framework
}

// New builds the instances. The end of ctx ends what their plugins started. The factory must start the
// informers that they need.
func New(ctx context.Context, o Options) (*Frameworks, error) {
	registry := frameworkplugins.NewInTreeRegistry()
	if err := registry.Merge(o.Plugins); err != nil {
		return nil, err
	}
	f := &Frameworks{o: o, picture: newPicture(), profiles: map[string]framework.Framework{}}
	for i := range o.Profiles {
		p := &o.Profiles[i]
		options := []frameworkruntime.Option{
			frameworkruntime.WithClientSet(o.Client),
			frameworkruntime.WithKubeConfig(o.KubeConfig),
			frameworkruntime.WithInformerFactory(o.Informers),
			frameworkruntime.WithSnapshotSharedLister(f.picture),
			frameworkruntime.WithParallelism(1), // the scheduling loop has priority
		}
		if o.Like != nil {
			options = append(options,
				frameworkruntime.WithSharedDRAManager(o.Like.SharedDRAManager()),
				frameworkruntime.WithSharedCSIManager(o.Like.SharedCSIManager()))
		}
		instance, err := frameworkruntime.NewFramework(ctx, registry, p, options...)
		if err != nil {
			return nil, fmt.Errorf("profile %q, for planning: %w", p.SchedulerName, err)
		}
		f.profiles[p.SchedulerName] = instance
	}
	return f, nil
}

// Look brings the picture up to date and returns answers about it. Answers of an earlier look must not be used
// any more.
func (f *Frameworks) Look(ctx context.Context, w preemption.World) (*Answers, error) {
	if err := f.o.Cache.UpdateSnapshot(klog.FromContext(ctx), f.picture.base); err != nil {
		return nil, err
	}
	if err := f.picture.reset(); err != nil {
		return nil, err
	}
	a := &Answers{
		ctx: ctx, f: f, world: w, pods: map[string]*v1.Pod{}, classes: map[asked]*class{}, fitting: map[question]bool{},
		keys: make([]pictureKey, 1), budgets: budgets{lister: f.o.Budgets},
	}
	a.budgets.pod = a.running
	var base change
	for _, uid := range w.Gone {
		a.remove(&base, uid)
	}
	for _, n := range w.Coming {
		a.add(&base, n.UID, n.Node)
	}
	a.budgets.leaving = w.Gone
	return a, nil
}
