package plugin

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

const candidatesKey fwk.StateKey = Name + "/candidates"

type candidates struct{ nodes sets.Set[string] }

// Clone implements fwk.StateData. The set is never written.
func (c candidates) Clone() fwk.StateData { return c }

// Restrict limits the cycle to these nodes. nodes must not be changed afterwards.
func Restrict(state fwk.CycleState, nodes sets.Set[string]) {
	state.Write(candidatesKey, candidates{nodes})
}

// Unrestrict lets the cycle use all nodes again.
func Unrestrict(state fwk.CycleState) { state.Delete(candidatesKey) }

// Restriction returns the nodes to which the cycle is restricted, nil for all nodes.
func Restriction(state fwk.CycleState) *fwk.PreFilterResult {
	if data, err := state.Read(candidatesKey); err == nil {
		return &fwk.PreFilterResult{NodeNames: data.(candidates).nodes}
	}
	return nil
}
