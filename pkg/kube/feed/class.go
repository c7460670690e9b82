package feed

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Classes names classes of pods that every filter would judge alike. The framework's own SignPod will not do: it refuses every pod
// under the default topology spread, and signs all labels.
type Classes struct {
	// Single makes each pod its own class: extenders may read anything.
	Single bool
	// Relabel is called, once, when labels begin to matter; every waiting pod must be observed anew.
	Relabel func()

	// labels: some pod of the cluster has required anti-affinity, so the labels of others decide where they may go.
	labels atomic.Bool
}

// see notes whether the pod lets filters look at the labels of others. Once seen, labels stay in the classes: to forget would need
// a count of such pods, and what it would save is a few probes.
func (c *Classes) see(pod *v1.Pod) {
	if a := pod.Spec.Affinity; a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return
	}
	if c.labels.CompareAndSwap(false, true) && c.Relabel != nil {
		c.Relabel()
	}
}

// of hashes all that filters read of a pod.
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
		s.NodeSelector, s.Affinity, s.Tolerations, s.TopologySpreadConstraints, hostPorts(s), visibleVolumes(s), s.ResourceClaims, features(s), nil,
	}
	if c.labels.Load() || s.Affinity != nil || len(s.TopologySpreadConstraints) > 0 {
		deep.Labels = pod.Labels
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
