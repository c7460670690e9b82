package application

// Progress is what an application has shown since it last held nothing, besides what its pods tell at this moment. The zero value is that of an
// application that holds nothing.
type Progress struct {
	// Started: it has left Starting, and does not come back before it holds nothing.
	Started bool
	// measured: the duration of this start was taken into account, or will not be.
	measured bool
	// driven: a driver of it had a node.
	driven bool
	// FirstBound and LastBound are when its first and its last pod got a node, in unix nanoseconds; 0: none has.
	FirstBound, LastBound int64
}

// Look is what one look at an application sees.
type Look struct {
	Pods   Pods
	Single bool // it is known to be one pod only
	// Leading: this process decides. Before, what is there is taken in, and the order in which it comes tells nothing.
	Leading bool
}

// Next returns the progress after a look. measured: this look ends the start, and it took so many nanoseconds from the first pod with a node to the
// last. YuniKorn StateAware: an application leaves Starting with its second allocation; here with the first pod that is no driver (see Pods.GetsOn),
// or when its driver has ended.
func (p Progress) Next(l Look) (next Progress, took int64, measured bool) {
	switch {
	case l.Pods.Holding == 0:
		return Progress{}, 0, false
	case l.Pods.GetsOn():
		if !p.measured && l.Leading {
			took, measured = p.LastBound-p.FirstBound, true
		}
		p.Started, p.measured = true, true
	case l.Single:
		p.Started = p.Started || l.Leading // whatever comes after it
	case l.Pods.BoundDrivers > 0:
		p.driven = true
	case p.driven:
		p.Started = true // its driver has ended, failed, or is being deleted
	}
	return p, took, measured
}

// Bound returns the progress after a pod got its node, at a time that the pod states (0: it states none). A time in the future counts as now, or it
// would keep the gate closed until then.
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

// Since returns when the application began to start: when its first pod got a node, or when it was released where none has one yet.
func (p Progress) Since(released int64) int64 {
	if p.FirstBound != 0 {
		return p.FirstBound
	}
	return released
}
