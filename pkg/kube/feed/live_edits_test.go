package feed

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// liveEdit is two edits of a field, one after the other: the specs of queues that state something. Then all of it is taken back.
type liveEdit struct {
	first, second string
	// from is what is stated at first. It is not taken back to: an application that has its slot keeps it when a limit is lowered, and a new ledger gives
	// none to applications that hold nothing.
	from string
	// unseen: the field counts when placement creates a queue, or for what may be reserved, and nowhere in the ledger.
	unseen bool
}

func (e liveEdit) steps() []string {
	switch {
	case e.from != "":
		return []string{e.first, e.second}
	case e.second == "":
		return []string{e.first, ""}
	}
	return []string{e.first, e.second, ""}
}

// liveEdits has a case for every field of QueueSpec, by its path.
var liveEdits = map[string]liveEdit{
	"weight":                                   {first: `root.a: {weight: 3}`, second: `root.a: {weight: 0}`},
	"capacity":                                 {first: `{root.a: {capacity: 70%}, root.b: {capacity: 30%}}`, second: `{root.a: {capacity: 0%}, root.b: {capacity: 100%}}`},
	"maxCapacity":                              {first: `{root.a: {capacity: 20%, maxCapacity: 25%}, root.b: {capacity: 80%}}`, second: `{root.a: {capacity: 20%, maxCapacity: 50%}, root.b: {capacity: 80%}}`},
	"guaranteed":                               {first: `root.b: {guaranteed: {cpu: 6}}`, second: `root.b: {guaranteed: {cpu: 25%}}`},
	"max":                                      {first: `root.a: {max: {cpu: 1}}`, second: `root.a: {max: {cpu: 50%}}`},
	"maxPodResources":                          {first: `root.a: {maxPodResources: {cpu: 2}}`, second: `{root: {maxPodResources: {cpu: 1}}, root.b: {maxPodResources: {cpu: 500m}}}`},
	"maxRunningApplications":                   {from: `root.a: {maxRunningApplications: 1}`, first: `root.a: {maxRunningApplications: 3}`, second: `root: {}`},
	"maxApplications":                          {from: `root.a.x: {maxApplications: 2}`, first: `root.a.x: {maxApplications: 3}`, second: `root: {}`},
	"maxDriverShare":                           {first: `root.b: {maxDriverShare: "0"}`, second: `root.b: {maxDriverShare: "1"}`},
	"policy":                                   {first: `root.a: {policy: Fair}`, second: `{root.a.x: {policy: FIFO}, root.b: {policy: StateAware}}`},
	"fairResource":                             {first: `root.a: {policy: Fair, fairResource: cpu}`, second: `root.b: {policy: Fair, fairResource: cpu}`},
	"strict":                                   {first: `root.b: {policy: FIFO, strict: true}`, second: `root.b: {policy: FIFO}`},
	"maxStarting":                              {first: `root.b: {policy: StateAware, maxStarting: 2}`, second: `root.b: {policy: StateAware, maxStarting: 1}`},
	"startingTimeout":                          {first: `root.b: {policy: StateAware, startingTimeout: 1m}`, second: `root.b: {policy: StateAware, startingTimeout: adaptive}`},
	"defaultPriority":                          {first: `root.a.x: {policy: FIFO, defaultPriority: 5}`, second: `root.a.x: {policy: FIFO, defaultPriority: -5}`},
	"maxPriority":                              {first: `root: {maxPriority: 3}`, second: `root: {maxPriority: 0}`},
	"state":                                    {first: `root.a: {state: Stopped}`, second: `{root.a: {state: Running}, root.b: {state: Stopped}}`},
	"users.maxRunningApplications":             {from: `root: {users: {maxRunningApplications: 1}}`, first: `root: {users: {maxRunningApplications: 3}}`, second: `root: {}`},
	"users.minSharePercent":                    {first: `root.a.x: {users: {minSharePercent: 50}}`, second: `root.a.x: {users: {minSharePercent: 10}}`},
	"users.shareFactor":                        {first: `root.a.x: {users: {shareFactor: "0.5"}}`, second: `root.a.x: {users: {shareFactor: "2"}}`},
	"users.weights":                            {first: `root.a.x: {users: {shareFactor: "0.5", weights: [{user: ann, weight: "0.5"}]}}`, second: `root.a.x: {users: {shareFactor: "0.5"}}`},
	"resourceCalculator":                       {first: `root: {resourceCalculator: Memory}`},
	"preemption.fairShareThreshold":            {first: `root: {preemption: {fairShareThreshold: "1"}}`, second: `root.a: {preemption: {fairShareThreshold: "0.1"}}`},
	"preemption.fairShareTimeout":              {first: `root: {preemption: {fairShareTimeout: 30s}}`, second: `root: {preemption: {fairShareTimeout: never}}`},
	"preemption.guaranteedTimeout":             {first: `root: {preemption: {guaranteedTimeout: 30s}}`, second: `root.b: {preemption: {guaranteedTimeout: 1m}}`},
	"preemption.preemptible":                   {first: `root.a: {preemption: {preemptible: false}}`, second: `root: {preemption: {preemptible: false}}`},
	"preemption.observeOnly":                   {first: `root: {preemption: {observeOnly: true}}`},
	"preemption.utilizationThreshold":          {first: `root: {preemption: {utilizationThreshold: "0.5"}}`, second: `root: {preemption: {utilizationThreshold: "1"}}`},
	"preemption.interval":                      {first: `root: {preemption: {interval: 1s}}`, second: `root: {preemption: {interval: 1m}}`},
	"preemption.maxWaitBeforeKill":             {first: `root: {preemption: {maxWaitBeforeKill: 0s}}`, second: `root: {preemption: {maxWaitBeforeKill: 1m}}`},
	"preemption.totalPerRound":                 {first: `root: {preemption: {totalPerRound: "0.1"}}`, second: `root: {preemption: {totalPerRound: "1"}}`},
	"preemption.maxIgnoredOverCapacity":        {first: `root: {preemption: {maxIgnoredOverCapacity: "0.1"}}`, second: `root: {preemption: {maxIgnoredOverCapacity: "0"}}`},
	"preemption.naturalTerminationFactor":      {first: `root: {preemption: {naturalTerminationFactor: "0.2"}}`, second: `root: {preemption: {naturalTerminationFactor: "1"}}`},
	"reservable":                               {first: `root.a.x: {reservable: true}`, second: `root.b: {reservable: true, policy: FIFO}`},
	"reservations.window":                      {first: `root.c: {reservable: true, reservations: {window: 1h}}`, second: `root.c: {reservable: true, reservations: {window: 48h}}`, unseen: true},
	"reservations.averageShare":                {first: `root.c: {reservable: true, reservations: {averageShare: 10%}}`, second: `root.c: {reservable: true, reservations: {averageShare: 100%}}`, unseen: true},
	"reservations.instantaneousShare":          {first: `root.c: {reservable: true, reservations: {instantaneousShare: 10%}}`, second: `root.c: {reservable: true, reservations: {instantaneousShare: 100%}}`, unseen: true},
	"reservations.enforcementWindow":           {first: `root.c: {reservable: true, reservations: {enforcementWindow: 10m}}`, second: `root.c: {reservable: true, reservations: {enforcementWindow: 0s}}`, unseen: true},
	"reservations.moveOnExpiry":                {first: `root.c: {reservable: true, reservations: {moveOnExpiry: true}}`, second: `root.c: {reservable: true, reservations: {moveOnExpiry: false}}`, unseen: true},
	"children.max":                             {first: `root.c: {children: {max: {cpu: 1}}}`, second: `root.c: {children: {max: {cpu: 50%}}}`, unseen: true},
	"children.maxCreated":                      {first: `root.c: {children: {maxCreated: 3}}`, second: `root: {children: {maxCreated: 0}}`, unseen: true},
	"children.template.weight":                 {first: `root.c: {children: {template: {weight: 2}}}`, second: `root.c: {children: {template: {}}}`, unseen: true},
	"children.template.policy":                 {first: `root.c: {children: {template: {policy: FIFO}}}`, second: `root.c: {children: {template: {}}}`, unseen: true},
	"children.template.maxRunningApplications": {first: `root.c: {children: {template: {maxRunningApplications: 2}}}`, second: `root.c: {children: {template: {}}}`, unseen: true},
	"children.template.defaultPriority":        {first: `root.c: {children: {template: {defaultPriority: 5}}}`, second: `root.c: {children: {template: {}}}`, unseen: true},
	"children.template.maxDriverShare":         {first: `root.c: {children: {template: {maxDriverShare: "1"}}}`, second: `root.c: {children: {template: {}}}`, unseen: true},
}

