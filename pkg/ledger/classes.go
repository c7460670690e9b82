package ledger

// classOf finds or makes the class of a pod. The adapter puts the request into the class key; should two pods of different size
// carry the same key all the same, they are kept apart here, because a book's limit check speaks for all its pods.
func (l *Ledger) classOf(p *Pod) *class {
	key := p.Class
	c := l.classes[key]
	if c != nil && !c.request.Equal(p.Request) {
		key += "\x00" + p.Request.String()
		c = l.classes[key]
	}
	if c == nil {
		c = &class{key: key, request: p.Request, eligible: p.Eligible, allowance: 1}
		l.classes[key] = c
	}
	return c
}

// setClass moves the pod to another class, nil for none. The pod is in no order book when this is called.
func (l *Ledger) setClass(r *record, c *class) {
	if old := r.class; old != nil && old != c {
		if old.probe == r {
			old.reopen()
		}
		if r.state == Released {
			old.outstanding--
		}
		if old.pods--; old.pods == 0 {
			delete(l.classes, old.key)
		}
	}
	if c != nil && c != r.class {
		c.pods++
		if r.state == Released {
			c.outstanding++
		}
	}
	r.class = c
}

// wakeBehind opens the class whose probe was bound, deleted or changed.
func (l *Ledger) wakeBehind(r *record) {
	if r.class != nil && r.class.probe == r {
		r.class.reopen()
	}
}

// retryClasses opens the classes that wait out errors: a node came or changed, which is what most of them lacked.
func (l *Ledger) retryClasses() {
	for _, c := range l.classes { // each for itself: order does not matter
		c.closedUntil = 0
	}
}

// park closes the class behind r.
func (r *record) park() {
	c := r.class
	c.closed, c.failed, c.probe, c.speaker, c.allowance = true, true, r, r, 1
}

// silence: the pod is being deleted, and if it was the one that shows why its class waits, another is to be tried and to show it.
func (r *record) silence() {
	if c := r.class; c != nil && c.speaker == r {
		c.speaker, c.failed = nil, false
	}
}
