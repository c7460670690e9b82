package placement

import (
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// MostCreated is how many queues placement may create in all, if the root does not state another number.
const MostCreated = 10_000

// Planned are queues that are about to be created, counted for each queue above them.
type Planned map[queue.Path]int64

// Add takes the queues of a decision in, unless some queue above them would then have too many created ones below it.
func (n Planned) Add(create []NewQueue, queues Queues) bool {
	if _, over := n.over(create, queues); over {
		return false
	}
	for _, p := range create[0].Path.Ancestors() {
		n[p] += int64(len(create))
	}
	return true
}

// over returns the first queue from the root on below which no such number of queues may be created.
func (n Planned) over(create []NewQueue, queues Queues) (queue.Path, bool) {
	for _, p := range create[0].Path.Ancestors() {
		if q := queues.Find(p); !q.most(p).Admits(q.CreatedBelow + n[p] + int64(len(create))) {
			return p, true
		}
	}
	return "", false
}

func (q Queue) most(p queue.Path) queue.Limit {
	if p == queue.Root && !q.MaxCreated.Stated {
		return queue.AtMost(MostCreated)
	}
	return q.MaxCreated
}

func tooMany(wanted, above queue.Path, most int64) string {
	return "queue " + string(wanted) + " cannot be created, as children.maxCreated of queue " + string(above) + " is " + strconv.FormatInt(most, 10)
}
