package application

// When an application leaves Starting. In a queue that is not StateAware it is Starting only while some of its pods hold resources and
// its driver waits, so it leaves as soon as a driver holds resources or none waits (StateOf in state.go). In a StateAware queue the
// first of these counts:
//
//   - a pod that is no driver has a node; if no driver is known, an executor or a second pod has one (Pods.Progresses in state.go);
//   - its driver had a node and has none any more: it has ended, failed or is being deleted (Next);
//   - it turns out to be an application of one pod (StateOf in state.go; Next keeps it, whatever follows);
//   - its queue's startingTimeout has passed since its first pod got a node, or, while none has one, since it began to hold resources (Since;
//     starting_timeout.go has the timeout, moves.endStarts in pkg/ledger/gate.go applies it);
//   - its queue is not StateAware any more, unless its driver still waits (StateOf, moves.resetGates);
//   - it holds nothing any more: then it is Accepted or Completing, and starts again with its next pod (StateOf).

// Progress is what an application has shown since it last held nothing, as far as its current pods do not tell
// it. The zero value is the progress of an application that holds nothing.
type Progress struct {
	// Started: it has left Starting, and in a StateAware queue returns to it only after it held nothing.
	Started bool
	// measured: the duration of this start was recorded. It is also set for a start that ended before this process
	// led, or in another queue: its duration is never recorded.
	measured bool
	// driverBound: one of its drivers had a node.
	driverBound bool
	// FirstBound and LastBound are when its first and its last pod got a node, in unix nanoseconds; 0 if none
	// has one.
	FirstBound, LastBound int64
}

// Look is what is seen of an application at one moment.
type Look struct {
	Pods   Pods
	Single bool // it is known to have only one pod
	// Leading: this process is the leader. A process that takes in what exists must not judge by the order in
	// which pods arrive.
	Leading bool
}

// Next returns the progress after a look. measured is true if this look ends the start, which took so many
// nanoseconds from the first bound pod to the last. YuniKorn StateAware: an application leaves Starting with
// its second allocation; here it leaves with the first pod that is no driver, or with its second pod if no
// driver is known (see Pods.Progresses), or when its driver has ended. startingTimeout is up to the caller.
func (p Progress) Next(l Look) (next Progress, took int64, measured bool) {
	switch {
	case l.Pods.Holding == 0:
		return Progress{}, 0, false
	case l.Pods.Progresses():
		if !p.measured && l.Leading {
			took, measured = p.LastBound-p.FirstBound, true
		}
		p.Started, p.measured = true, true
	case l.Single:
		p.Started = p.Started || l.Leading // whatever follows
	case l.Pods.BoundDrivers > 0:
		p.driverBound = true
	case p.driverBound:
		p.Started = true // its driver has ended, failed, or is being deleted
	}
	return p, took, measured
}

// Bound returns the progress after a pod got its node. stated is the time that the pod states, 0 if none. A
// time in the future counts as now; otherwise it would keep the gate closed until then.
func (p Progress) Bound(stated, now int64) Progress {
	at := now
	if stated > 0 {
		at = min(stated, now)
	}
	if p.FirstBound == 0 || at < p.FirstBound {
		p.FirstBound = at
	}
	p.LastBound = max(p.LastBound, at)
	return p
}

// Moved returns the progress after a pod came with its node from another queue. A start that it ends is none of this queue.
func (p Progress) Moved(pods Pods) Progress {
	if pods.Progresses() {
		p.Started, p.measured = true, true
	}
	return p
}

// Since returns when the application began to start: when its first pod got a node or, if none has one, when
// it was released.
func (p Progress) Since(released int64) int64 {
	if p.FirstBound != 0 {
		return p.FirstBound
	}
	return released
}
