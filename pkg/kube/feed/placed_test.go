package feed

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// charged is what a pod is charged as.
type charged struct {
	Leaf              queue.Path
	Application, User string
	Role              application.Role
}

func chargesOf(l *ledger.Ledger) map[ledger.UID]charged {
	all := map[ledger.UID]charged{}
	for _, p := range l.Pods() {
		all[p.UID] = charged{p.Leaf, p.Application, p.User, p.Role}
	}
	return all
}

// Labels that change on running pods move nothing: not for the scheduler that has bound them, and not for one that starts or a picture.
func TestRelabelledRunningPodsCountAsTheyWereBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSet(t)
		for i := range s.Pods { // as an API server does
			s.Pods[i] = podAt(s.Pods[i], metav1.NewTime(now))
		}
		live := Rebuild(s, ours, now, ledger.Options{})
		f := &Feed{Ledger: live, Ours: func(name string) bool { return name == "fairway" }, Gate: gateOf, Now: now.UnixNano, Kick: func() {}, Classes: &Classes{}}
		var placed []int
		for i, p := range s.Pods {
			state, known := live.PodState(ledger.UID(p.UID))
			if !known || p.Spec.NodeName != "" || p.DeletionTimestamp != nil || state.Leaf == "" || rapid.IntRange(0, 3).Draw(t, "waits on") == 0 {
				continue
			}
			binding := &v1.Binding{}
			convert.SetPlaced(binding, &state)
			p = p.DeepCopy()
			if p.Annotations == nil {
				p.Annotations = map[string]string{}
			}
			maps.Copy(p.Annotations, binding.Annotations)
			p.Spec.NodeName = "n0"
			s.Pods[i] = p
			f.ObservePod(p)
			placed = append(placed, i)
		}
		before, applications := chargesOf(live), live.Applications()
		for _, i := range placed {
			p := s.Pods[i].DeepCopy()
			p.Labels = rapid.MapOf(
				rapid.SampledFrom([]string{"fairway.dev/queue", "fairway.dev/application", "fairway.dev/role", "spark-app-selector", "spark-role", "app", "component"}),
				rapid.SampledFrom([]string{"root.a.x", "root.b", "x", "y", "driver", "executor", "jobmanager"})).Draw(t, "labels")
			if g := s.Pods[i].Labels["scheduling.x-k8s.io/pod-group"]; g != "" {
				p.Labels["scheduling.x-k8s.io/pod-group"] = g
			}
			p.Annotations["fairway.dev/user"] = rapid.SampledFrom([]string{"ada", "eve"}).Draw(t, "user")
			s.Pods[i] = p
			f.ObservePod(p)
		}
		rebuilt := Rebuild(s, ours, now, ledger.Options{})
		for name, l := range map[string]*ledger.Ledger{"live": live, "rebuilt": rebuilt} {
			if diff := cmp.Diff(before, chargesOf(l)); diff != "" {
				t.Errorf("%s: charges: %s", name, diff)
			}
			if diff := cmp.Diff(applications, l.Applications(), asShown); diff != "" {
				t.Errorf("%s: applications: %s", name, diff)
			}
			if wrong := l.Check(); len(wrong) > 0 {
				t.Errorf("%s: %v", name, wrong)
			}
		}
	})
}
