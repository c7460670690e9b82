package feed

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Classes names classes of pods that every filter would judge alike. The framework's own SignPod does not serve: it
// refuses every pod under the default topology spread, and signs all labels.
type Classes struct {
	// Single makes each pod its own class: extenders may read anything.
	Single bool
	// Relabel is called when more labels begin to matter, maxVisible + 1 times at most; every waiting pod must be observed again.
	Relabel func()

	// visible are the labels by which the required anti-affinity of some pod of the cluster decides where others may go.
	visible atomic.Pointer[labelKeys]
}

// maxVisible bounds how many labels of others are told apart; beyond it, all labels count. Most clusters have few.
// Without a bound, a user could cause all waiting pods to be observed again for each of the user's pods.
const maxVisible = 64

// labelKeys is a set of label keys that is never edited. A selector depends on its own keys only, so labels that differ
// between the pods of an application (indexes, hashes, numbers of executors) are no part of its class.
type labelKeys struct {
	keys map[string]bool
	all  bool
}

// see notes by which labels filters compare the pod with others. The labels stay in the classes: forgetting them would
// need a count of such pods, and would save only a few probes.
func (c *Classes) see(pod *v1.Pod) {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return
	}
	for {
		before := c.visible.Load()
		now := before.with(keysOf(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
		if now == before {
			return
		}
		if c.visible.CompareAndSwap(before, now) {
			if c.Relabel != nil {
				c.Relabel()
			}
			return
		}
	}
}

// with returns the set with more keys, or the set itself if it has them already. A nil set has none.
func (k *labelKeys) with(more []string) *labelKeys {
	wider, had := map[string]bool{}, 0
	if k != nil {
		if k.all {
			return k
		}
		had = len(k.keys)
		maps.Copy(wider, k.keys)
	}
	for _, key := range more {
		wider[key] = true
	}
	switch {
	case len(wider) == had:
		return k
	case len(wider) > maxVisible:
		return &labelKeys{all: true}
	}
	return &labelKeys{keys: wider}
}

func keysOf(terms []v1.PodAffinityTerm) (keys []string) {
	for i := range terms {
		keys = slices.Concat(keys, keysOfSelector(terms[i].LabelSelector), terms[i].MatchLabelKeys, terms[i].MismatchLabelKeys)
	}
	return keys
}

func keysOfSelector(s *metav1.LabelSelector) (keys []string) {
	if s == nil {
		return nil
	}
	for key := range s.MatchLabels { // into a set: order does not matter
		keys = append(keys, key)
	}
	for i := range s.MatchExpressions {
		keys = append(keys, s.MatchExpressions[i].Key)
	}
	return keys
}

// labels are those labels of the pod that filters read: for the anti-affinity of other pods, and to see whether its own
// affinity and spread include itself.
func (c *Classes) labels(pod *v1.Pod) map[string]string {
	var own []string
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		own = keysOf(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		t := &pod.Spec.TopologySpreadConstraints[i]
		own = slices.Concat(own, keysOfSelector(t.LabelSelector), t.MatchLabelKeys)
	}
	seen := c.visible.Load().with(own)
	switch {
	case seen == nil:
		return nil
	case seen.all:
		return pod.Labels
	}
	labels := map[string]string{}
	for key := range seen.keys { // into a map: order does not matter
		if value, ok := pod.Labels[key]; ok {
			labels[key] = value
		}
	}
	return labels
}

// of hashes everything that filters read of a pod.
func (c *Classes) of(pod *v1.Pod, request resource.List, driver bool) string {
	if c.Single {
		return string(pod.UID)
	}
	s := &pod.Spec
	h := fnv.New128a()
	put := func(text string) {
		h.Write([]byte(strconv.Itoa(len(text))))
		h.Write([]byte(text))
	}
	put(s.SchedulerName)
	put(pod.Namespace)
	put(request.String())
	put(strconv.FormatBool(driver))
	if s.Priority != nil {
		put(strconv.Itoa(int(*s.Priority)))
	}
	deep := struct {
		Selector    map[string]string             `json:",omitempty"`
		Affinity    *v1.Affinity                  `json:",omitempty"`
		Tolerations []v1.Toleration               `json:",omitempty"`
		Spread      []v1.TopologySpreadConstraint `json:",omitempty"`
		Ports       []v1.ContainerPort            `json:",omitempty"`
		Volumes     []v1.Volume                   `json:",omitempty"`
		Claims      []v1.PodResourceClaim         `json:",omitempty"`
		Features    []string                      `json:",omitempty"`
		Labels      map[string]string             `json:",omitempty"`
	}{
		s.NodeSelector, s.Affinity, s.Tolerations, s.TopologySpreadConstraints, hostPorts(s), visibleVolumes(s), s.ResourceClaims, features(s), c.labels(pod),
	}
	text, err := json.Marshal(deep) // maps are sorted by encoding/json
	if err != nil {
		return string(pod.UID)
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

func hostPorts(s *v1.PodSpec) (ports []v1.ContainerPort) {
	for _, cs := range [][]v1.Container{s.InitContainers, s.Containers} {
		for i := range cs {
			for _, p := range cs[i].Ports {
				if p.HostPort != 0 {
					ports = append(ports, v1.ContainerPort{HostPort: p.HostPort, HostIP: p.HostIP, Protocol: p.Protocol})
				}
			}
		}
	}
	return ports
}

// visibleVolumes leaves out the kinds that no filter looks at; every pod has a projected token of its own name.
func visibleVolumes(s *v1.PodSpec) (vs []v1.Volume) {
	for i := range s.Volumes {
		src := &s.Volumes[i].VolumeSource
		if src.Projected == nil && src.ConfigMap == nil && src.Secret == nil && src.EmptyDir == nil && src.DownwardAPI == nil && src.HostPath == nil {
			vs = append(vs, s.Volumes[i])
		}
	}
	return vs
}

// features are what kube-scheduler infers node features from.
func features(s *v1.PodSpec) (fs []string) {
	if s.OS != nil {
		fs = append(fs, "os="+string(s.OS.Name))
	}
	if s.RuntimeClassName != nil {
		fs = append(fs, "runtime="+*s.RuntimeClassName)
	}
	for i := range s.InitContainers {
		if p := s.InitContainers[i].RestartPolicy; p != nil {
			fs = append(fs, "sidecar="+string(*p))
		}
	}
	if s.HostUsers != nil {
		fs = append(fs, "hostusers="+strconv.FormatBool(*s.HostUsers))
	}
	slices.Sort(fs)
	return fs
}
