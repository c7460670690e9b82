package objects

import "github.com/fairway-scheduler/fairway/pkg/kube/convert"

// Announced is what a pod shows of its eviction to come: the queue and the pod for which it goes, and the sentence.
type Announced struct{ ForQueue, ForPod, Message string }

// Announced returns, by UID, the pods that show that Fairway is about to evict them.
func (s *Set) Announced() map[string]Announced {
	all := map[string]Announced{}
	for _, p := range s.Pods {
		if c := convert.Announcement(p); c != nil {
			queue, pod := convert.AnnouncedFor(c)
			all[string(p.UID)] = Announced{ForQueue: queue, ForPod: pod, Message: c.Message}
		}
	}
	return all
}
