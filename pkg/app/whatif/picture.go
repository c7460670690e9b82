package whatif

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

// picture is the cluster as a plan would make it: a snapshot of the scheduler's cache, with changed nodes in place of some of its own. The
// snapshot and its nodes are never written, so that the next look brings it up to date by what changed in the cache alone.
type picture struct {
	base  *internalcache.Snapshot
	nodes []fwk.NodeInfo // in the order of the snapshot
	at    map[string]int // their places
}

var (
	_ fwk.SharedLister      = &picture{}
	_ fwk.NodeInfoLister    = &picture{}
	_ fwk.StorageInfoLister = &picture{}
)

func newPicture() *picture { return &picture{base: internalcache.NewEmptySnapshot()} }

// reset forgets all changes.
func (p *picture) reset() error {
	nodes, err := p.base.NodeInfos().List()
	if err != nil {
		return err
	}
	p.nodes = append(p.nodes[:0], nodes...)
	p.at = make(map[string]int, len(nodes))
	for i, n := range nodes {
		p.at[n.Node().Name] = i
	}
	return nil
}

// NodeInfos implements fwk.SharedLister.
func (p *picture) NodeInfos() fwk.NodeInfoLister { return p }

// StorageInfos implements fwk.SharedLister.
func (p *picture) StorageInfos() fwk.StorageInfoLister { return p }

// PodGroupStates implements fwk.SharedLister. They are those of upstream's own groups, which stay switched off.
func (p *picture) PodGroupStates() fwk.PodGroupStateLister { return p.base.PodGroupStates() }

// List implements fwk.NodeInfoLister.
func (p *picture) List() ([]fwk.NodeInfo, error) { return p.nodes, nil }

// Get implements fwk.NodeInfoLister.
func (p *picture) Get(name string) (fwk.NodeInfo, error) {
	if i, ok := p.at[name]; ok {
		return p.nodes[i], nil
	}
	return nil, fmt.Errorf("there is no node %q", name)
}

// HavePodsWithAffinityList implements fwk.NodeInfoLister.
func (p *picture) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return p.with(fwk.NodeInfo.GetPodsWithAffinity), nil
}

// HavePodsWithRequiredAntiAffinityList implements fwk.NodeInfoLister.
func (p *picture) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return p.with(fwk.NodeInfo.GetPodsWithRequiredAntiAffinity), nil
}

func (p *picture) with(pods func(fwk.NodeInfo) []fwk.PodInfo) (nodes []fwk.NodeInfo) {
	for _, n := range p.nodes {
		if len(pods(n)) > 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// IsPVCUsedByPods implements fwk.StorageInfoLister. It is asked for claims that one pod alone may use, which are few: the set that the
// snapshot keeps of them knows nothing of what has changed.
func (p *picture) IsPVCUsedByPods(key string) bool {
	for _, n := range p.nodes {
		if n.GetPVCRefCounts()[key] > 0 {
			return true
		}
	}
	return false
}
