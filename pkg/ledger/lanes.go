package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// barred returns those of the lanes in which a limit of the account admits no further pod of any class.
func (l *Ledger) barred(a *account, among book.Lanes) (barred book.Lanes) {
	limitsDrivers := len(a.kids) == 0 && among&l.classes.driverLanes != 0
	if a.spec.Max.Len() == 0 && !limitsDrivers {
		return 0
	}
	for rest := among; rest != 0; {
		lane := rest.First()
		rest &^= lane.Set()
		if l.stopsAll(a, l.classes.lanes.Classes(lane)) {
			barred |= lane.Set()
		}
	}
	if limitsDrivers && barred&l.classes.driverLanes != 0 {
		l.waitingDrivers.add(a)
	}
	return barred
}

func (l *Ledger) stopsAll(a *account, classes []*class) bool {
	for _, c := range classes {
		if !l.stops(a, c) {
			return false
		}
	}
	return true
}

// stops reports whether one more pod of the class would break a hard limit of this very account.
func (l *Ledger) stops(a *account, c *class) bool {
	if a.over(c) {
		return true
	}
	if !c.driver || len(a.kids) > 0 || a.isApplication() {
		return false
	}
	return a.limitsDrivers() && limit.ExceedsDriverShare(l.driversOf(a), c.request)
}

// without removes the lane of a class from open if no other class in that lane may still be released in this walk. Else each step of the walk
// would go to every application that waits in the lane.
func (l *Ledger) without(open book.Lanes, c *class) book.Lanes {
	for _, o := range l.classes.lanes.Classes(c.lane) {
		if o.mark == l.mark {
			return open
		}
	}
	return open &^ c.lane.Set()
}

// head is the application's next pod of the classes that were marked, in the lanes that are open down to here, and that no limit above the application stops.
func (l *Ledger) head(a *account, open book.Lanes) *record {
	var first *podQueue
	for i := range a.podQueues {
		q := &a.podQueues[i]
		c := q.class
		if c.mark != l.mark || open&c.lane.Set() == 0 || (l.classes.lanes.Shared() || c.driver) && l.stopsOnPath(a, c) ||
			len(l.blockedByMax) > 0 && l.isBlockedByMax(a, c) {
			continue
		}
		if first == nil || q.Before(&first.PodQueue) {
			first = q
		}
	}
	if first == nil {
		return nil
	}
	return first.Next()
}

// stopsOnPath reports whether a limit on the path admits no further pod of the class. The walk has asked already, but by lanes, which
// several classes may share, and of drivers what was so when their leaf was last looked at.
func (l *Ledger) stopsOnPath(a *account, c *class) bool {
	for ; a != nil && a != l.ceiling; a = a.parent {
		if l.stops(a, c) {
			return true
		}
	}
	return false
}
