package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/reason"

// leader is a ledger that leads from its first step or read on, as a scheduler does once all is there, and whose reads show what is there now. Tests
// of a standby, and of reads as such, ask the Ledger itself.
type leader struct{ *Ledger }

func newLeader(o Options) leader { return leader{New(o)} }

func (d leader) lead() *Ledger {
	d.Ledger.Lead(d.Ledger.now)
	return d.Ledger
}

func (d leader) settled() *Ledger {
	d.Ledger.Settle(d.Ledger.now)
	return d.Ledger
}

func (d leader) Choose(now int64) (Release, bool)         { return d.lead().Choose(now) }
func (d leader) LookAtStarvation(now int64) (bool, int64) { return d.lead().LookAtStarvation(now) }
func (d leader) TakeConditionUpdates(n int) []ConditionUpdate {
	return d.lead().TakeConditionUpdates(n)
}
func (d leader) PlacementActions(now int64) PlacementActions {
	return d.lead().PlacementActions(now)
}
func (d leader) Survey(n int, now int64)           { d.lead().Survey(n, now) }
func (d leader) Rehearse() *Rehearsal              { return d.lead().Rehearse() }
func (d leader) Snapshot() Snapshot                { return d.lead().Snapshot() }
func (d leader) Pods() []PodState                  { return d.lead().Pods() }
func (d leader) Applications() []ApplicationState  { return d.lead().Applications() }
func (d leader) Unplaced() []Unplaced              { return d.lead().Unplaced() }
func (d leader) Fingerprint() string               { return d.lead().Fingerprint() }
func (d leader) Why(uid UID) (reason.Reason, bool) { return d.lead().Why(uid) }
func (d leader) PodState(uid UID) (PodState, bool) { return d.settled().PodState(uid) }
func (d leader) WaitingPods() map[reason.Code]int  { return d.settled().WaitingPods() }
func (d leader) Leaving() ([]Leaving, bool)        { return d.settled().Leaving() }
func (d leader) Check() []string                   { return d.settled().Check() }
func (d leader) Backlog(n int, after, now int64) (show, unshow []Backlogged) {
	return d.lead().Backlog(n, after, now)
}
