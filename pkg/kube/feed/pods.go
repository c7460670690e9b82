package feed

import (
	"cmp"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Feed carries API objects into a ledger. All fields but the last must be set before the first event.
type Feed struct {
	Ledger *ledger.Ledger
	// Ours tells whether pods with this schedulerName are ours to schedule.
	Ours func(schedulerName string) bool
	// Gate names the PreEnqueue plugin of another party that would block the pod now, "" if none would.
	Gate func(*v1.Pod) string
	// Now is the time in nanoseconds since the epoch.
	Now func() int64
	// Kick is called after each event: a round of the dispatcher may be due. It must not block.
	Kick    func()
	Classes *Classes
	// RackKey is the label of nodes that names their rack; "": they are in none.
	RackKey string
	// Access: what pods may start depends on whether their users may submit to their queues. Somebody has to answer what the ledger asks.
	Access bool
	// Unreadable, if set, is called with the error if a pod group cannot be read. (A Queue has a status for that.)
	Unreadable func(error)
	// WantOwners, if set, is called once, when owners begin to matter (see Owners): with the first StateAware queue.
	WantOwners func()
	// Resized, if set, is called when an owner says something new about its pods: they must be observed again.
	Resized func(owner types.UID)
	// Created, if set, is called when a pod says something new about those that it controls: they must be observed again, later, by another
	// goroutine.
	Created func(by types.UID)
	// Reserved, if set, is called when a reservation says something new to the pods that name it: they must be observed again, later, by another
	// goroutine.
	Reserved func(namespace, name string)

	// asked is set in a picture, where nobody is asked about access and what pods show counts: which queue a pod asks for.
	asked       func(*v1.Pod) queue.Path
	generations sync.Map // of Queues, by name
	nodeFacts   sync.Map // by name of the node
	elsewhere   elsewhere
	owners      owners
	creators    creators
	// reservations has a reserved for each namespace/name.
	reservations sync.Map
}

// ObservePod implements turnstile.Observer.
func (f *Feed) ObservePod(pod *v1.Pod) (ours bool) {
	ours = f.Ours(pod.Spec.SchedulerName)
	if ended(pod) {
		f.ForgetPod(pod) // an ended pod takes part in nothing; kube-scheduler's informer never shows one
		return ours
	}
	f.Classes.see(pod)
	p := ledger.Pod{
		UID: ledger.UID(pod.UID), Namespace: pod.Namespace, Name: pod.Name,
		Foreign: !ours,
		Request: convert.PodRequest(pod),
		Created: pod.CreationTimestamp.UnixNano(),
		Node:    pod.Spec.NodeName,
	}
	changed := false
	if ours {
		changed = f.describe(pod, &p)
	} else if p.Node == "" {
		return false
	}
	f.Ledger.ObservePod(p, f.Now())
	f.creates(changed, pod.UID)
	return ours
}

func ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// describe fills in what counts of a pod of ours. changed: those that it creates must be observed again.
func (f *Feed) describe(pod *v1.Pod, p *ledger.Pod) (changed bool) {
	p.Queue = convert.QueueRequest(pod)
	p.Placed = pod.Annotations[v1alpha1.KeyPlacedQueue]
	p.Application, p.Role = convert.ApplicationOf(pod)
	changed = f.creators.see(pod, p.Role)
	p.Single = convert.Single(pod, p.Application, p.Role, f.onePod)
	p.User = convert.UserBehind(pod, f.creators.get)
	if p.Node == "" {
		p.Groups = convert.GroupsBehind(pod, f.creators.get)
	}
	p.PodGroup = convert.GangOf(pod)
	says, unread := convert.Priority(pod)
	p.Priority, p.Classed, p.AskedPriority, p.UnreadPriority = says.Value, says.Classed, says.Application, unread
	p.Terminating = pod.DeletionTimestamp != nil
	if p.Terminating {
		p.Deadline = pod.DeletionTimestamp.UnixNano()
	}
	p.Shown = shown(pod)
	if p.Node == "" && !p.Terminating {
		p.Class = f.Classes.of(pod, p.Request, p.Role == application.Driver)
		p.Eligible = eligible(pod)
		p.PreferredNodes, p.PreferredRacks = convert.PreferredNodes(pod), convert.PreferredRacks(pod)
		p.Gate = f.Gate(pod)
		if f.Access || f.foundForbidden(pod) {
			p.Submitter = convert.Submitter(pod)
		}
		p.Unschedulable = unschedulable(pod)
		f.reserve(pod, p)
	}
	p.Lasts = convert.Lasts(pod)
	if p.Node != "" {
		p.Bound = bound(pod)
		if c := convert.Announcement(pod); c != nil {
			p.Announced = c.LastTransitionTime.UnixNano()
		}
	} else {
		p.Nominated = pod.Status.NominatedNodeName
	}
	return changed
}

// bound returns when the pod got its node. The API server writes the condition with the node. A pod that was created
// with a node has no such condition at first; then the time counts at which its kubelet took it in.
func bound(pod *v1.Pod) int64 {
	at := pod.CreationTimestamp
	if start := pod.Status.StartTime; !start.IsZero() {
		at = *start
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			at = c.LastTransitionTime
		}
	}
	return at.UnixNano()
}

// shown is the sentence of the condition Queued. It has one where something blocks the pod, or where something that the pod says has no effect.
func shown(pod *v1.Pod) string {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == v1alpha1.PodConditionQueued {
			return c.Message
		}
	}
	return ""
}

// unschedulable returns what the pod shows to cluster autoscalers. They look for this type, status and reason.
func unschedulable(pod *v1.Pod) string {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable {
			return cmp.Or(c.Message, c.Reason)
		}
	}
	return ""
}

// ForgetPod implements turnstile.Observer.
func (f *Feed) ForgetPod(pod *v1.Pod) {
	if pod.DeletionTimestamp == nil && ended(pod) {
		f.Ledger.EndPod(ledger.UID(pod.UID), f.Now())
		return
	}
	f.Ledger.ForgetPod(ledger.UID(pod.UID), f.Now())
	f.creates(f.creators.forget(pod.UID), pod.UID)
}

// Changed implements turnstile.Observer.
func (f *Feed) Changed() { f.Kick() }
