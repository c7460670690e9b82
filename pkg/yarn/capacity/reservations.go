package capacity

import (
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// isReservable reports whether a queue states that capacity of it can be reserved.
func (d *declared) isReservable() bool {
	s := d.stated["reservable"]
	return s != nil && boolean(s.Value) && d.leaf()
}

func (t *translation) reservable(d *declared, s *setting) {
	switch {
	case !boolean(s.Value):
		s.note.Skip("that is the default")
	case !d.leaf():
		t.fail(s.Property, "%s has queues below it, so it cannot be reservable", d.yarn)
	default:
		d.object.Set(s.note, "reservable", true)
		s.note.Reservable(d.stated["acl_submit_reservations"] != nil)
	}
}

// ofReservable translates a property that says something of reservable queues only.
func ofReservable(translate func(*translation, *declared, *setting)) func(*translation, *declared, *setting) {
	return func(t *translation, d *declared, s *setting) {
		if d.isReservable() {
			translate(t, d, s)
		} else {
			s.note.Skip(plan.NotReservable)
		}
	}
}

// reservationTime reads milliseconds into a field, in whole seconds between the bounds.
func reservationTime(field string, least int64) func(*translation, *declared, *setting) {
	const most = 2160 * 3600
	return ofReservable(func(t *translation, d *declared, s *setting) {
		ms, err := value.Long(s.Value)
		if err != nil {
			t.fail(s.Property, "%w", err)
			return
		}
		seconds, exact := value.Seconds(min(ms, most*1000), least, most)
		if !exact || ms > most*1000 {
			s.note.Approximate("it is a time in whole seconds from %s to %s", value.Duration(least), value.Duration(most))
		}
		d.object.Set(s.note, "reservations."+field, value.Duration(seconds))
	})
}

// reservationShare reads a part of the queue, in percent.
func reservationShare(field string) func(*translation, *declared, *setting) {
	return ofReservable(func(t *translation, d *declared, s *setting) {
		if p := d.stated["reservation-policy"]; p != nil && !plan.BoundsAverages(p.Value) {
			s.note.Skip("it does not count with NoOverCommitPolicy, in YARN too")
			return
		}
		r, ok := t.number(s)
		if !ok {
			return
		}
		whole := big.NewRat(100, 1)
		switch {
		case r.Sign() < 0:
			r = new(big.Rat)
			s.note.Approximate("less than 0%% is 0%%")
		case r.Cmp(whole) > 0:
			r = whole
			s.note.Approximate("more than 100%% is 100%%")
		}
		text, exact := value.Rounded(r, 2)
		if !exact {
			s.note.Approximate("rounded to two decimals")
		}
		d.object.Set(s.note, "reservations."+field, text+"%")
	})
}

func (t *translation) moveOnExpiry(d *declared, s *setting) {
	if strings.EqualFold(strings.TrimSpace(s.Value), "false") { // every other word is the default, as in YARN
		d.object.Set(s.note, "reservations.moveOnExpiry", false)
	} else {
		s.note.Skip("that is the default")
	}
}

func (t *translation) aclReserve(d *declared, s *setting) {
	t.plan.Grant(s.note, "reserve", d.path, value.ParseACL(s.Value))
}