// Every field of a Queue can be edited while pods run and wait: after each edit the ledger is what a new one would be, and after all is taken back it
// is what it was.
func TestEveryFieldOfAQueueCanBeEdited(t *testing.T) {
	fields := fieldsOf(reflect.TypeFor[v1alpha1.QueueSpec](), "")
	for _, field := range fields {
		if _, ok := liveEdits[field]; !ok {
			t.Errorf("spec.%s has no case", field)
		}
	}
	for field, edit := range liveEdits {
		t.Run(field, func(t *testing.T) {
			if !slices.Contains(fields, field) {
				t.Fatal("there is no such field")
			}
			s := busySet(t, edit.from)
			l := Rebuild(s, ours, now, ledger.Options{})
			f := &Feed{Ledger: l, Now: now.UnixNano, Kick: func() {}}
			first := settled(l)
			before := first
			for _, specs := range edit.steps() {
				s = busySet(t, specs)
				for _, q := range s.Queues {
					f.observeQueue(q)
				}
				is := settled(l)
				if diff := cmp.Diff(settled(Rebuild(s, ours, now, ledger.Options{})), is, asShown); diff != "" {
					t.Errorf("after %q a ledger built again differs:\n%s", specs, diff)
				}
				for _, wrong := range l.Check() {
					t.Errorf("after %q: %s", specs, wrong)
				}
				if !edit.unseen && cmp.Equal(before, is, asShown) {
					t.Errorf("%q changes nothing", specs)
				}
				before = is
			}
			if diff := cmp.Diff(first, before, asShown); diff != "" && edit.from == "" {
				t.Errorf("with all taken back, it is not what it was:\n%s", diff)
			}
		})
	}
}

