package scenario_test

import (
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/test/scenario"
)

// run runs statements, one for each argument.
func run(lines ...string) string { return scenario.New().Run(strings.Join(lines, "\n")) }

// The core counts cpu in thousandths and memory in bytes; what a scenario writes comes
// back as Kubernetes would spell it.
func TestQuantities(t *testing.T) {
	for in, want := range map[string]string{
		"cpu=4":            "cpu=4",
		"cpu=0.25":         "cpu=250m",
		"cpu=250m":         "cpu=250m",
		"cpu=1.5k":         "cpu=1500",
		"memory=8Gi":       "memory=8Gi",
		"memory=1.5Gi":     "memory=1536Mi",
		"memory=512":       "memory=512",
		"memory=1G":        "memory=1G",
		"memory=7Ei":       "memory=7Ei",
		"memory=3000m":     "memory=3",
		"nvidia.com/gpu=2": "nvidia.com/gpu=2",
		"cpu=1 memory=1Gi": "cpu=1 memory=1Gi",
	} {
		t.Run(in, func(t *testing.T) {
			got := run("cluster "+in, "shares steady")
			if lines := strings.Split(got, "\n"); len(lines) < 2 || strings.Join(strings.Fields(lines[1])[1:], " ") != want {
				t.Errorf("got %q, want %s", got, want)
			}
		})
	}
}

func TestWhatCannotBeRunSaysWhy(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                                        `there is no statement "hello"`,
		"cluster cpu=(1":                               "cannot parse directive at column 13",
		"cluster cpu=1)":                               `"1)" is not a quantity`,
		"cluster cpu=":                                 `cpu: "" is not a quantity`,
		"cluster cpu=four":                             `cpu: "four" is not a quantity`,
		"cluster cpu=-4":                               `cpu: "-4" is not a quantity`,
		"cluster cpu=1.2.3":                            "is not a quantity",
		"cluster cpu=1.":                               "",
		"cluster cpu=.5":                               "is not a quantity",
		"cluster cpu=0.0001":                           "not a whole number of its smallest unit",
		"cluster memory=500m":                          "not a whole number of its smallest unit",
		"cluster memory=8Ei":                           "is too large",
		"cluster memory=99999999999999999999":          "is not a quantity",
		"cluster memory=0.1234567890123456":            "is not a quantity",
		"cluster cpu=999999999999999999":               "is too large",
		"queue":                                        "queue takes one path, not 0",
		"queue root.a root.b":                          "queue takes one path, not 2",
		"node":                                         "node takes one name, not 0",
		"node n cpu=x":                                 `cpu: "x" is not a quantity`,
		"group":                                        "group takes one name, not 0",
		"group g minMember=-1":                         `minMember: "-1" is not a number from 0`,
		"group g minMember=two":                        `minMember: "two" is not a number from 0`,
		"group g minResources=(cpu=5%)":                "only queues have amounts in percent",
		"group g timeout=soon":                         `timeout: "soon" is no duration such as 30s or 5m`,
		"group g size=3":                               "a pod group has no size",
		"remove-group g":                               "there is no pod group g",
		"pod":                                          "pod takes one name, not 0",
		"pod p queue=a role=boss":                      `"boss" is neither driver nor executor`,
		"pod p queue=a priority=high":                  "invalid syntax",
		"queue root.a defaultPriority=2147483648":      "value out of range",
		"queue root maxPriority=most":                  "invalid syntax",
		"outranks p":                                   "there is no pod p",
		"pod p queue=a cpu=many":                       `cpu: "many" is not a quantity`,
		"end p":                                        "there is no pod p",
		"bind p":                                       "there is no pod p",
		"why p":                                        "there is no pod p",
		"queue root.a colour=red":                      "a queue has no colour",
		"queue root.a weight=-1":                       `weight: "-1" is not a number`,
		"queue root.a weight=0.0001":                   "at most three decimals",
		"queue root.a max=lots":                        `"lots" is not a list of amounts`,
		"queue root.a policy=drf":                      "is not one of",
		"queue root.a max=cpu=x%":                      "is not a percentage",
		"queue root.a maxPodResources=lots":            `"lots" is not a list of amounts`,
		"queue root.a maxRunningApplications=-1":       `maxRunningApplications: "-1" is not a number from 0 to 2147483647`,
		"queue root.a maxStarting=-1":                  `maxStarting: "-1" is not a number from 0 to 2147483647`,
		"queue root.a startingTimeout=5":               `startingTimeout: "5" is neither a duration like 30s or 5m nor the word adaptive`,
		"queue root.a startingTimeout=0s":              `startingTimeout: "0s" is neither a duration like 30s or 5m nor the word adaptive`,
		"pod p queue=a size=one":                       "invalid syntax",
		"delete-pod p":                                 "there is no pod p",
		"pass":                                         "pass takes one duration, not 0",
		"pass 500ms":                                   `"500ms" is no duration in whole seconds`,
		"pass a-while":                                 `"a-while" is no duration in whole seconds`,
		"release n=0":                                  "release takes nothing but error= and a pod, and n= and a number from 1",
		"restart status=kept":                          "restart takes nothing but status=lost",
		"queue root.a maxDriverShare=1.001":            `maxDriverShare: "1.001" is not a number from 0 to 1 with at most three decimals`,
		"queue root.a maxDriverShare=0.0001":           "is not a number from 0 to 1 with at most three decimals",
		"queue root preemption.colour=red":             "a queue has no preemption.colour",
		"queue root preemption.fairShareTimeout=soon":  `preemption.fairShareTimeout: "soon" is no duration such as 30s or 5m`,
		"queue root preemption.interval=never":         `preemption.interval: "never" is no duration`,
		"queue root preemption.preemptible=maybe":      `preemption.preemptible: "maybe" is neither true nor false`,
		"queue root preemption.fairShareThreshold=1.5": `preemption.fairShareThreshold: "1.5" is not a number from 0 to 1`,
		"pods p n=x":                                   `n: "x" is not a number from 0 to 2147483647`,
		"budget b":                                     "budget takes a name, allowed= and pods",
		"budget b allowed=x":                           `allowed: "x" is not a number`,
		"actions do colour=r":                          "actions takes no colour",
		"actions do grace=x":                           `grace: "x" is no duration`,
		"queue root users.maxRunningApplications=x":    `users.maxRunningApplications: "x" is not a number`,
		"delete root.a":                                "queue root.a is not declared",
		"remove":                                       "remove takes one path, not 0",
		"usage":                                        "usage takes one path, not 0",
		"usage root.a cpu=x":                           "is not a quantity",
		"waiting":                                      "waiting takes one path",
		"waiting root.a cpu=x":                         "is not a quantity",
		"active root.a cpu=1":                          "active takes paths only",
		"application":                                  "application takes one name",
		"application etl":                              "an application needs a queue",
		"application etl queue=root.a x=1":             "an application has no x",
		"application etl queue=root.a priority=high":   "invalid syntax",
		"order root.a":                                 "queue root.a is not in the tree",
		"shares now":                                   "shares takes nothing but steady",
		"try":                                          "try takes one path",
		"try root.a cpu=x":                             "is not a quantity",
		"placement override=maybe":                     `override: "maybe" is neither true nor false`,
		"placement create=true":                        "a placement policy has no create",
		"rule":                                         "rule takes one type, not 0",
		"rule User create=maybe":                       `create: "maybe" is neither true nor false`,
		"rule User nested.create=true":                 "a rule has no nested.create",
		"created":                                      "created takes one path, not 0",
		"plan colour=red":                              "a plan has no colour",
		"plan averageShare=half":                       `averageShare: "half" is not a percentage`,
		"plan window=long":                             `window: "long" is no duration in whole seconds`,
		"reserve":                                      "reserve takes one name, not 0",
		"reserve r colour=red":                         "a reservation has no colour",
		"reserve r arrival=500ms":                      `arrival: "500ms" is no duration in whole seconds`,
		"reserve r interpreter=Some":                   `"Some" is not one of All, Any, Order, OrderNoGap`,
		"reserve r request=(pods=many)":                "request: pods: ",
		"reserve r request=(cpu=many)":                 `request: cpu: cpu: "many" is not a quantity`,
		"cancel":                                       "cancel takes one name, not 0",
		"timeline from=now":                            `from: "now" is no duration in whole seconds`,
		"reservation":                                  "reservation takes one name, not 0",
		"reservation r colour=red":                     "a reservation has no colour",
		"follow lead=long":                             `lead: "long" is no duration in whole seconds`,
		"follow moveOnExpiry=maybe":                    `moveOnExpiry: "maybe" is neither true nor false`,
		"follow colour=red":                            "follow takes no colour",
		"new-leader":                                   "nobody follows yet",
		"place user=a role=b":                          "place takes no role",
	} {
		t.Run(line, func(t *testing.T) {
			got := run(line)
			switch {
			case want == "" && got != "":
				t.Errorf("got %q, want nothing", got)
			case want != "" && (!strings.HasPrefix(got, "cannot run ") || !strings.Contains(got, want)):
				t.Errorf("got %q, want it to say %q", got, want)
			}
		})
	}
}

