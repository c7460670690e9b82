package reason_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestSentencesOfGroupsWithoutRoom(t *testing.T) {
	tooLarge := func(asked int64, details reason.Details) reason.Reason {
		return reason.Reason{Code: reason.GangTooLarge, PodGroup: "team/ring", Resource: resource.CPU, Asked: asked, Details: details}
	}
	waits := func(name resource.Name, details reason.Details) reason.Reason {
		return reason.Reason{Code: reason.GangWaitsForRoom, Queue: "root.a", PodGroup: "team/ring", Resource: name, Details: details}
	}
	forbids := reason.ShareForbids{
		Queue: "root.a", Resource: resource.Memory, Share: 20 * gi, Usage: 64 * gi, Waiting: "root.b.c", Below: reason.BelowFairShare,
	}
	lacksGuarantee := forbids
	lacksGuarantee.Below = reason.BelowGuaranteed
	for name, c := range map[string]struct {
		reason reason.Reason
		want   string
	}{
		"its pods ask for more than there is": {
			tooLarge(120_000, reason.Packing{Needed: 6, Fit: 4}),
			"pod group team/ring starts with 6 pods at once, 120 cpu together, and the nodes could hold only 4 of them if they were empty; " +
				"it waits for more or larger nodes, or for a lower minMember",
		},
		"its pods ask for more than there is, and it is Kubernetes' own": {
			func() reason.Reason {
				r := tooLarge(0, reason.Packing{Needed: 6, Fit: 4})
				r.PodGroup, r.Resource = "team/ring (scheduling.k8s.io)", ""
				return r
			}(),
			`pod group "team/ring (scheduling.k8s.io)" starts with 6 pods at once, and the nodes could hold only 4 of them if they were empty; ` +
				"it waits for more or larger nodes, or for a lower minCount",
		},
		"it is incomplete, and Kubernetes' own": {
			reason.Reason{Code: reason.GangIncomplete, PodGroup: "team/ring (scheduling.k8s.io)", Details: reason.Members{Needed: 3, Exist: 1}},
			`pod group "team/ring (scheduling.k8s.io)" starts with 3 pods at once, and 1 exist; it waits for the others, or for a lower minCount`,
		},
		"it states more than there is": {
			tooLarge(0, reason.MinResources{Needed: 6, Stated: 120_000, Free: 100_000}),
			"pod group team/ring needs 120 cpu by its minResources, and the nodes would have only 100 cpu if they were empty; " +
				"it waits for more or larger nodes, or for a lower minResources",
		},
		"its pods do not fit now": {
			waits("", reason.Packing{Needed: 6, Fit: 4}), "pod group team/ring needs room for 6 pods at once, and now 4 fit",
		},
		"its pods do not fit now, and nodes are held": {
			waits("", reason.Packing{Needed: 6, Fit: 4, Until: 1_700_000_000e9}),
			"pod group team/ring needs room for 6 pods at once, and now 4 fit; nodes are held for it until 2023-11-14T22:13:20Z",
		},
		"it states more than is free": {
			waits(resource.CPU, reason.MinResources{Needed: 6, Stated: 30_000, Free: 20_000}),
			"pod group team/ring needs 30 cpu free by its minResources, and now the nodes have 20 cpu",
		},
		"it states more than is free, and nodes are held": {
			waits(resource.CPU, reason.MinResources{Needed: 6, Stated: 30_000, Free: 20_000, Until: 1_700_000_000e9}),
			"pod group team/ring needs 30 cpu free by its minResources, and now the nodes have 20 cpu; nodes are held for it until 2023-11-14T22:13:20Z",
		},
		"its pods do not fit now, and its share forbids to hold nodes": {
			waits("", reason.Packing{Needed: 6, Fit: 4, Forbids: forbids}),
			"pod group team/ring needs room for 6 pods at once, and now 4 fit; no nodes may be held for it: with them, queue root.a would have 64Gi memory, " +
				"above its fair share of 20Gi memory, while queue root.b.c waits and would be below its fair share; they may once no such queue waits, " +
				"or once the share of root.a is that large, by more weight or a guarantee",
		},
		"it states more than is free, and its share forbids to hold nodes": {
			waits(resource.CPU, reason.MinResources{Needed: 6, Stated: 30_000, Free: 20_000, Forbids: lacksGuarantee}),
			"pod group team/ring needs 30 cpu free by its minResources, and now the nodes have 20 cpu; no nodes may be held for it: with them, queue root.a " +
				"would have 64Gi memory, above its fair share of 20Gi memory, while queue root.b.c waits and would be below its guarantee; " +
				"they may once no such queue waits, or once the share of root.a is that large, by more weight or a guarantee",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.reason.Text(); got != c.want {
				t.Errorf("got:  %s\nwant: %s", got, c.want)
			}
		})
	}
}

// What its pods ask for and what the group states have a field each: a sentence reads the one that it is about.
func TestWhatAGroupStatesIsNotWhatItsPodsAskFor(t *testing.T) {
	for _, code := range []reason.Code{reason.GangTooLarge, reason.GangWaitsForRoom} {
		r := reason.Reason{Code: code, PodGroup: "team/ring", Resource: resource.CPU, Details: reason.MinResources{Needed: 2, Stated: 9000}}
		said := r.Text()
		if r.Asked = 7000; r.Text() != said {
			t.Errorf("%s: what is asked for shows as what is stated: %s", code, r.Text())
		}
	}
}
