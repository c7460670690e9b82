package simulator

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// known is what the watches have told the scheduler so far.
type known struct {
	queues map[queue.Path]queue.Declaration
	pods   []*pod // by UID
	nodes  map[string]ledger.Node
	groups map[string]ledger.PodGroup
	policy placePolicy
}

func newKnown() known {
	return known{queues: map[queue.Path]queue.Declaration{}, nodes: map[string]ledger.Node{}, groups: map[string]ledger.PodGroup{}}
}

// learn notes what a watch shows of a pod.
func (w *World) learn(p *pod, now ledger.Pod) {
	p.says, p.asks = identityOf(&now), sizeOf(now.Request)
	if p.charged != "" && now.Node == "" {
		identityOf(&p.seen).on(&now)
	}
	p.seen = now
	p.home = w.homeOf(p)
	if !p.known {
		i, _ := slices.BinarySearchFunc(w.known.pods, p.UID, compareUID)
		w.known.pods = slices.Insert(w.known.pods, i, p)
		p.known = true
	}
	w.outdate()
}

// identity is what a pod counts as. It does not change while the pod is charged and has no node.
type identity struct {
	application, user string
	role              application.Role
}

func identityOf(p *ledger.Pod) identity { return identity{p.Application, p.User, p.Role} }

func (i identity) on(p *ledger.Pod) { p.Application, p.User, p.Role = i.application, i.user, i.role }

// unlearn: the watch shows that the pod is gone, or nobody knows any more what it has shown.
func (w *World) unlearn(p *pod) {
	if !p.known {
		return
	}
	i, _ := slices.BinarySearchFunc(w.known.pods, p.UID, compareUID)
	w.known.pods = slices.Delete(w.known.pods, i, i+1)
	p.seen, p.asks, p.home, p.known = ledger.Pod{}, size{}, "", false
	w.outdate()
}

func compareUID(p *pod, uid ledger.UID) int { return cmp.Compare(p.UID, uid) }

// lookUp returns a pod of which nothing is known where there is none.
func (w *World) lookUp(uid ledger.UID) *pod {
	if p := w.pods[uid]; p != nil {
		return p
	}
	return &pod{}
}
