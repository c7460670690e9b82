package ledger

// roster is a set of pods, in no order that means anything. A pod is in one roster of a kind at most, and knows its place there.
type roster []*record

// rosterKind says what the pods of a roster have in common.
type rosterKind int

const (
	ofState      rosterKind = iota // they are released, reserved or parked: see window
	ofNode                         // they run on a node, or are nominated to: see listOnNode
	ofDrivers                      // they are the drivers of an application
	ofGroup                        // they are of a pod group
	ofSubmission                   // the rules of placement say the same to them
	ofAccess                       // they depend on the same answer about access
	ofUnbound                      // they ask for a queue
	ofBacklog                      // they show Unschedulable
	rosterKinds
)

func (s *roster) add(r *record, kind rosterKind) {
	r.places[kind] = int32(len(*s))
	*s = append(*s, r)
}

// remove takes out a pod that is in the roster.
func (s *roster) remove(r *record, kind rosterKind) {
	last := len(*s) - 1
	moved := (*s)[last]
	(*s)[r.places[kind]], moved.places[kind] = moved, r.places[kind]
	(*s)[last] = nil
	*s = (*s)[:last]
}

func (s roster) has(r *record, kind rosterKind) bool {
	at := int(r.places[kind])
	return at < len(s) && s[at] == r
}
