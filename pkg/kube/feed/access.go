package feed

import (
	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// askedIn returns a function that says which queue a pod asks for, by what it says or by the rules of placement; "" if none takes it.
func (f *Feed) askedIn(s *objects.Set) func(*v1.Pod) queue.Path {
	rules, queues := convert.PlacementPolicy(s.PlacementPolicy).Policy, convert.QueuesForPlacement(s.Queues)
	return func(pod *v1.Pod) queue.Path {
		var p ledger.Pod
		if f.reserve(pod, &p); p.Reservation != nil {
			return queue.Path(p.Queue)
		}
		user, groups := convert.UserBehind(pod, f.creators.get), convert.GroupsBehind(pod, f.creators.get)
		return rules.Place(placement.Submission{User: user, Groups: groups, Queue: convert.QueueRequest(pod)}, queues).Queue
	}
}

// forbidden returns what a scheduler has found out about the pod's user, if the pod says that its user may not submit to the queue that it asks for now.
func (f *Feed) forbidden(pod *v1.Pod) (q access.Question, says bool) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != v1alpha1.PodConditionQueued || c.Status != v1.ConditionTrue || c.Reason != string(reason.SubmitForbidden) {
			continue
		}
		path := f.asked(pod)
		q = access.Question{Subject: convert.Submitter(pod), Queue: path}
		why := reason.Reason{Code: reason.SubmitForbidden, Queue: string(path), Details: reason.Submitter{User: q.User}}
		return q, path != "" && why.Text() == c.Message
	}
	return q, false
}

// foundForbidden reports whether the pod says so, where nobody is asked: in a picture.
func (f *Feed) foundForbidden(pod *v1.Pod) bool {
	if f.asked == nil {
		return false
	}
	_, says := f.forbidden(pod)
	return says
}