func TestAStatementThatFailsChangesNothing(t *testing.T) {
	before := []string{"cluster cpu=10", "queue root.a weight=2", "application etl queue=root.a waiting=cpu=1"}
	bad := []string{"cluster cpu=x", "queue root.a weight=3 colour=red", "application etl priority=1 x=1", "usage root.a cpu=x"}
	ask := []string{"tree", "shares", "order", "problems"}
	want := run(append(before, ask...)...)
	w := scenario.New()
	w.Run(strings.Join(before, "\n"))
	w.Run(strings.Join(bad, "\n"))
	if got := w.Run(strings.Join(ask, "\n")); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestEmptyLinesAndCommentsAreSkipped(t *testing.T) {
	if got := run("", "  # nothing", "   cluster   cpu=1  ", "#"); got != "" {
		t.Errorf("got %q", got)
	}
}

// The order in which a world is described may matter only for who came first.
func TestQueuesMayBeDeclaredInAnyOrder(t *testing.T) {
	one := run("cluster cpu=100", "queue root.a", "queue root.a.x weight=3", "queue root.b", "tree", "shares steady")
	two := run("queue root.b", "queue root.a.x weight=3", "cluster cpu=100", "queue root.a", "tree", "shares steady")
	if one != two {
		t.Errorf("got:\n%s\nand:\n%s", one, two)
	}
}

func TestNobodyWaits(t *testing.T) {
	if got := run("queue root.a", "order"); got != "root: nobody waits\n" {
		t.Errorf("got %q", got)
	}
}
