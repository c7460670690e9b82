package feed

import (
	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// forbidden returns what a scheduler has found out about the pod's user, if the pod says that its user may not submit to the queue that it asks for now.
func forbidden(pod *v1.Pod) (q access.Question, says bool) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != v1alpha1.PodConditionQueued || c.Status != v1.ConditionTrue || c.Reason != string(reason.SubmitForbidden) {
			continue
		}
		path, err := queue.ParseRequest(convert.QueueRequest(pod))
		if err != nil {
			return q, false
		}
		q = access.Question{Subject: convert.Submitter(pod), Queue: path}
		why := reason.Reason{Code: reason.SubmitForbidden, Queue: string(path), Details: reason.Submitter{User: q.User}}
		return q, why.Text() == c.Message
	}
	return q, false
}

// foundForbidden reports whether the pod says so, where nobody is asked: in a picture.
func (f *Feed) foundForbidden(pod *v1.Pod) bool {
	if !f.picture {
		return false
	}
	_, says := forbidden(pod)
	return says
}
