package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	componentmetrics "k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	schedulerserverconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	configv1alpha1 "github.com/fairway-scheduler/fairway/pkg/apis/config/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/controllers/reservations"
	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/dispatch"
	"github.com/fairway-scheduler/fairway/pkg/kube/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/kube/optional"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/metrics"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
	"github.com/fairway-scheduler/fairway/pkg/turnstile"
)

// Options are for programs that embed the scheduler: tests and benchmarks.
type Options struct {
	Ledger ledger.Options
	// Recheck is after how long access is checked again; 0 is the default.
	Recheck time.Duration
}

// Scheduler is kube-scheduler with Fairway in it, ready to run.
type Scheduler struct {
	Config    *schedulerserverconfig.CompletedConfig
	Scheduler *scheduler.Scheduler
	Ledger    *ledger.Ledger

	args       *configv1alpha1.FairwayArgs // arguments of the plugin: no field is nil
	metrics    *metrics.Recorder
	feed       *feed.Feed
	turnstile  *turnstile.Turnstile
	dispatcher *dispatch.Dispatcher
	plugin     *plugin.Plugin
	kick       writing.Trigger
	synced     []cache.InformerSynced
	dynamic    dynamic.Interface
	podGroups  *optional.Informer // scheduler-plugins'
	placement  *optional.Informer // the PlacementPolicy
	booked     *optional.Informer // Reservations
	follower   *reservations.Controller
	leadership *leadership
	owners     ownerWatch
	planner    *planner
	access     *access.Checker // nil: access is not checked
	review     access.Review   // nil, too
}

// applyMetrics does what opts.Config does with the flags about metrics, if no labels are bounded: upstream would try to read a
// manifest that nobody named, and log an error at every start.
func applyMetrics(opts *options.Options) {
	m := opts.Metrics
	if m == nil || m.AllowListMapping != nil || m.AllowListMappingManifest != "" {
		return
	}
	if m.ShowHiddenMetricsForVersion != "" {
		componentmetrics.SetShowHidden()
	}
	componentmetrics.SetDisabledMetrics(m.DisabledMetrics)
	opts.Metrics = nil // Config applies nothing more
}

func configureLedger(o *ledger.Options, args *configv1alpha1.FairwayArgs, extenders bool) {
	o.Clock = monotonic
	o.Journal = max(o.Journal, stepsKept)
	o.Extenders = extenders
	o.Delay = locality.Delay{Node: *args.NodeLocalityDelay, Rack: *args.RackLocalityDelay}
	if !extenders { // they may know of other room
		o.LargePodPatience = int64(*args.LargePodPatienceSeconds) * int64(time.Second)
	}
}

