package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// priorities prints the applications of each queue with their priorities as they count, those submitted first first.
func (w *World) showPriorities(statement) (string, error) {
	l := w.inLive()
	l.ledger.Settle(w.now * second)
	var out strings.Builder
	for _, a := range l.ledger.Applications() {
		fmt.Fprintf(&out, "%s %s: %d\n", a.Queue, a.Name, a.Priority)
	}
	return out.String(), nil
}

// outranks NAME... prints which pods each of these may evict by its priority.
func (w *World) showOutranks(s statement) (string, error) {
	l := w.inLive()
	if _, err := l.named(s.words); err != nil {
		return "", err
	}
	l.ledger.Settle(w.now * second)
	var out strings.Builder
	for _, name := range s.words {
		var all []string
		for _, uid := range slices.Sorted(maps.Keys(l.ledger.Outranked(ledger.UID(name)))) {
			all = append(all, string(uid))
		}
		if len(all) == 0 {
			all = []string{"nobody"}
		}
		fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(all, ", "))
	}
	return out.String(), nil
}

func parsePriority(o option) (int32, error) {
	n, err := strconv.ParseInt(o.value(), 10, 32)
	return int32(n), err
}
