package feed

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// creators are the drivers, which create other pods of their applications, by UID.
type creators struct {
	mu  sync.RWMutex
	all map[types.UID]convert.Creator
}

// see notes what a pod says of those that it creates. changed: those that it controls must be observed again.
func (c *creators) see(pod *v1.Pod, role application.Role) (changed bool) {
	if role != application.Driver {
		return c.forget(pod.UID)
	}
	now := convert.CreatorOf(pod)
	if before, ok := c.get(pod.UID); ok && before == now {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[types.UID]convert.Creator{}
	}
	c.all[pod.UID] = now
	return true
}

func (c *creators) forget(uid types.UID) (changed bool) {
	if _, ok := c.get(uid); !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, uid)
	return true
}

func (c *creators) get(uid types.UID) (convert.Creator, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	is, ok := c.all[uid]
	return is, ok
}

// creates calls Created if a pod says something new of those that it creates.
func (f *Feed) creates(changed bool, uid types.UID) {
	if changed && f.Created != nil {
		f.Created(uid)
	}
}
