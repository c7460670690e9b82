package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A policy that cannot be used says why in its status, and the one before it stays in force, also for the next scheduler. The command line
// answers the same from the cluster and from a dump.
func TestTheLastGoodPlacementPolicyStaysInForce(t *testing.T) {
	w := newWorld(t, 1, "4", "8Gi")
	_, stop := w.scheduler(ledger.Options{})
	says := func(want string) {
		t.Helper()
		w.until("the policy says "+want, func() (bool, string) {
			out := w.kubectl("get", "placementpolicies", "-o", `jsonpath={.items[*].status.observedGeneration} {.items[*].status.conditions[0].status} {.items[*].status.conditions[0].message}`)
			return strings.HasPrefix(out, want), out
		})
	}
	const policy = "{apiVersion: scheduling.fairway.dev/v1alpha1, kind: PlacementPolicy, metadata: {name: default}, spec: {rules: ["
	place := func(want string) {
		t.Helper()
		ask := []string{"place", "--user", "Ann.Lee", "--groups", "dev"}
		live := w.fairway("", append(ask, "--kubeconfig", w.cluster.Kubeconfig())...)
		if dumped := w.fairway(w.dumpOf("queues,placementpolicies"), append(ask, "-f", "-")...); live != dumped || !strings.HasPrefix(live, want) {
			t.Errorf("live: %s\ndumped: %s\nwant %s", live, dumped, want)
		}
	}
	w.until("the first queues are there", func() (bool, string) {
		out := w.kubectl("get", "queues", "-o", "name")
		return strings.Contains(out, "root.default"), out
	})
	place("queue root.default, by rule Default\n")

	w.apply(policy + "{type: Specified}, {type: User, parent: root.users}]}}")
	says("1 True the policy is in force as it is written")
	place("queue root.users.ann-dot-lee, by rule User; created for it: root.users, root.users.ann-dot-lee\n")

	w.apply(policy + "{type: Default}, {type: Reject}]}}")
	says("2 False the rules after rule 1 (Default) can never be reached, as it always gives a queue or rejects; until that is corrected, the last policy that could be used is in force")
	place("queue root.users.ann-dot-lee, by rule User")

	stop()
	w.apply(policy + "{type: Nearest}]}}")
	w.scheduler(ledger.Options{})
	says(`3 False rule 1: there is no rule "Nearest"`)
	place("queue root.users.ann-dot-lee, by rule User")

	w.apply(policy + "{type: Reject}]}}")
	says("4 True")
	place("rejected: the placement policy rejects the pod: its rule Reject takes no pod")
}

// dumpOf is what kubectl prints of some kinds.
func (w *world) dumpOf(kinds string) string {
	w.t.Helper()
	out, err := exec.CommandContext(w.ctx, filepath.Join("..", "..", "bin", "tools", "kubectl"),
		"--kubeconfig", w.cluster.Kubeconfig(), "get", kinds, "-o", "yaml").Output()
	w.must(err)
	return string(out)
}
