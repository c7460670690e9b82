package picture

import "github.com/fairway-scheduler/fairway/pkg/ledger"

// Released returns the pods that would be released with the room there is, in order, before anything ends.
func (p *Picture) Released() []ledger.UID {
	p.run()
	return p.released
}
