package simulator

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Which applications wait for their drivers, by the simulator's own books.

// lead is what the drivers of an application do.
type lead struct {
	holds bool // one of them is charged, and is not being deleted
	waits int  // how many are in the queue without being charged
	stuck int  // of those, the ones that something holds which is no limit on applications, no lack of room and no turn
}

// missing: a driver of the application waits, and none holds anything.
func (l *lead) missing() bool { return l != nil && l.waits > 0 && !l.holds }

// hopeless: and no limit, room or turn would let it go.
func (l *lead) hopeless() bool { return l.missing() && l.stuck == l.waits }

// leads gathers what the drivers of all applications do.
func (w *World) leads() map[appKey]*lead {
	if w.opts.Groups { // of them, the ledger is asked
		return inLook(w, &w.derived.inLook.leads, w.gatherLeads)
	}
	return recall(w, &w.derived.leads, w.gatherLeads)
}

func (w *World) gatherLeads() map[appKey]*lead {
	defer w.beginLook()()
	out, accepting, total := map[appKey]*lead{}, w.accepting(), w.total()
	for _, p := range w.known.pods {
		now := &p.seen
		if now.Foreign || now.Role != application.Driver {
			continue
		}
		at := p.at(accepting)
		if at == "" {
			continue
		}
		k := appKey{at, now.Application}
		if out[k] == nil {
			out[k] = &lead{}
		}
		l := out[k]
		switch {
		case p.charged == "":
			l.waits++
			if now.Gate != "" || w.tooLarge(at, p.asks, total) || w.groupHolds(now) {
				l.stuck++
			}
		case !now.Terminating:
			l.holds = true
		}
	}
	return out
}

// auditLed: a pod that was released or reserved has its driver with it, if it is known to have one.
func (w *World) auditLed(p *pod, what string) {
	now := &p.seen
	if now.Role == application.Driver {
		return
	}
	if l := w.leads()[appKey{p.charged, now.Application}]; l.missing() {
		w.fail("pod %s was %s while %d drivers of application %s wait in queue %s, and none holds anything", p.UID, what, l.waits, now.Application, p.charged)
	}
}

// ledNow: the pod does not wait for a driver.
func ledNow(p *ledger.Pod, l *lead) bool { return p.Role == application.Driver || !l.missing() }
