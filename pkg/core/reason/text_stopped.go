package reason

import "strings"

// stoppedText says since when the pod's queue takes no new applications, because of which queues, and what lifts it.
func (r Reason) stoppedText() string {
	stop := As[Stop](r)
	which, many := stop.queues()
	because, lifts := which+" is stopped", which+" is Running again"
	if many {
		because, lifts = which+" are stopped", "all of these are Running again"
	}
	return "queue " + r.Queue + " takes no new applications" + after(" since ", clock(stop.Since)) + ", because " + because + "; this one follows when " + lifts
}

// runningBelowStoppedText says that a queue states Running in vain.
func (r Reason) runningBelowStoppedText() string {
	which, many := As[Stop](r).queues()
	are := " is"
	if many {
		are = " are"
	}
	return "queue " + r.Queue + " states Running, but " + which + " above it" + are + " stopped, so " + r.Queue +
		" is stopped, too; set state of " + which + " to Running, or take state out of " + r.Queue
}

// queues names those that state Stopped.
func (s Stop) queues() (which string, many bool) {
	all := strings.Fields(s.By)
	if len(all) < 2 {
		return orElse(s.By, "a queue above it"), false
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last], true
}
