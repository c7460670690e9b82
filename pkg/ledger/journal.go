package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// Entry is one step of one pod, in the order in which the ledger took it.
type Entry struct {
	Sequence uint64
	UID      UID
	Name     string
	Queue    queue.Path
	State    State
}

// journal keeps the last size steps.
type journal struct {
	size    int
	next    uint64
	entries []Entry
}

func (j *journal) add(r *record, s State, leaf *queueAccount) {
	if j.size == 0 {
		return
	}
	e := Entry{Sequence: j.next, UID: r.UID, Name: r.Name, State: s}
	if leaf != nil {
		e.Queue = leaf.path
	}
	j.next++
	if len(j.entries) < j.size {
		j.entries = append(j.entries, e)
		return
	}
	j.entries[e.Sequence%uint64(j.size)] = e
}

// Journal returns the steps from sequence number from on that are still kept, oldest first. Empty unless Options.Journal is set.
func (l *Ledger) Journal(from uint64) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := &l.journal
	if oldest := j.next - uint64(len(j.entries)); from < oldest {
		from = oldest
	}
	es := make([]Entry, 0, j.next-from)
	for ; from < j.next; from++ {
		es = append(es, j.entries[from%uint64(j.size)])
	}
	return es
}
