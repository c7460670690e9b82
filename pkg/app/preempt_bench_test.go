package app

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A cluster of so many nodes, each full with so many pods, and a claim of so many pods.
const (
	benchNodes    = 5000
	benchPerNode  = 20
	benchClaimed  = 100
	benchLabelled = 50 // so many pods share a label, as the pods of an application do
)

// BenchmarkPlan compares the cost of a plan for a claim of 100 pods with that of 100 ordinary scheduling
// cycles of stock kube-scheduler: processor time of the whole process, over the same nodes and pods.
// plan/cycles should be at most 1.
func BenchmarkPlan(b *testing.B) {
	for _, claim := range []struct {
		name  string
		shape func(*st.PodWrapper) *st.PodWrapper
	}{
		{"plain", func(p *st.PodWrapper) *st.PodWrapper { return p }},
		{"spread", func(p *st.PodWrapper) *st.PodWrapper {
			return p.SpreadConstraint(5, "zone", v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "new").Obj(), nil, nil, nil, nil)
		}},
		{"anti-affinity", func(p *st.PodWrapper) *st.PodWrapper {
			return p.PodAntiAffinityIn("app", "host", []string{"new"}, st.PodAntiAffinityWithRequiredReq)
		}},
	} {
		b.Run(claim.name, func(b *testing.B) {
			nodes, pods := crowd()
			cycles := stockCycles(b, nodes, pods, claim.shape)
			plan := planOf(b, nodes, pods, claim.shape)
			b.ResetTimer()
			var ofPlans, ofCycles time.Duration
			for range b.N {
				ofCycles += processorTime(cycles)
				ofPlans += processorTime(plan)
			}
			b.ReportMetric(float64(ofPlans.Milliseconds())/float64(b.N), "ms/plan")
			b.ReportMetric(float64(ofCycles.Milliseconds())/float64(b.N), "ms/100cycles")
			b.ReportMetric(float64(ofPlans)/float64(ofCycles), "plan/cycles")
		})
	}
}

// processorTime is the processor time of the whole process. Both sides begin without garbage, so each pays
// only for its own.
func processorTime(f func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	runtime.GC()
	before := used()
	f()
	return used() - before
}

func benchPod(name, on, app string, cpu string) *st.PodWrapper {
	return st.MakePod().Namespace("team").Name(name).UID(name).Node(on).Label("app", app).
		Req(map[v1.ResourceName]string{"cpu": cpu, "memory": "1Gi"})
}

// crowd leaves room on each node for pods of a tenth of a cpu.
func crowd() (nodes []*v1.Node, pods []*v1.Pod) {
	for i := range benchNodes {
		name := fmt.Sprintf("node-%04d", i)
		nodes = append(nodes, st.MakeNode().Name(name).Label("host", name).Label("zone", fmt.Sprint(i%3)).
			Capacity(map[v1.ResourceName]string{"cpu": fmt.Sprintf("%d500m", benchPerNode), "memory": "256Gi", "pods": "110"}).Obj())
		for j := range benchPerNode {
			n := i*benchPerNode + j
			pods = append(pods, benchPod(fmt.Sprintf("busy-%06d", n), name, fmt.Sprint("app-", n/benchLabelled), "1").SchedulerName("fairway").Obj())
		}
	}
	return nodes, pods
}

func fill(b *testing.B, cache internalcache.Cache, nodes []*v1.Node, pods []*v1.Pod) {
	b.Helper()
	logger := klog.Background()
	for _, n := range nodes {
		cache.AddNode(logger, n)
	}
	for _, p := range pods {
		if err := cache.AddPod(logger, p); err != nil {
			b.Fatal(err)
		}
	}
}

