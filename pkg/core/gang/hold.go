package gang

import "cmp"

// A group that needs many places at once would wait for ever behind small pods, each of which takes the place that has just become free.
// So does a pod that needs most of a node (core/largepod). So after a while nodes are held for it: for one group or large pod at a time, and
// not for long. Then all pods may use them for a while, and another one has its turn. pkg/ledger/node_holds.go says which pods may use a held node.

const (
	// Patience is how long a group waits for room before nodes are held for it: most get theirs as pods end. After a hold in vain the next one
	// waits as long.
	Patience int64 = 15 * 1_000_000_000
	// LongestHold is how long nodes are held for a group at most.
	LongestHold int64 = 5 * 60 * 1_000_000_000
	// ReviewEvery is the shortest time after which it is judged again whether the nodes may still be held.
	ReviewEvery int64 = 1_000_000_000
	// mostRefused bounds how many groups one walk judges in vain: each costs a look at all nodes and queues.
	mostRefused = 8
)

// Wait is the wait of a group, or of large pods, for room. The zero Wait is that of a group that lacks none.
type Wait struct {
	Since int64 // 0: it does not wait
	// Patience is how long it waits before its first turn; 0: as long as a group.
	Patience int64
	Turns    int // how often its turn was in vain: nodes were held, or might not be
	// RefusedAt is when nodes were last refused to it.
	RefusedAt int64
}

// Holds says for which group nodes are held. G names groups, and large pods, which are groups of one here; its zero value is none.
//
// Among the groups that have waited for long enough, those with the fewest turns in vain come first, and of these the first of the walk. The
// ledger looks for the nodes and says what came of it: Hold, Refuse or PassOver.
type Holds[G comparable] struct {
	For   G     // for which nodes are held
	Until int64 // when they are given back at the latest

	vainAt int64     // when nodes were last given back that were held in vain
	due    []turn[G] // groups that have waited for long enough, in the order of the walk
	first  int       // of those, whose turn it is: the first with the fewest turns
	nextAt int64     // when the next group of the walk will have waited for long enough; 0: none will

	refused    int   // groups of this walk
	reviewedAt int64 // when it was last judged that the nodes may be held
}

type turn[G comparable] struct {
	group G
	turns int
}

// Held reports whether nodes are held for a group.
func (h *Holds[G]) Held() bool {
	var none G
	return h.For != none
}

// Walk begins a walk through the groups in the order in which they would be released.
func (h *Holds[G]) Walk() { h.due, h.first, h.nextAt, h.refused = h.due[:0], 0, 0, 0 }

// LacksRoom notes that the walk came to a group for which there is no room.
func (h *Holds[G]) LacksRoom(g G, w *Wait, now int64) {
	if w.Since == 0 {
		w.Since = now
	}
	at := h.DueAt(w)
	if at > now {
		h.soonest(at)
		return
	}
	h.due = append(h.due, turn[G]{g, w.Turns})
	if w.Turns < h.due[h.first].turns {
		h.first = len(h.due) - 1
	}
}

// DueAt is when one that waits will have waited for long enough to have a turn.
func (h *Holds[G]) DueAt(w *Wait) int64 {
	return max(w.Since+cmp.Or(w.Patience, Patience), h.vainAt+Patience, w.RefusedAt+Patience)
}

// SomeDue reports whether the walk came to a group that has waited for long enough.
func (h *Holds[G]) SomeDue() bool { return len(h.due) > 0 }

// Others reports whether another group than the one for which nodes are held has waited for long enough. Then this one gets no further node.
func (h *Holds[G]) Others() bool {
	for _, t := range h.due {
		if t.group != h.For {
			return true
		}
	}
	return false
}

func (h *Holds[G]) soonest(at int64) {
	if h.nextAt == 0 || at < h.nextAt {
		h.nextAt = at
	}
}

// Turn returns the group for which nodes are to be held now, of those that the walk came to; false: none. sure: nothing that the walk comes to
// later changes that.
func (h *Holds[G]) Turn() (g G, sure, ok bool) {
	if h.Held() || len(h.due) == 0 || h.refused == mostRefused {
		return g, false, false
	}
	first := h.due[h.first]
	return first.group, first.turns == 0, true
}

// PassOver notes that held nodes would be of no use to the group whose turn it is. It is the turn of the next one.
func (h *Holds[G]) PassOver() {
	h.due = append(h.due[:h.first], h.due[h.first+1:]...)
	h.first = 0
	for i, t := range h.due {
		if t.turns < h.due[h.first].turns {
			h.first = i
		}
	}
}

// Hold notes that nodes are held for a group from now on.
func (h *Holds[G]) Hold(g G, now int64) { h.For, h.Until, h.reviewedAt = g, now+LongestHold, now }

// Refuse notes that no nodes may be held, now or any more, for the group whose turn it is or for which they are held. w is its wait. It goes to the end
// of those that wait, and has Patience again.
func (h *Holds[G]) Refuse(w *Wait, now int64) {
	w.RefusedAt = now
	w.Turns++
	if h.Held() {
		h.End()
		return
	}
	h.PassOver()
	h.soonest(now + Patience)
	if h.refused++; h.refused == mostRefused {
		h.soonest(now + ReviewEvery)
	}
}

// NextReview is from when on it may be judged again whether the nodes may be held, if anything has changed.
func (h *Holds[G]) NextReview() int64 { return h.reviewedAt + ReviewEvery }

// Reviewed notes that the nodes may be held.
func (h *Holds[G]) Reviewed(now int64) { h.reviewedAt = now }

// End notes that the nodes are given back before their time: the group has started, or room is of no use to it any more.
func (h *Holds[G]) End() {
	var none G
	h.For, h.Until = none, 0
}

// Expire ends a hold whose time is over, and reports whether it did. The group, of which w is the wait, goes to the end of those that wait.
func (h *Holds[G]) Expire(w *Wait, now int64) bool {
	if !h.Held() || h.Until > now {
		return false
	}
	h.End()
	h.vainAt, w.Since = now, now
	w.Turns++
	return true
}

// GiveBackOne notes that one of several nodes was held for long enough, and the next of them will have been at until.
func (h *Holds[G]) GiveBackOne(w *Wait, until int64) {
	h.Until = until
	w.Turns++
}

// NextChange is when time alone ends the hold, or makes a group wait for long enough; 0: never.
func (h *Holds[G]) NextChange() int64 {
	if h.Held() {
		return h.Until
	}
	return h.nextAt
}
