package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/reason"

// Telling is what a pod's Queued condition should say; a zero Reason clears it.
type Telling struct {
	UID       UID
	Namespace string
	Name      string
	Reason    reason.Reason
}

// tellable holds are those a user must act on; a pod that waits for its turn or for a back-off needs no condition.
func tellable(h reason.Reason) bool {
	switch h.Code {
	case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.QueueNotReady, reason.QueueDeleted:
		return true
	}
	return false
}

// TakeTellings returns at most n pods whose condition no longer says what holds them, and takes them as told. A caller that fails
// to write one gives it back with Untold.
func (l *Ledger) TakeTellings(n int) []Telling {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.toTell) == 0 {
		return nil
	}
	l.settle()
	var ts []Telling
	for _, uid := range sortedKeys(l.toTell) {
		if len(ts) == n {
			break
		}
		r := l.toTell[uid]
		delete(l.toTell, uid)
		hold := r.hold
		if !tellable(hold) {
			hold = reason.Reason{}
		}
		text := ""
		if hold.Code != "" {
			text = hold.Text()
		}
		if text == r.told {
			continue
		}
		r.told = text
		ts = append(ts, Telling{UID: uid, Namespace: r.Namespace, Name: r.Name, Reason: hold})
	}
	return ts
}

// Untold notes that the pod's condition could not be written: it is told again.
func (l *Ledger) Untold(uid UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		r.told = "\x00" // equals no sentence
		l.toTell[uid] = r
	}
}
