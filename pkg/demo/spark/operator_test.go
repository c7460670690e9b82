package spark

import (
	"context"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	role "github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// stage is a control plane without a scheduler or kubelets: the test acts as both.
type stage struct {
	*testing.T
	client   *fake.Clientset
	operator *Operator
}

func newStage(t *testing.T, apps ...Application) *stage {
	s := &stage{T: t, client: fake.NewClientset()}
	watched, once := make(chan struct{}), sync.Once{}
	s.client.PrependWatchReactor("pods", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := s.client.Tracker().Watch(a.GetResource(), a.GetNamespace())
		once.Do(func() { close(watched) })
		return true, w, err
	})
	s.operator = New(s.client, func(err error) { t.Error(err) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.operator.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	<-watched
	if err := s.operator.Submit(ctx, apps...); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) until(what string, so func() bool) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("not so: %s", what)
		}
	}
}

// pod waits until the pod exists, and returns it.
func (s *stage) pod(name string) (p *v1.Pod) {
	s.Helper()
	s.until(name+" is there", func() (ok bool) {
		var err error
		p, err = s.client.CoreV1().Pods(Namespace).Get(s.Context(), name, metav1.GetOptions{})
		return err == nil
	})
	return p
}

func (s *stage) gone(name string) {
	s.Helper()
	s.until(name+" is gone", func() bool {
		_, err := s.client.CoreV1().Pods(Namespace).Get(s.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// is writes a phase, and with it a node, into pods.
func (s *stage) is(phase v1.PodPhase, names ...string) {
	s.Helper()
	for _, name := range names {
		p := s.pod(name).DeepCopy()
		p.Spec.NodeName, p.Status.Phase = "node", phase
		if _, err := s.client.CoreV1().Pods(Namespace).Update(s.Context(), p, metav1.UpdateOptions{}); err != nil {
			s.Fatal(err)
		}
	}
}

func TestADriverAsksWhenItRunsAndEndsWithItsExecutors(t *testing.T) {
	s := newStage(t,
		Application{Name: "a", Queue: "root.q", Executors: 2, RunFor: 2500 * time.Millisecond},
		Application{Name: "b", Queue: "root.r", Executors: 1, Deleted: true, KeepEnded: true, StartUp: time.Millisecond})
	s.is(v1.PodRunning, "a-driver", "b-driver")
	e := s.pod("a-exec-2")
	if seconds := e.Annotations[localcluster.RunSecondsAnnotation]; seconds != "2.500" {
		t.Errorf("it runs for %q seconds", seconds)
	}
	if owner := metav1.GetControllerOf(e); owner == nil || owner.Name != "a-driver" {
		t.Errorf("it belongs to %v", owner)
	}
	for name, want := range map[string]role.Role{"a-driver": role.Driver, "a-exec-1": role.Executor} {
		if app, is := convert.ApplicationOf(s.pod(name)); app != "default/sparkapplication/a" || is != want {
			t.Errorf("%s is a %s of %s", name, is, app)
		}
	}
	s.is(v1.PodSucceeded, "a-exec-1")
	s.gone("a-exec-1")
	s.is(v1.PodSucceeded, "b-exec-1")
	s.gone("b-driver")
	s.until("b is complete", func() bool { return s.operator.Completed("root.r") == 1 })
	if p := s.pod("a-driver"); p.Status.Phase != v1.PodRunning || s.pod("b-exec-1") == nil {
		t.Errorf("a's driver is %s with an executor that has not ended", p.Status.Phase)
	}
	s.is(v1.PodSucceeded, "a-exec-2")
	s.until("all are complete", func() bool { return s.operator.Completed() == 2 })
	if p := s.pod("a-driver"); p.Status.Phase != v1.PodSucceeded {
		t.Errorf("a's driver is %s", p.Status.Phase)
	}
}

func TestProgressCountsEveryMoment(t *testing.T) {
	a, b := Application{Name: "a", Queue: "root.q"}, Application{Name: "b", Queue: "root.q"}
	bound := func(p *v1.Pod) { p.Spec.NodeName = "node" }
	failed := func(p *v1.Pod) { bound(p); p.Status.Phase = v1.PodFailed }
	leaving := func(p *v1.Pod) { bound(p); p.DeletionTimestamp = &metav1.Time{} }
	plain := func(p *v1.Pod) { p.Labels = map[string]string{v1alpha1.KeyQueue: "root.q"}; bound(p) }
	p := NewProgress()
	for i, step := range []struct {
		pod     *v1.Pod
		edit    func(*v1.Pod)
		deleted bool
		want    Counts // drivers running, waiting, executors running, waiting, starting and most, most running, most drivers alone
	}{
		{a.Driver(), nil, false, Counts{0, 1, 0, 0, 0, 0, 0, 0}},
		{a.Driver(), bound, false, Counts{1, 0, 0, 0, 1, 1, 1, 1}},
		{a.Driver(), bound, false, Counts{1, 0, 0, 0, 1, 1, 1, 1}},
		{a.Executor(1, a.Driver()), nil, false, Counts{1, 0, 0, 1, 1, 1, 1, 1}},
		{a.Executor(1, a.Driver()), bound, false, Counts{1, 0, 1, 0, 0, 1, 2, 1}},
		{b.Driver(), bound, false, Counts{2, 0, 1, 0, 1, 1, 3, 1}},
		{&v1.Pod{}, plain, false, Counts{2, 0, 1, 0, 1, 1, 3, 1}},
		{a.Executor(1, a.Driver()), failed, false, Counts{2, 0, 0, 0, 1, 1, 3, 2}}, // a counts as started from now on
		{b.Driver(), leaving, false, Counts{1, 0, 0, 0, 0, 1, 3, 2}},
		{b.Driver(), leaving, true, Counts{1, 0, 0, 0, 0, 1, 3, 2}},
		{a.Driver(), bound, true, Counts{0, 0, 0, 0, 0, 1, 3, 2}},
	} {
		step.pod.UID = types.UID(step.pod.Name)
		if step.edit != nil {
			step.edit(step.pod)
		}
		p.See(step.pod, step.deleted)
		if got := p.Queue("root.q"); got != step.want {
			t.Errorf("step %d, %s: %+v, want %+v", i, step.pod.Name, got, step.want)
		}
	}
	if got := p.Queue("root.other"); got != (Counts{}) {
		t.Errorf("a queue without pods has %+v", got)
	}
}

// After an interrupted watch all pods come at once, in the order of their names: an application whose executor
// started meanwhile did not start at the same time as the next application.
func TestProgressAfterAGap(t *testing.T) {
	a, b := Application{Name: "a", Queue: "root.q"}, Application{Name: "b", Queue: "root.q"}
	o := New(fake.NewClientset(), nil)
	list := func(pods ...*v1.Pod) {
		var objects []any
		for _, p := range pods {
			p.UID, p.Spec.NodeName = types.UID(p.Name), "node"
			objects = append(objects, p)
		}
		if err := (watched{o}).Replace(objects, "1"); err != nil {
			t.Fatal(err)
		}
	}
	list(a.Driver())
	list(a.Driver(), b.Driver(), b.Executor(1, b.Driver()), a.Executor(1, a.Driver()))
	if got, want := o.Counts("root.q"), (Counts{2, 0, 2, 0, 0, 1, 4, 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	list(a.Driver())
	if got, want := o.Counts("root.q"), (Counts{1, 0, 0, 0, 0, 1, 4, 1}); got != want || o.Pod("b-driver") != nil {
		t.Errorf("%+v, want %+v, and no driver of b", got, want)
	}
}
