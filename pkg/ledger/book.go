package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// class is the set of pods that every filter would judge alike, so that one failed attempt speaks for all of them.
type class struct {
	key      string
	request  resource.List
	eligible func(facts any) bool
	pods     int // records that refer to it

	// closed: the probe fitted no node. Only an event that may change that opens the class again.
	closed bool
	probe  *record
	// speaker is the pod that failed last: it shows users and autoscalers, in upstream's words, why its class waits.
	speaker *record
	// closedUntil: attempts fail with errors that are not about room (no nodes, an extender down); time opens the class again.
	closedUntil int64
	failures    int
	// allowance bounds the released pods that have not been reserved yet. It starts at 1 and doubles with every Reserve, so that
	// a hopeless class costs one attempt and a class that fits is soon released at full speed.
	allowance   int
	outstanding int

	room    room
	witness *node // a node with room, as of the last look
	failed  bool  // an attempt has failed: from then on, room is asked for
	lastTry int64

	mark uint64 // choose: generation in which the class may be released
}

func (c *class) reopen() { c.closed, c.probe, c.closedUntil, c.allowance = false, nil, 0, 1 }

// book is the order book of one account for one class: the pods of that class that may be released from its subtree, in the
// account's order. Books of one class form a tree beside the tree of queues, and a book is in its parent's book exactly while
// something in it may be released under the account's own limits; so the walk from the root meets no dead end, and a class that
// closes costs nothing however many queues it waits in. (One book per account for all classes was rejected: a parked class would
// have to be scanned past in every queue.)
type book struct {
	ledger   *Ledger
	account  *account
	class    *class
	parent   *book
	inParent int
	blocked  bool // a limit of the account admits no further pod of the class

	members heap[*book]     // of a queue: the books of its children
	pods    heap[bookEntry] // of an application: its pods
}

func (b *book) before(o *book) bool {
	n, _ := ordering.Compare(b.account.parent.spec.Policy, &b.account.key, &o.account.key)
	return n < 0
}
func (b *book) place() *int { return &b.inParent }

func (b *book) empty() bool { return len(b.members) == 0 && len(b.pods) == 0 }

// find returns the account's book for the class, nil if there is none.
func (a *account) find(c *class) *book {
	for _, b := range a.books {
		if b.class == c {
			return b
		}
	}
	return nil
}

func (l *Ledger) bookFor(a *account, c *class) *book {
	if b := a.find(c); b != nil {
		return b
	}
	var b *book
	if n := len(l.spare); n > 0 {
		b, l.spare = l.spare[n-1], l.spare[:n-1]
	} else {
		b = &book{ledger: l}
	}
	b.account, b.class, b.inParent, b.blocked = a, c, out, a.over(c)
	a.books = append(a.books, b)
	return b
}

// settle makes the book a member of its parent's book, or takes it out, as its content and limit now ask, and so on upwards. An
// empty book goes to the spare ones: in steady state nothing is allocated.
func (b *book) settle() {
	for b != nil {
		wanted := !b.empty() && !b.blocked && b.account.parent != nil
		switch next := b.parent; {
		case wanted && b.inParent == out:
			b.parent = b.ledger.bookFor(b.account.parent, b.class)
			b.parent.members.push(b)
			b = b.parent
		case !wanted && b.inParent != out:
			next.members.remove(b)
			b.parent = nil
			b.dropIfEmpty()
			b = next
		default:
			b.dropIfEmpty()
			return
		}
	}
}

func (b *book) dropIfEmpty() {
	if !b.empty() {
		return
	}
	i := slices.Index(b.account.books, b)
	b.account.books = slices.Delete(b.account.books, i, i+1)
	b.account, b.class = nil, nil
	b.ledger.spare = append(b.ledger.spare, b)
}

// enlist puts a waiting pod into the order book of its application.
func (l *Ledger) enlist(r *record) {
	b := l.bookFor(r.app, r.class)
	b.pods.push(bookEntry{r})
	b.settle()
}

func (l *Ledger) delist(r *record) {
	b := r.app.find(r.class)
	b.pods.remove(bookEntry{r})
	b.settle()
}
