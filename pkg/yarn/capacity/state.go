package capacity

import "strings"

// state reads the state of a queue. What a queue does not state is its parent's.
func (t *translation) state(d *declared, s *setting) {
	switch strings.ToUpper(strings.TrimSpace(s.Value)) {
	case "RUNNING":
		s.note.Remark("that is the default")
	case "STOPPED":
		d.object.Set(s.note, "state", "Stopped")
	default:
		t.fail(s.Property, "%q is neither RUNNING nor STOPPED", strings.TrimSpace(s.Value))
	}
}

// stateOf checks that no queue runs below one that is stopped.
func (t *translation) stateOf(d *declared) {
	s := d.stated["state"]
	d.stopped = s != nil && strings.EqualFold(strings.TrimSpace(s.Value), "STOPPED")
	if d.parent == nil || !d.parent.stopped {
		return
	}
	if s != nil && strings.EqualFold(strings.TrimSpace(s.Value), "RUNNING") {
		t.fail(s.Property, "%s cannot be RUNNING, since %s is STOPPED", d.yarn, d.parent.yarn)
	}
	d.stopped = true
}