// settled is what faces show once the ledger has taken the next step.
func settled(l *ledger.Ledger) seen {
	l.Settle(now.UnixNano())
	return seenOf(l)
}

// fieldsOf returns the paths of the fields that people state.
func fieldsOf(t reflect.Type, below string) (paths []string) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		of := t.Field(i).Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of.PkgPath() == t.PkgPath() {
			paths = append(paths, fieldsOf(of, below+name+".")...)
		} else {
			paths = append(paths, below+name)
		}
	}
	return paths
}

// busySet is a cluster whose queues have pods that run and pods that wait: drivers, users with several applications, priorities, and a pod of three cores.
// The specs are those of some queues; the others state nothing.
func busySet(t *testing.T, specs string) *objects.Set {
	t.Helper()
	stated := map[string]map[string]any{}
	if err := yaml.Unmarshal([]byte(specs), &stated); err != nil {
		t.Fatal(err)
	}
	s := &objects.Set{Nodes: []*v1.Node{readyNode("n0", "4"), readyNode("n1", "4")}}
	for i, path := range []string{"root", "root.a", "root.a.x", "root.a.y", "root.b", "root.c"} {
		spec := map[string]any{}
		maps.Copy(spec, stated[path])
		if _, states := stated["root.a"]["capacity"]; states && path == "root.c" {
			spec["capacity"] = "0%" // it has no part
		}
		q := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		q.SetName(path)
		q.SetCreationTimestamp(metav1.NewTime(now.Add(time.Duration(i-60) * time.Minute)))
		s.Queues = append(s.Queues, q)
	}
	add := func(name, queue, application, user, node string, change ...func(*v1.Pod)) {
		s.Pods = append(s.Pods, pod(name, append(change, func(p *v1.Pod) {
			p.Labels["fairway.dev/queue"], p.Labels["fairway.dev/application"] = queue, application
			p.Annotations = map[string]string{"fairway.dev/user": user}
			p.CreationTimestamp = metav1.NewTime(now.Add(time.Duration(len(s.Pods)-30) * time.Minute))
			p.Spec.NodeName = node
			if node != "" {
				p.Annotations["fairway.dev/placed-queue"] = queue
			}
		})...))
	}
	driver := func(p *v1.Pod) { p.Labels["fairway.dev/role"] = "driver" }
	prior := func(n int32) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.PriorityClassName, p.Spec.Priority = fmt.Sprint("c", n), &n }
	}
	large := func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("3")}
	}
	add("x1", "root.a.x", "one", "ada", "n0")
	add("x2", "root.a.x", "two", "ada", "n0", prior(7))
	add("x3", "root.a.x", "two", "ada", "")
	add("x4", "root.a.x", "three", "ada", "", prior(2))
	add("x5", "root.a.x", "four", "bob", "", prior(9))
	add("y1", "root.a.y", "five", "bob", "", large)
	add("b1", "root.b", "six", "bob", "n1", driver)
	add("b2", "root.b", "six", "bob", "")
	add("b3", "root.b", "seven", "bob", "", driver)
	add("b4", "root.b", "eight", "eve", "", driver)
	return s
}
