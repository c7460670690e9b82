package ledger

// A class is parked when one of its pods fitted no node. That pod is its probe: it stays in kube-scheduler's queue, and no other pod of the
// class is released. A parked class may try again after one of these events:
//
//   - kube-scheduler asks again about the probe (Admitted): a queueing hint says that an event may have made room for it, or the probe has
//     been unschedulable for five minutes, and kube-scheduler tries all such pods again;
//   - the probe is bound or deleted (wakeBehind), or its object changed (rejudgeParked). If it is of another class by that, the old class
//     reopens at once (classTable.move);
//   - the probe is judged again (rejudgeParked), since one of these changed: its queue, what the placement policy says of it, whether its
//     user may submit, its group, the drivers of its application, or a slot of a limit on applications;
//   - an attempt of the probe fails although it is parked (Fail): kube-scheduler keeps the probe no more, so no hint would come;
//   - nodes are given back that were held for a group, or a nomination ends on a node where the class has room (window.open). This counts
//     also if it happens while the attempt of the probe still runs;
//   - a plan nominates the probe (Adopt), or the room for which it was nominated is free now (tendNominations).
//
// Then one pod of the class goes: the one that is first in order, which may be the probe or another pod. But a class that has failed needs
// room, too (releases.mayTry): the pod goes only once the ledger knows a node with room for it, or five minutes after the last release of
// the class. While nodes are held for a group, five minutes are not enough; with extenders, no such node need be known.
//
// If that pod is reserved, 2 pods may be on their way, then 4 and so on, up to the window (see core/breaker). A pod that made its room by
// its priority sets that back to 1, and the next pod may go without room (ReserveByPriority). The next pod may also go without room if the
// pod that failed last has left the class unbound (clearLastFailed).

// wakeBehind reopens the class of the pod if the pod is its probe.
func (r *record) wakeBehind() {
	if r.class != nil && r.class.probe == r {
		r.class.reopen()
	}
}

// park makes the pod the probe of its class.
func (r *record) park() {
	r.class.probe, r.class.lastFailed = r, r
	r.class.Park()
}

// clearLastFailed notes that the pod leaves its class unbound. If it was the pod that shows why the class waits, another one may be tried
// without room, to show it.
func (r *record) clearLastFailed() {
	if c := r.class; c != nil && c.lastFailed == r {
		c.lastFailed = nil
		c.ForgetFailure()
	}
}

// reopen lets one pod of the class be tried again.
func (c *class) reopen() {
	c.probe = nil
	c.Reopen()
}

// Admitted tells PreEnqueue whether the pod may be in kube-scheduler's queue. kube-scheduler asks about a parked pod when one of its queueing hints
// says that an event (a pod that ended, a node that changed) may have made room for it. So this question has an effect: it wakes a parked pod. TakeWoken
// then opens the class for one pod. The order decides which pod that is; it need not be the probe.
func (l *Ledger) Admitted(uid UID) (admitted, woken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil {
		return false, false
	}
	if r.state == Parked {
		l.window.wake(r)
		return false, true
	}
	return r.state == Released, false
}

// TakeWoken reopens the classes of the parked pods that were woken, and has these pods wait. It returns them, and the pods that were parked
// and are being deleted: all of them must be taken out of kube-scheduler's queue before the next Choose.
func (l *Ledger) TakeWoken(now int64) []UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	l.settle() // a new tree may move parked pods, and that wakes them
	woken, out := l.window.takeWoken(), l.groupRelease.takeRecalled()
	if len(woken)+len(out) == 0 {
		return nil
	}
	for _, uid := range woken {
		switch r := l.pods[uid]; {
		case r == nil:
			continue
		case r.state == Parked:
			r.wakeBehind()
			l.wait(r, now)
			l.drain()
		case r.state != Gone:
			continue
		}
		out = append(out, uid)
	}
	l.drain()
	return out
}
