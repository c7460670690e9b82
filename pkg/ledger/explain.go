package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/reason"

// Waiter is a pod that waits.
type Waiter struct {
	UID       UID
	Namespace string
	Name      string
	Created   int64
}

// Waiters returns pods that wait. First come up to n of those that limits let run, in the order of release as the last look at the backlog found it. Then come
// up to n others, those first that were not returned for longest.
func (l *Ledger) Waiters(n int) []Waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return nil
	}
	var ws []Waiter
	add := func(r *record) {
		if l.pods[r.UID] == r && !r.Terminating && (r.state == Waiting || r.state == Parked) {
			ws = append(ws, Waiter{r.UID, r.Namespace, r.Name, r.Created})
		}
	}
	for _, r := range l.backlog.order[:min(n, len(l.backlog.order))] {
		add(r)
	}
	for range min(n, len(l.requests.unbound)) {
		add(l.backlog.nextWaiter(l.requests.unbound))
	}
	return ws
}

// Explanation is why a pod waits.
type Explanation struct {
	Waiter
	Reason reason.Reason
	// Text says it in the words of the pod's condition.
	Text string
}

// Explain says why pods wait. It leaves out those that do not.
func (l *Ledger) Explain(uids []UID, now int64) []Explanation {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return nil
	}
	l.settleAll()
	l.updateSlotReasons()
	l.now = max(l.now, now)
	es := make([]Explanation, 0, len(uids))
	for _, uid := range uids {
		r := l.pods[uid]
		if r == nil || r.Terminating || r.state != Waiting && r.state != Parked || r.answerIsDue() {
			continue
		}
		e := Explanation{Waiter: Waiter{r.UID, r.Namespace, r.Name, r.Created}, Reason: l.why(r)}
		e.Text = e.Reason.Text()
		if answer := r.answer(); answer != "" && e.Reason.Code == reason.WaitingForRoom && reason.As[reason.Room](e.Reason).Kept == (reason.Kept{}) {
			e.Text = reason.Printable(answer)
		}
		es = append(es, e)
	}
	return es
}
