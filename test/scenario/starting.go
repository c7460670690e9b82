package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// tellTime tells the ledger the time, as each round of the dispatcher does.
func (w *World) tellTime() {
	if w.live != nil {
		w.live.ledger.TakeWoken(w.now * second)
	}
}

// pass 60s lets time pass, and prints what time it is then.
func (w *World) pass(s statement) (string, error) {
	seconds, err := s.seconds()
	if err != nil {
		return "", err
	}
	w.now += seconds - 1 // the statement has taken one
	w.tellTime()
	return "it is " + time.Unix(w.now, 0).UTC().Format(time.RFC3339) + "\n", nil
}

// seconds is the duration that a statement names.
func (s statement) seconds() (int64, error) {
	text, err := s.word("duration")
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d%time.Second != 0 {
		return 0, fmt.Errorf("%q is no duration in whole seconds, such as 1s, 60s or 5m", text)
	}
	return int64(d / time.Second), nil
}

// states prints whether each queue takes new applications, and since when it does not.
func (w *World) showStates(statement) (string, error) {
	rows := [][]string{{"QUEUE", "STATE", "SINCE"}}
	for _, q := range w.inLive().ledger.Snapshot().Queues {
		since := "-"
		if q.StoppedSince != 0 {
			since = time.Unix(0, q.StoppedSince).UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{string(q.Path), q.State.String(), since})
	}
	return table(rows), nil
}

// applications prints how far each application has come, queue by queue in the order in
// which they were submitted.
func (w *World) showApplications(statement) (string, error) {
	rows := [][]string{{"APPLICATION", "QUEUE", "STATE", "PENDING", "RUNNING"}}
	for _, a := range w.inLive().ledger.Applications() {
		rows = append(rows, []string{a.Name, string(a.Queue), a.State.String(), strconv.Itoa(a.PodsPending), strconv.Itoa(a.PodsRunning)})
	}
	return table(rows), nil
}

// delete-pod NAME... begins the deletion of pods. They exist until they end.
func (w *World) deletePods(s statement) (string, error) {
	l := w.inLive()
	at, err := l.named(s.words)
	for _, i := range at {
		l.pods[i].Terminating, l.pods[i].Deadline = true, (w.now+30)*second // the default grace of Kubernetes
		l.ledger.ObservePod(l.pods[i], w.now*second)
	}
	return "", err
}

// writeStatus keeps in the objects what pods do not show, as the status writers do.
func (w *World) writeStatus() {
	w.live.rememberWhole()
	for _, q := range w.live.ledger.Snapshot().Queues {
		i, ok := w.declaration(q.Path)
		if !ok {
			continue
		}
		w.queues[i].Memory = queue.Memory{}
		if q.Starts != nil {
			w.queues[i].Memory = q.Starts.Memory
		}
		w.queues[i].Memory.Holds = q.Holds
		w.queues[i].Memory.StoppedSince = q.StoppedSince
		w.queues[i].Memory.BelowFairShareSince = q.Starvation.BelowFairShareSince
		w.queues[i].Memory.BelowGuaranteedSince = q.Starvation.BelowGuaranteedSince
		w.queues[i].Memory.FairShareDue, w.queues[i].Memory.GuaranteedDue = q.Starvation.FairShareDue, q.Starvation.GuaranteedDue
		w.queues[i].Memory.ClaimsFairShare = q.Starvation.Claiming && q.Starvation.BelowGuaranteedSince == 0
	}
}
