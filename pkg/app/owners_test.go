package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// named sends the names of the objects that it gets.
func named(heard chan<- string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		heard <- fmt.Sprintf("%T %s", obj, obj.(metav1.Object).GetName())
	}}
}

func TestOwnersOfAllKindsAreWatchedAndJobsKeptSmall(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{"a": "b"}}
	}
	client := fake.NewClientset(
		&batchv1.Job{ObjectMeta: meta("job")}, &appsv1.ReplicaSet{ObjectMeta: meta("set")},
		&appsv1.StatefulSet{ObjectMeta: meta("stateful")}, &v1.ReplicationController{ObjectMeta: meta("rc")},
	)
	var w ownerWatch
	if !w.hasSynced() {
		t.Error("nobody asks for owners, and they are waited for")
	}
	heard := make(chan string, 4)
	if err := w.start(t.Context(), client, informers.NewSharedInformerFactory(client, 0), named(heard)); err != nil {
		t.Fatal(err)
	}
	if !cache.WaitForCacheSync(t.Context().Done(), w.hasSynced) {
		t.Fatal("owners are not heard of")
	}
	close(heard)
	got := slices.Sorted(func(yield func(string) bool) {
		for name := range heard {
			yield(name)
		}
	})
	want := []string{"*convert.Owner job", "*v1.ReplicaSet set", "*v1.ReplicationController rc", "*v1.StatefulSet stateful"}
	if !slices.Equal(got, want) {
		t.Errorf("heard of %q, want %q", got, want)
	}
}

func TestUnreadableJobsDelayNothing(t *testing.T) {
	client := fake.NewClientset(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "ns"}})
	var refusals atomic.Int32
	client.PrependReactor("list", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refusals.Add(1) <= 2 {
			return true, nil, apierrors.NewForbidden(batchv1.Resource("jobs"), "", nil)
		}
		return false, nil, nil
	})
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	defer cancel()
	var w ownerWatch
	heard := make(chan string, 1)
	if err := w.start(ctx, client, informers.NewSharedInformerFactory(client, 0), named(heard)); err != nil {
		t.Fatal(err)
	}
	if !cache.WaitForCacheSync(ctx.Done(), w.hasSynced) {
		t.Fatal("the scheduler waits for Jobs that it may not read")
	}
	if got := <-heard; got != "*convert.Owner job" { // once it is allowed
		t.Errorf("heard of %q", got)
	}
	log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
	if strings.Count(log, "Jobs cannot be read") != 1 || strings.Contains(log, "Failed to watch") {
		t.Errorf("logged: %s", log)
	}
}

func TestWhatIsNoOwnerIsKept(t *testing.T) {
	tomb := cache.DeletedFinalStateUnknown{Key: "ns/job"}
	if got, err := ownerOnly(tomb); got != tomb || err != nil {
		t.Errorf("a tombstone becomes %v: %v", got, err)
	}
	if got, err := ownerOnly(&batchv1.Job{}); err != nil || got.(*convert.Owner).Kind != "Job" {
		t.Errorf("a Job becomes %v: %v", got, err)
	}
}
