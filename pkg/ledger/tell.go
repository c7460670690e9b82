package ledger

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Telling is what a pod's Queued condition should say; a zero Reason clears it.
type Telling struct {
	UID       UID
	Namespace string
	Name      string
	Reason    reason.Reason
}

// tellable holds are those a user must act on, or a limit; a pod that waits for its turn or for a back-off needs no condition.
func tellable(h reason.Reason) bool {
	switch h.Code {
	case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.QueueNotReady, reason.QueueDeleted,
		reason.MaxPodResources, reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.PodGroupNotFound:
		return true
	}
	return false
}

// TakeTellings returns at most n pods whose condition no longer says what holds them, and takes them as told. A caller that fails
// to write one gives it back with Untold.
func (l *Ledger) TakeTellings(n int) []Telling {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return nil
	}
	l.settleAll() // a new tree may change what holds pods
	l.explain()
	var ts []Telling
	looked := 0
	for ; looked < len(l.toTell) && len(ts) < n; looked++ {
		r := l.toTell[looked]
		r.telling = false
		if l.pods[r.UID] != r || r.state == Gone {
			continue
		}
		hold, text := l.told(r), ""
		if hold.Code != "" {
			text = hold.Text()
		}
		if text == r.told || r.inherited && sentenceOf(hold, r.told) {
			continue
		}
		r.told, r.inherited = text, false
		ts = append(ts, Telling{UID: r.UID, Namespace: r.Namespace, Name: r.Name, Reason: hold})
	}
	l.toTell = slices.Delete(l.toTell, 0, looked)
	return ts
}

// told is what the pod should be told of. A sentence that another process wrote may be of a limit that nobody has looked at here.
func (l *Ledger) told(r *record) reason.Reason {
	if tellable(r.hold) {
		return r.hold
	}
	if r.inherited && r.limited == nil && r.state == Waiting && !r.held() && r.leaf != nil {
		if why, limited := l.limitOn(r.app, r.class); limited {
			r.limited = &why
		}
	}
	return r.limitTold()
}

// sentenceOf reports whether a text is the sentence of this limit, at some time: everything before the first number that moves is the same
// (see sameLimit). Without this, whoever leads next would say all such sentences anew, each with an event.
func sentenceOf(limit reason.Reason, text string) bool {
	other := withMoving(limit, -1)
	if limit.Code == reason.StateAware {
		other.Other = "-"
	}
	is, moved := limit.Text(), other.Text()
	n := 0
	for n < min(len(is), len(moved)) && is[n] == moved[n] {
		n++
	}
	return n > 0 && strings.HasPrefix(text, is[:n])
}

// tell puts the pod on the list of those whose condition may have to change.
func (l *Ledger) tell(r *record) {
	if !r.telling && !l.trying {
		r.telling = true
		l.toTell = append(l.toTell, r)
	}
}

// Untold notes that the pod's condition could not be written: it is told again.
func (l *Ledger) Untold(uid UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		r.told = "\x00" // equals no sentence
		l.tell(r)
	}
}
