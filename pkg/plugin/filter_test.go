package plugin

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func TestRoomForOthersIsRefusedAtAnyPriority(t *testing.T) {
	p := New(ledger.New(ledger.Options{}), func() int64 { return 0 }, func() {})
	state := framework.NewCycleState()
	state.Write(nominatedKey, nodesNominatedToOthers{"closed": true})
	for name, want := range map[string]fwk.Code{"closed": fwk.UnschedulableAndUnresolvable, "open": fwk.Success} {
		node := framework.NewNodeInfo()
		node.SetNode(st.MakeNode().Name(name).Obj())
		for _, s := range []fwk.CycleState{state, state.Clone()} {
			if got := p.Filter(t.Context(), s, &v1.Pod{}, node); got.Code() != want {
				t.Errorf("node %s: %v, want %v", name, got, want)
			}
		}
		if got := p.Filter(t.Context(), framework.NewCycleState(), &v1.Pod{}, node); !got.IsSuccess() {
			t.Errorf("node %s, of which nothing was asked: %v", name, got)
		}
	}
}

func TestAPodThatTheLedgerDoesNotKnowIsRefused(t *testing.T) {
	p := New(ledger.New(ledger.Options{}), func() int64 { return 0 }, func() {})
	if _, status := p.PreFilter(t.Context(), framework.NewCycleState(), st.MakePod().UID("x").Obj(), nil); status.Code() != fwk.UnschedulableAndUnresolvable {
		t.Errorf("got %v", status)
	}
	if _, status := (hypothetical{p}).PreFilter(t.Context(), framework.NewCycleState(), st.MakePod().UID("x").Obj(), nil); !status.IsSkip() {
		t.Errorf("planning was told %v", status)
	}
}