// stockCycles returns a function that runs a hundred cycles of a stock scheduler; each sees the pods of the
// cycles before it. The pods find room.
func stockCycles(b *testing.B, nodes []*v1.Node, pods []*v1.Pod, shape func(*st.PodWrapper) *st.PodWrapper) func() {
	b.Helper()
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	recorders := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()}))
	sched, err := scheduler.New(b.Context(), client, factory, nil, recorders)
	if err != nil {
		b.Fatal(err)
	}
	factory.Start(b.Context().Done())
	factory.WaitForCacheSync(b.Context().Done())
	fill(b, sched.Cache, nodes, pods)
	fwk := sched.Profiles["default-scheduler"]
	snapshot := fwk.SnapshotSharedLister().(*internalcache.Snapshot)
	return func() {
		var assumed []*v1.Pod
		for i := range benchClaimed {
			pod := shape(benchPod(fmt.Sprintf("stock-%d", i), "", "new", "100m")).Obj()
			info, err := framework.NewPodInfo(pod)
			if err != nil {
				b.Fatal(err)
			}
			if err := sched.Cache.UpdateSnapshot(klog.Background(), snapshot); err != nil {
				b.Fatal(err)
			}
			result, err := sched.SchedulePod(b.Context(), fwk, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
			if err != nil {
				b.Fatal(err)
			}
			pod.Spec.NodeName = result.SuggestedHost
			if err := sched.Cache.AssumePod(klog.Background(), pod); err != nil {
				b.Fatal(err)
			}
			assumed = append(assumed, pod)
		}
		for _, pod := range assumed {
			if err := sched.Cache.ForgetPod(klog.Background(), pod); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// planOf returns a function that makes a plan as the scheduler does: from the ledger and with its own filters.
// The plan is not adopted.
func planOf(b *testing.B, nodes []*v1.Node, pods []*v1.Pod, shape func(*st.PodWrapper) *st.PodWrapper) func() {
	b.Helper()
	s, err := setup(b, "")
	if err != nil {
		b.Fatal(err)
	}
	fill(b, s.Scheduler.Cache, nodes, pods)
	books(b, s, nodes, pods, shape)
	at := int64(time.Hour)
	return func() {
		w := s.Ledger.WhatPreemption(at)
		plan, wrong, err := s.planner.make(context.Background(), w)
		if err != nil || len(wrong) > 0 {
			b.Fatal(err, wrong)
		}
		if len(plan.Victims) != benchClaimed || len(plan.Claims) != 1 || len(plan.Claims[0].Nominations) != benchClaimed {
			b.Fatalf("a plan of %d victims for %d claims: %+v", len(plan.Victims), len(plan.Claims), plan.Claims)
		}
	}
}

// books fills the ledger, and what informers would know of the waiting pods.
func books(b *testing.B, s *Scheduler, nodes []*v1.Node, pods []*v1.Pod, shape func(*st.PodWrapper) *st.PodWrapper) {
	b.Helper()
	amounts := func(milli int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: milli}, resource.Entry{Name: resource.Memory, Value: 1 << 30})
	}
	for _, n := range nodes {
		s.Ledger.ObserveNode(ledger.Node{Name: n.Name, Usable: true, Pods: 110, Allocatable: resource.Of(
			resource.Entry{Name: resource.CPU, Value: benchPerNode*1000 + 500}, resource.Entry{Name: resource.Memory, Value: 256 << 30})})
	}
	for _, path := range []queue.Path{"root", "root.busy", "root.idle"} {
		d := queue.Declaration{Path: path, Spec: queue.DefaultSpec()}
		d.Spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: int64(time.Second)}
		s.Ledger.ObserveQueue(d)
	}
	indexer := s.Config.InformerFactory.Core().V1().Pods().Informer().GetIndexer()
	for i, p := range pods {
		if err := indexer.Add(p); err != nil {
			b.Fatal(err)
		}
		s.Ledger.ObservePod(ledger.Pod{UID: ledger.UID(p.UID), Namespace: p.Namespace, Name: p.Name, Queue: "busy", Application: p.Labels["app"],
			Class: "busy", Request: amounts(1000), Node: p.Spec.NodeName, Bound: int64(i + 1), Created: 1}, 1)
	}
	for i := range benchClaimed {
		p := shape(benchPod(fmt.Sprintf("new-%d", i), "", "new", "1")).SchedulerName("fairway").Obj()
		if err := indexer.Add(p); err != nil {
			b.Fatal(err)
		}
		s.Ledger.ObservePod(ledger.Pod{UID: ledger.UID(p.UID), Namespace: p.Namespace, Name: p.Name, Queue: "idle", Application: "new",
			Class: "new", Request: amounts(1000), Created: 2}, 1)
	}
	if r, ok := s.Ledger.Choose(2); ok {
		s.Ledger.Fail(r.UID, ledger.NoFit, 2)
	}
	s.Ledger.LookAtStarvation(3)
	if w := s.Ledger.WhatPreemption(int64(time.Hour)); len(w.Claims) != 1 || w.Claims[0].Kind != preemption.BelowFairShare {
		b.Fatalf("claims %+v", w.Claims)
	}
}
