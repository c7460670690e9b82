package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app/whatif"
	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/evict"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

const (
	// planEvery is the longest time between two looks at what queues are owed, planAtMost the shortest: while
	// pods are scheduled, something changes all the time.
	planEvery  = 500 * time.Millisecond
	planAtMost = 100 * time.Millisecond
	// planAction is the action field of an event about a plan.
	planAction = "Planning"
	// noteLimit is the longest note of an event.
	noteLimit = 1024
)

// Reasons of events about plans, on Queues.
const (
	reasonPlanned  = "PreemptionPlanned"
	reasonDeclined = "PreemptionDeclined"
	reasonRefused  = "PreemptionPlanRefused"
)

// planner plans preemption in a goroutine of its own: an attempt of a pod never waits for a plan.
type planner struct {
	ledger   *ledger.Ledger
	look     func(context.Context, preemption.World) (preemption.Feasibility, error)
	build    func(preemption.World, preemption.Feasibility) preemption.Plan
	check    func(preemption.World, preemption.Plan, preemption.Feasibility) []string // returns what is wrong with a plan
	looked   func()                                                                   // after a look: held room may be free again
	adopted  func()                                                                   // a plan was adopted: there may be pending actions, and room for other pods
	refused  func()                                                                   // a plan must not be carried out
	planned  func(took time.Duration, victims int, observeOnly bool, podSeconds float64)
	recorder events.EventRecorder
	uidOf    func(queue string) types.UID // of a Queue object, for events
	now      func() int64
	trigger  writing.Trigger

	// The fields below belong to the goroutine of run.
	retry    writing.Retry
	reported map[claimed]int64 // for each claim that an event reported, since when its queue had been below
}

// claimed identifies a claim while it is open, and that it was declined.
type claimed struct {
	queue    queue.Path
	kind     preemption.Kind
	declined bool
}

// buildPlanner builds what answers whether a pod would fit. It requests informers, so it must run before they
// start.
func (s *Scheduler) buildPlanner(ctx context.Context) error {
	var like framework.Framework
	for _, p := range s.Scheduler.Profiles { // any profile: all share what is asked of it
		like = p
	}
	pods := s.Config.InformerFactory.Core().V1().Pods().Lister()
	budgets := s.Config.InformerFactory.Policy().V1().PodDisruptionBudgets()
	s.synced = append(s.synced, budgets.Informer().HasSynced)
	frameworks, err := whatif.New(ctx, whatif.Options{
		Profiles: s.Config.ComponentConfig.Profiles, Plugins: frameworkruntime.Registry{plugin.Name: s.plugin.Hypothetical},
		Cache: s.Scheduler.Cache, Like: like, Client: s.Config.Client, KubeConfig: s.Config.KubeConfig, Informers: s.Config.InformerFactory,
		Budgets: budgets.Lister(),
		Pods: func(uid string) *corev1.Pod {
			state, known := s.Ledger.PodState(ledger.UID(uid))
			if !known {
				return nil
			}
			pod, err := pods.Pods(state.Namespace).Get(state.Name)
			if err != nil || pod.UID != types.UID(uid) {
				return nil
			}
			return pod
		},
	})
	if err != nil {
		return err
	}
	s.planner = &planner{
		ledger: s.Ledger, now: now, trigger: writing.NewTrigger(), reported: map[claimed]int64{}, build: preemption.Make,
		check: invariant.Plan, planned: s.metrics.Planned,
		look: func(ctx context.Context, w preemption.World) (preemption.Feasibility, error) {
			return frameworks.Look(ctx, w)
		},
	}
	return nil
}

// preempt starts planning and carrying out plans.
func (s *Scheduler) preempt(ctx context.Context, recorder events.EventRecorder) {
	executor := evict.New(s.Ledger, s.Config.Client, recorder, evict.Options{
		Pods: s.Config.InformerFactory.Core().V1().Pods().Lister(), Changed: s.Kick,
	})
	go executor.Run(ctx)
	p := s.planner
	p.recorder, p.refused = recorder, s.metrics.Violated
	p.looked = s.Kick
	p.adopted = func() {
		executor.Kick()
		s.Kick()
	}
	queues := s.Config.DynInformerFactory.ForResource(v1alpha1.QueueResource).Informer().GetStore()
	p.uidOf = func(name string) types.UID {
		if q, exists, err := queues.GetByKey(name); err == nil && exists {
			if object, ok := q.(metav1.Object); ok {
				return object.GetUID()
			}
		}
		return ""
	}
	go p.run(writing.Named(ctx, "preemption"))
}

// Kick requests a look. It never blocks.
func (p *planner) Kick() { p.trigger.Kick() }

