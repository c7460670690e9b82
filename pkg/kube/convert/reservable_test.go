package convert

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func queueOf(t *testing.T, text string) *v1alpha1.Queue {
	t.Helper()
	q := &v1alpha1.Queue{}
	if err := yaml.Unmarshal([]byte(text), q); err != nil {
		t.Fatal(err)
	}
	return q
}

// A reservable queue is for queues below it, so what is for leaves does not count in it, and no field of it is without effect.
func TestAReservableQueueIsForQueues(t *testing.T) {
	d, err := Declaration(queueOf(t, `{metadata: {name: root.plan}, spec: {reservable: true, policy: StateAware, maxStarting: 2, startingTimeout: 1m, maxDriverShare: "0.3",
		defaultPriority: 5, users: {minSharePercent: 25}, weight: 3, preemption: {guaranteedTimeout: 10s}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := queue.DefaultSpec()
	want.Weight, want.Preemption.GuaranteedTimeout = 3000, queue.Timeout{Stated: true, Nanoseconds: 10e9}
	if !d.Reservable || !d.Parent || !d.Spec.Equal(want) {
		t.Errorf("%+v", d)
	}
	tree := queue.Build([]queue.Declaration{{Path: queue.Root, Spec: queue.DefaultSpec()}, d}, nil, resource.List{})
	for _, p := range tree.Problems {
		if p.Reason.Code == reason.FieldIgnored {
			t.Errorf("%s: %s", p.Path, p.Reason.Text())
		}
	}
}

func TestSharingPolicy(t *testing.T) {
	p, move, err := SharingPolicy(queueOf(t, `{metadata: {name: root.plan}, spec: {reservable: true}}`))
	if err != nil || !move || p.InstantaneousShare != queue.Whole || p.AverageShare != queue.Whole || p.Window != 86400 || p.EnforcementWindow != 3600 {
		t.Errorf("%+v %v %v", p, move, err)
	}
	p, move, err = SharingPolicy(queueOf(t, `{metadata: {name: root.plan}, spec: {reservable: true, reservations: {window: 1h30m, averageShare: 12.5%,
		instantaneousShare: 80%, enforcementWindow: 0s, moveOnExpiry: false}}}`))
	if err != nil || move || p.InstantaneousShare != 80_000 || p.AverageShare != 12_500 || p.Window != 5400 || p.EnforcementWindow != 0 {
		t.Errorf("%+v %v %v", p, move, err)
	}
}

func TestWhatMakesNoReservableQueue(t *testing.T) {
	for spec, want := range map[string]string{
		`{metadata: {name: root}, spec: {reservable: true}}`:                                              "queue root: spec.reservable: is for queues below root, at most 11 levels deep, root included",
		`{metadata: {name: root.a.b.c.d.e.f.g.h.i.j.k}, spec: {reservable: true}}`:                        "spec.reservable: is for queues below root",
		`{metadata: {name: root.a}, spec: {reservable: true, children: {}}}`:                              "spec.children: a reservable queue is for pods: remove children",
		`{metadata: {name: root.a}, spec: {reservations: {}}}`:                                            "spec.reservations: is for queues that state reservable: true",
		`{metadata: {name: root.a}, spec: {reservable: true, reservations: {window: 1s}}}`:                `spec.reservations.window: "1s" is not a duration from 60s to 2160h`,
		`{metadata: {name: root.a}, spec: {reservable: true, reservations: {enforcementWindow: x}}}`:      `spec.reservations.enforcementWindow: "x" is not a duration from 0s to 2160h`,
		`{metadata: {name: root.a}, spec: {reservable: true, reservations: {averageShare: "101%"}}}`:      "spec.reservations.averageShare: ",
		`{metadata: {name: root.a}, spec: {reservable: true, reservations: {instantaneousShare: "0.5"}}}`: "spec.reservations.instantaneousShare: ",
	} {
		if _, err := Declaration(queueOf(t, spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
