package plan

import (
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Names gives each queue of YARN its path. Names are rewritten as placement rewrites those of users and groups, so that a queue that is
// declared for a user is the user's. The zero value is ready.
type Names struct {
	of    map[string]queue.Path // by YARN's path
	taken map[queue.Path]string
}

// Child names the queue below a parent. clash is the queue of YARN that has the plain name already, "" if none has.
func (n *Names) Child(parent queue.Path, yarnParent, name string) (path queue.Path, clash string) {
	if n.of == nil {
		n.of, n.taken = map[string]queue.Path{}, map[queue.Path]string{}
	}
	full := yarnParent + "." + name
	if path, ok := n.of[full]; ok {
		return path, ""
	}
	path = parent + "." + queue.Path(placement.Label(name))
	if clash = n.taken[path]; clash != "" {
		path = parent + "." + queue.Path(placement.HashedLabel(name))
	}
	n.of[full], n.taken[path] = path, full
	return path, clash
}

// Of returns the path of a queue of YARN.
func (n *Names) Of(yarn string) (queue.Path, bool) {
	path, ok := n.of[yarn]
	return path, ok
}