// run looks when something changed, and when a plan may have become due by time alone.
func (p *planner) run(ctx context.Context) {
	p.trigger.Run(ctx, clock.RealClock{}, planAtMost, p.round)
}

// round makes a plan if one is due, and returns when to look again.
func (p *planner) round(ctx context.Context) (wait time.Duration) {
	at := p.now()
	due, next := p.ledger.LookAtStarvation(at)
	p.looked()
	if (due || p.retry.Failures > 0) && p.retry.Due(time.Unix(0, at)) { // a failed round is repeated, although the ledger counts it as made
		if err := p.plan(ctx, at); err != nil && ctx.Err() == nil {
			p.retry.Postpone(time.Unix(0, p.now()))
			klog.FromContext(ctx).Error(err, "No preemption was planned; it is tried again", "failures", p.retry.Failures)
		} else {
			p.retry = writing.Retry{}
		}
	}
	wait = planEvery
	if p.retry.Failures > 0 {
		next = p.retry.At().UnixNano()
	}
	if next != 0 {
		wait = min(wait, max(time.Duration(next-p.now()), planAtMost))
	}
	return wait
}

func (p *planner) plan(ctx context.Context, at int64) error {
	w, ok := p.ledger.Preemption(at)
	if !ok {
		return nil
	}
	plan, wrong, err := p.make(ctx, w)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		p.refuse(wrong[0])
		return fmt.Errorf("a plan of %d victims is not carried out: %q", len(plan.Victims), wrong)
	}
	p.planned(time.Duration(p.now()-at), len(plan.Victims), w.Settings.ObserveOnly, float64(plan.PodSeconds(w, -1, at)))
	stale := p.ledger.Adopt(w, plan, p.now())
	klog.FromContext(ctx).V(2).Info("Preemption was planned", "claims", len(plan.Claims), "victims", len(plan.Victims), "stale", stale,
		"stopped", plan.Stopped, "took", time.Duration(p.now()-at))
	p.tell(w, plan)
	p.adopted()
	return nil
}

// make makes a plan and checks it. Filters may be anyone's code. Upstream lets a panic end the process, and
// the next process would panic again: preemption would stop all scheduling. Here a panic ends only the round,
// with an error in the log.
func (p *planner) make(ctx context.Context, w preemption.World) (plan preemption.Plan, wrong []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			p.refuse(fmt.Sprintf("planning panicked: %v", r))
			err = fmt.Errorf("planning panicked: %v\n%s", r, debug.Stack())
		}
	}()
	f, err := p.look(ctx, w)
	if err != nil {
		return preemption.Plan{}, nil, err
	}
	plan = p.build(w, f)
	f.Rollback(0)
	return plan, p.check(w, plan, f), nil
}

func (p *planner) refuse(why string) {
	p.refused()
	p.event(string(queue.Root), corev1.EventTypeWarning, reasonRefused, planAction, reason.PlanRefused(why))
}

// tell sends one event for each claim for which the plan found nodes, and one for each that ends since nobody may pay it.
func (p *planner) tell(w preemption.World, plan preemption.Plan) {
	open := map[claimed]bool{}
	for i := range plan.Claims {
		c := &plan.Claims[i]
		is := claimed{w.Queues[c.Queue].Path, c.Kind, c.Declined() && !w.Settings.ObserveOnly} // else it stays open
		open[is] = true
		if len(c.Nominations) == 0 && !is.declined || p.reported[is] == c.Since {
			continue
		}
		p.reported[is] = c.Since
		if is.declined {
			p.event(string(is.queue), corev1.EventTypeWarning, reasonDeclined, planAction, reason.Unpaid{Why: c.Unpaid, Queue: string(is.queue), Left: c.Owed}.Text())
			continue
		}
		p.event(string(is.queue), corev1.EventTypeNormal, reasonPlanned, planAction, planned(w, plan, c, p.now()))
	}
	for is := range p.reported { // each on its own: order does not matter
		if !open[is] {
			delete(p.reported, is)
		}
	}
}

// planned is the note of the event about one claim.
func planned(w preemption.World, plan preemption.Plan, c *preemption.Payment, now int64) string {
	victims := 0
	for i := range plan.Victims {
		if plan.Victims[i].ForQueue == c.Claim.Queue {
			victims++
		}
	}
	return reason.Round{
		Places: len(c.Nominations), Victims: victims, PodSeconds: plan.PodSeconds(w, c.Claim.Queue, now), ObserveOnly: w.Settings.ObserveOnly,
	}.Text()
}

func (p *planner) event(name, kind, reason, action, note string) {
	q := &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Queue", Name: name, UID: p.uidOf(name)}
	p.recorder.Eventf(q, nil, kind, reason, action, "%s", writing.Cut(note, noteLimit))
}
