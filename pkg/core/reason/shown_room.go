package reason

import (
	"strings"
	"time"
)

// ShownRoom is what the message of a pod's condition PodScheduled says of room. After a restart that message is all that is known of what the pod was told.
type ShownRoom struct {
	Hold ShownHold
	// Numbers: it names nothing but what nodes lack by the numbers.
	Numbers bool
}

// ShownHold is what it says of nodes that are held: for whom, or ForIt for the pod's own group, and until when, to the second. The zero value: nothing.
type ShownHold struct {
	For   string
	ForIt bool
	Until int64
}

// Parts of messages. A number comes before heldNodes, in upstream's form.
const (
	heldNodes = " node(s) with room that is held for "
	heldForIt = "; nodes are held for it"
	until     = " until "
)

// ReadShownRoom reads a message that Kept.HeldFor or the sentence of a group is part of, or an answer of kube-scheduler.
func ReadShownRoom(message string) (s ShownRoom) {
	s.Numbers = onlyNumbers(message)
	if _, rest, held := strings.Cut(message, heldNodes); held {
		s.Hold.For, rest, _ = strings.Cut(strings.TrimSuffix(rest, "."), until)
		s.Hold.Until = readClock(rest)
	} else if _, rest, held := strings.Cut(message, heldForIt); held {
		s.Hold.ForIt, s.Hold.Until = true, readClock(strings.TrimPrefix(rest, until))
	}
	return s
}

// ShownHold is what a message says of these nodes.
func (k Kept) ShownHold() ShownHold {
	if k.Held == 0 {
		return ShownHold{}
	}
	if k.PodGroup == "" { // see HeldFor
		return ShownHold{For: k.holder()}
	}
	return ShownHold{For: k.holder(), Until: wholeSeconds(k.Until)}
}

// HeldForIt is what the sentence of a group says while nodes are held for it.
func HeldForIt(until int64) ShownHold { return ShownHold{ForIt: true, Until: wholeSeconds(until)} }

func wholeSeconds(nanoseconds int64) int64 { return nanoseconds - nanoseconds%int64(time.Second) }

// readClock reads what clock wrote, at the beginning of a text; 0 for none.
func readClock(text string) int64 {
	const length = len("2006-01-02T15:04:05Z")
	t, err := time.Parse(time.RFC3339, text[:min(len(text), length)])
	if err != nil {
		return 0
	}
	return t.UnixNano()
}

// onlyNumbers: the answer of kube-scheduler names nothing but what nodes lack by the numbers. The ledger knows these better: where it knows of room, such
// an answer is out of date.
func onlyNumbers(answer string) bool {
	_, list, found := strings.Cut(answer, " nodes are available: ")
	if !found {
		return false
	}
	list, _, _ = strings.Cut(list+" ", ". ")
	for what := range strings.SplitSeq(list, ", ") {
		_, what, _ = strings.Cut(what, " ")
		if what != "Too many pods" && !strings.HasPrefix(what, "Insufficient ") {
			return false
		}
	}
	return true
}
