package spark

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// Progress counts what pods of applications show. It must see each version of each pod, in the order of the
// API server: only then do the counts describe single moments.
type Progress struct {
	pods   map[types.UID]*podSeen
	apps   map[string]*appSeen
	queues map[string]*Counts
}

// Counts are the counts of one queue, now and, for those named Most, at any moment so far.
type Counts struct {
	// With a node, and without. Pods that have ended or are being deleted count in neither.
	DriversRunning, DriversWaiting, ExecutorsRunning, ExecutorsWaiting int
	// Starting counts applications whose driver has a node while none of their executors has ever had one.
	Starting, MostStarting int
	// MostRunning is the most pods with a node at a time; MostDriversAlone is the most drivers at a time when
	// no executor had one.
	MostRunning, MostDriversAlone int
}

type podSeen struct {
	driver         bool
	waits, running bool
	app            *appSeen
	queue          *Counts
}

// appSeen is an application, as its pods show it. starts counts its drivers with a node.
type appSeen struct {
	drivers int
	started bool
}

func (a *appSeen) starting() bool { return a.drivers > 0 && !a.started }

// NewProgress returns a Progress that has seen nothing.
func NewProgress() *Progress {
	return &Progress{pods: map[types.UID]*podSeen{}, apps: map[string]*appSeen{}, queues: map[string]*Counts{}}
}

// Queue returns the counts of a queue, as applications name it.
func (p *Progress) Queue(name string) Counts {
	if c := p.queues[name]; c != nil {
		return *c
	}
	return Counts{}
}

// See takes in a version of a pod. Pods of no application do not count.
func (p *Progress) See(pod *v1.Pod, deleted bool) {
	role := pod.Labels["spark-role"]
	if role == "" {
		return
	}
	s := p.pods[pod.UID]
	if s == nil {
		s = &podSeen{driver: role == "driver", app: p.app(pod), queue: p.queue(pod.Labels[v1alpha1.KeyQueue])}
		p.pods[pod.UID] = s
	}
	c, wasStarting := s.queue, s.app.starting()
	s.count(-1)
	lives := !deleted && pod.DeletionTimestamp == nil && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
	s.running = lives && pod.Spec.NodeName != ""
	s.waits = lives && pod.Spec.NodeName == ""
	s.app.started = s.app.started || !s.driver && pod.Spec.NodeName != ""
	s.count(1)
	c.Starting += btoi(s.app.starting()) - btoi(wasStarting)
	c.MostStarting = max(c.MostStarting, c.Starting)
	c.MostRunning = max(c.MostRunning, c.DriversRunning+c.ExecutorsRunning)
	if c.ExecutorsRunning == 0 {
		c.MostDriversAlone = max(c.MostDriversAlone, c.DriversRunning)
	}
	if deleted {
		delete(p.pods, pod.UID)
	}
}

func (s *podSeen) count(sign int) {
	running, waiting := &s.queue.ExecutorsRunning, &s.queue.ExecutorsWaiting
	if s.driver {
		running, waiting = &s.queue.DriversRunning, &s.queue.DriversWaiting
		s.app.drivers += sign * btoi(s.running)
	}
	*running += sign * btoi(s.running)
	*waiting += sign * btoi(s.waits)
}

func (p *Progress) app(pod *v1.Pod) *appSeen {
	name := pod.Labels["spark-app-selector"]
	a := p.apps[name]
	if a == nil {
		a = &appSeen{}
		p.apps[name] = a
	}
	return a
}

func (p *Progress) queue(name string) *Counts {
	c := p.queues[name]
	if c == nil {
		c = &Counts{}
		p.queues[name] = c
	}
	return c
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
