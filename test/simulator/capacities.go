package simulator

import (
	"math/big"
	"math/rand/v2"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// drawCapacities has the children of some queues share by capacity, in one world of three. Their capacities agree with each
// other and stay as they are, so that the tree does not depend on what was in force before.
func drawCapacities(seed uint64, qs []queue.Declaration) {
	rng := rand.New(rand.NewPCG(seed, 17))
	if rng.IntN(3) > 0 {
		return
	}
	children, spec := map[queue.Path][]*queue.Declaration{}, map[queue.Path]*queue.Spec{}
	for i := range qs {
		d := &qs[i]
		children[d.Path.Parent()] = append(children[d.Path.Parent()], d)
		spec[d.Path] = &d.Spec
	}
	for i := range qs { // parents come before children
		siblings := children[qs[i].Path]
		if rng.IntN(3) == 0 || spec[qs[i].Path].Capacity == queue.AtMost(0) {
			continue
		}
		left := queue.Whole
		for j, d := range siblings {
			part := left
			if j < len(siblings)-1 {
				part = 10 * rng.Int64N(left/10*2/int64(len(siblings)-j)+1)
			}
			part = min(part, left)
			left -= part
			d.Spec.Capacity, d.Spec.Guaranteed, d.Percent.Guaranteed = queue.AtMost(part), resource.List{}, resource.List{}
			if rng.IntN(4) == 0 {
				d.Spec.MaxCapacity = queue.AtMost(part + 10*rng.Int64N((queue.Whole-part)/10+1))
			}
		}
	}
}

// agreesOnCapacity: the children of a queue share by capacity.
func (w *World) agreesOnCapacity(parent queue.Path) bool {
	for p, d := range w.queues { // order does not matter
		if p.Parent() == parent && d.Spec.Capacity.Stated {
			return true
		}
	}
	return false
}

// maxCapacityOf is the part of the cluster that a queue may use, nil if it states no less than all of what its parent may.
func (w *World) maxCapacityOf(q queue.Path) *big.Rat {
	if l := w.known.queues[q].Spec.MaxCapacity; !l.Stated || l.Most == queue.Whole {
		return nil
	}
	most := big.NewRat(1, 1)
	for ; q != queue.Root; q = q.Parent() {
		if l := w.known.queues[q].Spec.MaxCapacity; l.Stated {
			most.Mul(most, big.NewRat(l.Most, queue.Whole))
		}
	}
	return most
}

// capBy lowers the caps to a part of the cluster.
func (c caps) capBy(part *big.Rat, total size) caps {
	for i := range c {
		if part == nil || total[i] == 0 { // of what the cluster does not have, nobody may use a part
			continue
		}
		most := new(big.Int).Mul(big.NewInt(total[i]), part.Num())
		amount := most.Div(most, part.Denom()).Int64()
		if c[i] < 0 || c[i] > amount {
			c[i] = amount
		}
	}
	return c
}
