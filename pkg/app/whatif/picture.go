package whatif

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

// picture is the cluster as a plan would change it: a snapshot of the scheduler's cache, with copies in place
// of the nodes that changed. The snapshot and its nodes are never written, so the next look only has to apply
// the changes of the cache.
type picture struct {
	base  *internalcache.Snapshot
	nodes []fwk.NodeInfo // in the order of the snapshot
	at    map[string]int // their indexes
}

var (
	_ fwk.SharedLister      = &picture{}
	_ fwk.NodeInfoLister    = &picture{}
	_ fwk.StorageInfoLister = &picture{}
)

func newPicture() *picture { return &picture{base: internalcache.NewEmptySnapshot()} }

// reset undoes all changes.
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

// PodGroupStates implements fwk.SharedLister. It returns the states of upstream's own groups, which are
// disabled.
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

// IsPVCUsedByPods implements fwk.StorageInfoLister. It is called only for claims that a single pod may use,
// which are few. The snapshot's own set does not reflect the changes.
func (p *picture) IsPVCUsedByPods(key string) bool {
	for _, n := range p.nodes {
		if n.GetPVCRefCounts()[key] > 0 {
			return true
		}
	}
	return false
}
