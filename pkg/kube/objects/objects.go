// Package objects holds the API objects that a picture of a cluster is made of, wherever they come from: a file as `kubectl get -o yaml`
// writes it, or a live API server.
//
// In: a stream. Out: a Set, or an error that names the stream, the place in it, the object, and what is allowed. It
// refuses only what no API server would accept. Problems of Queues are found where the scheduler finds them: on the way
// into the ledger.
package objects

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	corequeue "github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// Set is what is known of one cluster at one moment. Queues and PodGroups are not decoded, so that an unreadable one
// hides no other. The objects of a set are shared and never edited.
type Set struct {
	Queues        []*unstructured.Unstructured
	Nodes         []*corev1.Node
	Pods          []*corev1.Pod
	DeviceClasses []*resourcev1.DeviceClass
	PodGroups     []*unstructured.Unstructured // of both kinds: scheduler-plugins' and that of Kubernetes itself
	Owners        []*convert.Owner             // of pods, of all kinds

	PodDisruptionBudgets []*policyv1.PodDisruptionBudget

	// Only these roles and bindings count for Queues, which are in no namespace.
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
	Reservations        []*unstructured.Unstructured
	// PlacementPolicy is nil if there is none. It is not decoded, as Queues are not.
	PlacementPolicy *unstructured.Unstructured

	policyAt Problem // where PlacementPolicy is written

	stream string   // what errors call the stream
	others []string // what else the stream held, for errors: kinds without an effect
}

// PolicyProblem is what is wrong with the PlacementPolicy, at its place.
func (s *Set) PolicyProblem(err error) Problem {
	p := s.policyAt
	p.Object, p.Message = kindPolicy+" "+s.PlacementPolicy.GetName(), err.Error()
	return p
}

// What lies outside is no time of a cluster, nor can nanoseconds since the epoch say it.
var earliest, latest = time.Unix(0, 0), time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)

// Newest is the newest time at which something is known to have happened: creations, conditions, starts and ends of containers. It is zero
// where no object tells a time. Times that may lie ahead (deletionTimestamp, which adds the grace period) do not count, nor those of
// managedFields, which a Set does not keep.
func (s *Set) Newest() time.Time {
	var n newest
	for _, q := range s.Queues {
		n.queue(q)
	}
	if s.PlacementPolicy != nil {
		n.queue(s.PlacementPolicy)
	}
	for _, r := range s.Reservations {
		n.queue(r)
	}
	for _, c := range s.DeviceClasses {
		n.see(c.CreationTimestamp)
	}
	for _, g := range s.PodGroups {
		n.see(g.GetCreationTimestamp())
	}
	for _, o := range s.Owners {
		n.see(o.CreationTimestamp)
	}
	for _, b := range s.PodDisruptionBudgets {
		n.see(b.CreationTimestamp)
	}
	for _, node := range s.Nodes {
		n.see(node.CreationTimestamp)
		for i := range node.Status.Conditions {
			n.see(node.Status.Conditions[i].LastHeartbeatTime)
			n.see(node.Status.Conditions[i].LastTransitionTime)
		}
	}
	for _, p := range s.Pods {
		n.pod(p)
	}
	return n.at
}

// Gated reports whether some queue is StateAware, or was to the last: only then do owners matter.
func (s *Set) Gated() bool {
	for _, q := range s.Queues {
		for _, of := range []string{"spec", "status"} {
			name, _, _ := unstructured.NestedString(q.Object, of, "policy")
			if policy, err := corequeue.ParsePolicy(name); err == nil && policy == corequeue.StateAware {
				return true
			}
		}
	}
	return false
}

type newest struct{ at time.Time }

func (n *newest) see(t metav1.Time) {
	if t.After(n.at) && t.Time.Before(latest) {
		n.at = t.Time
	}
}

func (n *newest) text(t string) {
	if at, err := time.Parse(time.RFC3339, t); err == nil {
		n.see(metav1.NewTime(at))
	}
}

func (n *newest) queue(q *unstructured.Unstructured) {
	n.see(q.GetCreationTimestamp())
	conditions, _, _ := unstructured.NestedFieldNoCopy(q.Object, "status", "conditions")
	all, _ := conditions.([]any)
	for _, c := range all {
		if condition, ok := c.(map[string]any); ok {
			at, _ := condition["lastTransitionTime"].(string)
			n.text(at)
		}
	}
}

func (n *newest) pod(p *corev1.Pod) {
	n.see(p.CreationTimestamp)
	for i := range p.Status.Conditions {
		n.see(p.Status.Conditions[i].LastProbeTime)
		n.see(p.Status.Conditions[i].LastTransitionTime)
	}
	if p.Status.StartTime != nil {
		n.see(*p.Status.StartTime)
	}
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			for _, s := range []*corev1.ContainerState{&statuses[i].State, &statuses[i].LastTerminationState} {
				if s.Running != nil {
					n.see(s.Running.StartedAt)
				}
				if s.Terminated != nil {
					n.see(s.Terminated.FinishedAt)
				}
			}
		}
	}
}