// Setup does what upstream's app.Setup does, with Fairway in it. It starts nothing; app.Run starts the
// informers.
func Setup(ctx context.Context, opts *options.Options, o Options) (*Scheduler, error) {
	defaults, err := Default()
	if err != nil {
		return nil, err
	}
	opts.ComponentConfig = defaults
	if errs := opts.Validate(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	applyMetrics(opts)
	c, err := opts.Config(ctx)
	if err != nil {
		return nil, err
	}
	cc := c.Complete()
	if err := checkGates(utilfeature.DefaultFeatureGate); err != nil {
		return nil, err
	}
	if err := checkQueueSort(cc.ComponentConfig.Profiles); err != nil {
		return nil, err
	}
	args, err := shareArgs(cc.ComponentConfig.Profiles)
	if err != nil {
		return nil, err
	}
	configureLedger(&o.Ledger, args, len(cc.ComponentConfig.Extenders) > 0)
	var l *leadership
	if cc.LeaderElection != nil {
		l = guard(cc.LeaderElection)
		if cc.Client, err = fencedClient(cc.KubeConfig, l); err != nil {
			return nil, err
		}
	}
	s := &Scheduler{leadership: l, args: args, Config: &cc, Ledger: ledger.New(o.Ledger), kick: writing.NewTrigger()}
	s.metrics = metrics.New(s.Ledger, metrics.Options{MaxQueues: int(*args.MetricsMaxQueues)})
	s.feed = &feed.Feed{
		Ledger: s.Ledger, Now: now, Kick: s.Kick, Ours: s.ours, Gate: s.gate,
		Classes: &feed.Classes{Single: o.Ledger.Extenders}, RackKey: *args.RackTopologyKey,
	}
	s.feed.IgnoreResources(ignoredResources(cc.ComponentConfig.Profiles))
	s.turnstile = turnstile.New(s.feed, s.holds)
	s.observeAgain(ctx)
	s.plugin = plugin.New(s.Ledger, now, s.Kick)
	s.dispatcher = &dispatch.Dispatcher{
		Ledger: s.Ledger, Port: s.turnstile, Reject: s.plugin.Reject, Allow: s.plugin.Allow, Released: s.metrics.Released,
	}
	var profiles []config.KubeSchedulerProfile
	if s.Scheduler, profiles, err = s.build(ctx); err != nil {
		return nil, err
	}
	if err := checkProfiles(s.Scheduler.Profiles); err != nil {
		return nil, err
	}
	if err := s.turnstile.Check(); err != nil {
		return nil, err
	}
	if err := s.watch(); err != nil {
		return nil, err
	}
	if err := s.buildPlanner(ctx); err != nil {
		return nil, err
	}
	if err := s.buildAccess(o.Recheck); err != nil {
		return nil, err
	}
	if err := s.buildFollower(); err != nil {
		return nil, err
	}
	s.wrap()
	metrics.Show(s.metrics)
	return s, options.LogOrWriteConfig(klog.FromContext(ctx), opts.WriteConfigTo, &cc.ComponentConfig, profiles)
}

// observeAgain has the feed see pods again when something beside them has changed that counts for them.
func (s *Scheduler) observeAgain(ctx context.Context) {
	s.feed.Classes.Relabel = func() { go s.turnstile.Reobserve(func(*v1.Pod) bool { return true }) }
	s.feed.Resized = s.turnstile.ReobserveOwned
	s.feed.Created = func(by types.UID) { go s.turnstile.ReobserveOwned(by) }
	s.feed.Reserved = func(namespace, name string) {
		go s.turnstile.Reobserve(func(p *v1.Pod) bool { return p.Namespace == namespace && p.Labels[v1alpha1.KeyReservation] == name })
	}
	s.feed.WantOwners = func() {
		if err := s.owners.start(ctx, s.Config.Client, s.Config.InformerFactory, s.feed.Owners()); err != nil {
			klog.FromContext(ctx).Error(err, "Watching owners of pods")
		}
	}
}

// build is upstream's call of scheduler.New, with the turnstile's informer factory, the placing client and our plugin.
func (s *Scheduler) build(ctx context.Context) (*scheduler.Scheduler, []config.KubeSchedulerProfile, error) {
	cc := s.Config
	registry := frameworkruntime.Registry{plugin.Name: s.plugin.Build}
	var profiles []config.KubeSchedulerProfile
	sched, err := scheduler.New(ctx,
		placingClient{cc.Client, s},
		claimFactory{s.turnstile.Factory(cc.InformerFactory), s.claimChanged},
		cc.DynInformerFactory,
		func(name string) events.EventRecorderLogger { return cc.EventBroadcaster.NewRecorder(name) },
		scheduler.WithComponentConfigVersion(cc.ComponentConfig.APIVersion),
		scheduler.WithKubeConfig(cc.KubeConfig),
		scheduler.WithProfiles(cc.ComponentConfig.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cc.ComponentConfig.PercentageOfNodesToScore),
		scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithPodMaxBackoffSeconds(cc.ComponentConfig.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(cc.ComponentConfig.PodInitialBackoffSeconds),
		scheduler.WithPodMaxInUnschedulablePodsDuration(cc.PodMaxInUnschedulablePodsDuration),
		scheduler.WithExtenders(cc.ComponentConfig.Extenders...),
		scheduler.WithParallelism(cc.ComponentConfig.Parallelism),
		scheduler.WithBuildFrameworkCapturer(func(p config.KubeSchedulerProfile) { profiles = append(profiles, p) }),
	)
	return sched, profiles, err
}

// watch feeds nodes, Queues and pod groups to the ledger. Pods go through the turnstile.
func (s *Scheduler) watch() error {
	nodes, err := s.Config.InformerFactory.Core().V1().Nodes().Informer().AddEventHandler(s.feed.Nodes())
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	queues, err := s.Config.DynInformerFactory.ForResource(v1alpha1.QueueResource).Informer().AddEventHandler(s.feed.Queues())
	if err != nil {
		return fmt.Errorf("watching Queues: %w", err)
	}
	s.synced = []cache.InformerSynced{nodes.HasSynced, queues.HasSynced, s.owners.hasSynced} // in this order: queues need owners
	if err := s.watchDeviceClasses(); err != nil {
		return fmt.Errorf("watching DeviceClasses: %w", err)
	}
	// It has a client of its own, so that statuses and binds do not wait for each other.
	if s.dynamic, err = dynamic.NewForConfig(fenced(s.Config.KubeConfig, s.leadership)); err != nil {
		return err
	}
	return s.watchOptional()
}

// watchDeviceClasses tells the ledger which devices pods may request although no node lists them.
func (s *Scheduler) watchDeviceClasses() error {
	if !utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource) {
		return nil
	}
	classes, err := s.Config.InformerFactory.Resource().V1().DeviceClasses().Informer().AddEventHandler(s.feed.DeviceClasses())
	if err == nil {
		s.synced = append(s.synced, classes.HasSynced)
	}
	return err
}

func now() int64 { return time.Now().UnixNano() }

var started = time.Now()

// monotonic is a clock that cannot be set.
func monotonic() int64 { return int64(time.Since(started)) }

// Kick requests a round of the dispatcher, a look at what queues are owed, and one at whose access is to be known. It never blocks.
func (s *Scheduler) Kick() {
	s.kick.Kick()
	if s.planner != nil {
		s.planner.Kick()
	}
	if s.access != nil {
		s.access.Kick()
	}
}

func (s *Scheduler) ours(schedulerName string) bool {
	return s.Scheduler.Profiles.HandlesSchedulerName(schedulerName)
}

// gate asks the other PreEnqueue plugins: a pod that one of them blocks takes no place in the window.
func (s *Scheduler) gate(pod *v1.Pod) string {
	for _, p := range s.Scheduler.Profiles[pod.Spec.SchedulerName].PreEnqueuePlugins() {
		if p.Name() == plugin.Name {
			continue
		}
		if !p.PreEnqueue(context.Background(), pod).IsSuccess() {
			return p.Name()
		}
	}
	return ""
}

// holds reports whether kube-scheduler can still reach a pod by itself: it is queued and not gated, or an
// attempt of it runs.
func (s *Scheduler) holds(uid ledger.UID) bool {
	p, ok := s.Ledger.PodState(uid)
	if !ok {
		return false
	}
	q := s.Scheduler.SchedulingQueue
	if info, queued := q.GetPod(p.Name, p.Namespace); queued && info.Pod.UID == types.UID(uid) {
		return !info.Gated()
	}
	for _, pod := range q.InFlightPods() {
		if pod.UID == types.UID(uid) {
			return true
		}
	}
	return false
}
