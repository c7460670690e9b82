package yarn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proof is where something is shown: a file, and a text in it.
type proof struct{ file, text string }

// rows are the properties of the Capacity Scheduler: where it is shown what holds if one is not stated, and what is said about a bad value. The words are those
// of Fairway, not of the import.
var rows = map[string]struct{ byDefault, bad []proof }{
	"capacity": {
		[]proof{{"scenarios/capacity_errors.txt", "CapacityMissing: the children of queue root state a capacity or share by weight, all of them"}},
		[]proof{
			{"scenarios/capacity_errors.txt", "CapacitySumInvalid: the capacities of the children of queue root must sum to 100%, not to 110%"},
			{"crd/capacity_test.go", "must be a percentage from 0% to 100% with at most two decimals"},
		},
	},
	"maximum-capacity": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# maximum-capacity is 100%"}},
		[]proof{
			{"scenarios/capacity_errors.txt", "MaxCapacityTooLow: queue root.b.x has a capacity of 30% of the cluster, but by maxCapacity it may use only 29.99%"},
			{"crd/capacity_test.go", "maxCapacity is for queues that state capacity"},
		},
	},
	"minimum-user-limit-percent": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# minimum-user-limit-percent is 100 and user-limit-factor is 1: one user has at most the capacity"}},
		[]proof{{"crd/users_test.go", "spec.users.minSharePercent: Invalid value: %s: must be a percentage from 1 to 100"}},
	},
	"user-limit-factor": {
		[]proof{{"scenarios/capacity_scheduler.txt", "user ann may use at most 60 cpu"}},
		[]proof{{"crd/users_test.go", "spec.users.shareFactor: Invalid value: %q: must be above 0 and at most 1000000"}},
	},
	"user-settings.<user>.weight": {
		[]proof{{"scenarios/user_limit_factor.txt", "# The limit of a user is multiplied by the user's weight: half of 240 cores for ann. 0 leaves one pod."}},
		[]proof{{"crd/users_test.go", "spec.users.weights: Invalid value: each weight must be from 0 to 100/minSharePercent"}},
	},
	"maximum-applications": {
		[]proof{{"../pkg/cli/testdata/transcripts/capacities.txt", `"applicationLimit": 4687`}}, // 46.875% of 10000
		[]proof{{"crd/limits_test.go", `{"root.a", ` + "`{maxApplications: -1}`"}},
	},
	"maximum-allocation-mb, maximum-allocation-vcores": {
		[]proof{{"scenarios/capacity_scheduler.txt", "neither is maximum-allocation"}},
		[]proof{{"scenarios/max_pod_resources.txt", "MaxPodResourcesRaised"}, {"crd/limits_test.go", `"negative":`}},
	},
	"max-parallel-apps": {
		[]proof{{"scenarios/capacity_scheduler.txt", "max-parallel-apps is no limit"}},
		[]proof{{"crd/limits_test.go", `{"root.a", ` + "`{maxRunningApplications: -1}`"}},
	},
	"maximum-am-resource-percent": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# maximum-am-resource-percent is 0.1"}},
		[]proof{{"crd/limits_test.go", "must be a number from 0 to 1 with at most three decimals"}},
	},
	"state": {
		[]proof{{"scenarios/capacity_scheduler.txt", "root.a   Running   -"}},
		[]proof{
			{"scenarios/stopped.txt", "RunningBelowStopped: queue root.a states Running, but root above it is stopped"},
			{"crd/schema_test.go", `supported values: "Running", "Stopped"`},
		},
	},
	"acl_submit_applications, acl_administer_queue": {
		[]proof{{"scenarios/access.txt", "check-access"}},
		[]proof{{"scenarios/access.txt", "SubmitForbidden: user ada may not submit to queue root.web"}},
	},
	"ordering-policy": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# ordering-policy is DominantResourceFairness"}},
		[]proof{
			{"scenarios/validate.txt", "PolicyNotAllowed: queue root.a has child queues, and policy FIFO is only for queues without"},
			{"crd/schema_test.go", `spec.policy: Unsupported value: "Best"`},
		},
	},
	"default-application-priority": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# default-application-priority is 0"}},
		[]proof{
			{"scenarios/priority.txt", "queue root.f defaultPriority=31"}, // cut to 30
			{"scenarios/priority.txt", "ApplicationPriorityInvalid: "},
			{"crd/limits_test.go", "must be a priority from -2147483648 to 1000000000"},
		},
	},
	"yarn.cluster.max-application-priority": {
		[]proof{{"scenarios/capacity_scheduler.txt", "yarn.cluster.max-application-priority is no limit"}},
		[]proof{{"crd/limits_test.go", "spec.maxPriority: Invalid value: holds over all queues, so it can be stated in the queue root only"}},
	},
	"disable_preemption": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# disable_preemption is false"}},
		[]proof{{"scenarios/preemptible.txt", "It cannot be undone below."}},
	},
	"queue-mappings": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# queue-mappings: there are none"}},
		[]proof{{"scenarios/placement.txt", `not in force: mapping "u:fred": a mapping is u:USER:QUEUE or g:GROUP:QUEUE, and no part is empty`}},
	},
	"queue-mappings-override.enable": {
		[]proof{{"scenarios/capacity_scheduler.txt", "# queue-mappings-override.enable is false"}},
		[]proof{{"scenario/statements_test.go", `override: "maybe" is neither true nor false`}},
	},
	"resource-calculator": {
		[]proof{{"scenarios/calculator.txt", "with Dominant, the default, all do."}},
		[]proof{{"crd/limits_test.go", "spec.resourceCalculator: Unsupported value"}},
	},
	"node-locality-delay, rack-locality-additional-delay": {
		[]proof{{"../pkg/apis/config/v1alpha1/args_test.go", "`{}`: \"20 true 5 1000 5 false 40 -1topology.kubernetes.io/rack15\""}},
		[]proof{{"../pkg/apis/config/v1alpha1/args_test.go", "args.nodeLocalityDelay: Invalid value: -2: must be from -1 to 100000"}},
	},
}

func TestEveryRowHasItsDefaultAndItsMistake(t *testing.T) {
	for name, row := range rows {
		for _, p := range append(row.byDefault, row.bad...) {
			text, err := os.ReadFile(filepath.Join("..", p.file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), p.text) {
				t.Errorf("%s: %s does not show %q any more", name, p.file, p.text)
			}
		}
		if len(row.byDefault) == 0 || len(row.bad) == 0 {
			t.Errorf("%s: nothing shows its default, or a bad value", name)
		}
	}
}
