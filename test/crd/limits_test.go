package crd

import (
	"fmt"
	"strings"
	"testing"
)

const (
	wantAmount   = "an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi, or a percentage of the cluster from 0% to 100% with at most three decimals"
	wantPods     = "pods: their number is a limit of each node and is not shared between queues"
	wantResource = "must be the name of a resource, such as cpu, memory or example.com/gpu"
	wantStarters = "must be a number of applications from 1 to 1000"
	wantTimeout  = "must be a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, or the word adaptive"
	wantPriority = "must be a priority from -2147483648 to 1000000000"
	wantShare    = `must be a number from 0 to 1 with at most three decimals, such as "0.3" or 300m`
)

// The three lists of amounts take and refuse the same.
var amountLists = []string{"guaranteed", "max", "maxPodResources"}

func TestRefusalsOfAmounts(t *testing.T) {
	cases := map[string]refusal{}
	for _, field := range amountLists {
		for about, tc := range map[string]struct{ list, want string }{
			"negative":                          {`{cpu: -1}`, "cpu: " + wantAmount},
			"negative, as text":                 {`{cpu: "-1"}`, "cpu: " + wantAmount},
			"in words":                          {`{memory: plenty}`, "memory: " + wantAmount},
			"nothing at all":                    {`{memory: ""}`, "memory: " + wantAmount},
			"with an absurd exponent":           {`{memory: "1e2000000000"}`, "memory: " + wantAmount},
			"with an exponent of three digits":  {`{memory: "1e100"}`, "memory: " + wantAmount},
			"more than the cluster":             {`{memory: "100.1%"}`, "memory: " + wantAmount},
			"much more than the cluster":        {`{memory: 200%}`, "memory: " + wantAmount},
			"less than nothing of the cluster":  {`{memory: "-1%"}`, "memory: " + wantAmount},
			"a part too fine":                   {`{memory: "0.0001%"}`, "memory: " + wantAmount},
			"a part without a number":           {`{memory: "%"}`, "memory: " + wantAmount},
			"a part of an amount":               {`{memory: "1Gi%"}`, "memory: " + wantAmount},
			"a part with a blank":               {`{memory: "50 %"}`, "memory: " + wantAmount},
			"a part twice":                      {`{memory: "50%%"}`, "memory: " + wantAmount},
			"a part with a sign":                {`{memory: "+50%"}`, "memory: " + wantAmount},
			"the bad one of two is named":       {`{cpu: 50%, memory: 101%}`, "memory: " + wantAmount},
			"pods":                              {`{pods: 3}`, wantPods},
			"a part of the pods":                {`{pods: 50%}`, wantPods},
			"a resource that cannot be one":     {`{"a b": 3}`, "a b is not the name of a resource, such as cpu, memory or example.com/gpu"},
			"a part of a resource that is none": {`{"a b": 50%}`, "a b is not the name of a resource, such as cpu, memory or example.com/gpu"},
		} {
			cases[field+", "+about] = refusal{"root.a", fmt.Sprintf("{%s: %s}", field, tc.list), []string{fmt.Sprintf("spec.%s: Invalid value: %s", field, tc.want)}}
		}
		cases[field+", longer than any amount"] = refusal{"root.a", fmt.Sprintf("{%s: {memory: %q}}", field, strings.Repeat("1", 33)),
			[]string{fmt.Sprintf("spec.%s.memory: Too long: may not be more than 32 bytes", field), unchecked}}
	}
	checkRefusals(t, cases)
}

func TestRefusalsOfLimits(t *testing.T) {
	count := func(field, value string) []string {
		return []string{fmt.Sprintf("spec.%[1]s: Invalid value: %[2]s: spec.%[1]s in body should be greater than or equal to 0", field, value)}
	}
	tooMany := func(field string) []string {
		return []string{fmt.Sprintf("spec.%[1]s: Invalid value: 2147483648: spec.%[1]s in body should be less than or equal to 2147483647", field)}
	}
	share := func(value string) []string {
		return []string{fmt.Sprintf("spec.maxDriverShare: Invalid value: %s: %s", value, wantShare)}
	}
	resource := func(value string) []string {
		return []string{fmt.Sprintf("spec.fairResource: Invalid value: %q: %s", value, wantResource)}
	}
	starters := func(value string) []string {
		return []string{fmt.Sprintf("spec.maxStarting: Invalid value: %s: %s", value, wantStarters)}
	}
	timeout := func(value string) []string {
		return []string{fmt.Sprintf("spec.startingTimeout: Invalid value: %q: %s", value, wantTimeout)}
	}
	priority := func(field, value string) []string {
		return []string{fmt.Sprintf("spec.%s: Invalid value: %s: %s", field, value, wantPriority)}
	}
	capOfRoot := []string{`spec.maxPriority: Invalid value: holds over all queues, so it can be stated in the queue root only`}
	calculatorOfRoot := []string{`spec.resourceCalculator: Invalid value: holds over all queues, so it can be stated in the queue root only`}
	calculator := func(value string) []string {
		return []string{fmt.Sprintf("spec.resourceCalculator: Unsupported value: %q: supported values: \"Dominant\", \"Memory\"", value), unchecked}
	}
	ofLeaves := []string{`spec.children: Invalid value: makes this a queue for child queues, and maxDriverShare, defaultPriority, users.minSharePercent, users.shareFactor and users.weights are for queues without children`}
	notOfRoot := []string{`spec: Invalid value: the queue root takes no pods: maxDriverShare, defaultPriority, users.minSharePercent, users.shareFactor and users.weights are for queues without children`}
	rootHasAll := []string{`spec.guaranteed: Invalid value: the queue root has the whole cluster: guaranteed is for the queues below it`}
	ofRoot := []string{`spec.users.maxRunningApplications: Invalid value: holds over all queues, so it can be stated in the queue root only`}
	checkRefusals(t, map[string]refusal{
		"fewer applications than none":      {"root.a", `{maxRunningApplications: -1}`, count("maxRunningApplications", "-1")},
		"more applications than 32 bits":    {"root.a", `{maxRunningApplications: 2147483648}`, tooMany("maxRunningApplications")},
		"fewer taken in than none":          {"root.a", `{maxApplications: -1}`, count("maxApplications", "-1")},
		"more taken in than 32 bits":        {"root", `{maxApplications: 2147483648}`, tooMany("maxApplications")},
		"fewer applications of a user":      {"root", `{users: {maxRunningApplications: -1}}`, count("users.maxRunningApplications", "-1")},
		"more of a user than 32 bits":       {"root", `{users: {maxRunningApplications: 2147483648}}`, tooMany("users.maxRunningApplications")},
		"users of a queue below root":       {"root.a", `{users: {maxRunningApplications: 3}}`, ofRoot},
		"users of a queue called root":      {"root.root", `{users: {maxRunningApplications: 3}}`, ofRoot},
		"starters of another policy":        {"root.a", `{policy: FIFO, maxStarting: 2}`, []string{`spec.maxStarting: Invalid value: is for policy StateAware: set policy to StateAware, or remove it`}},
		"strict in another policy":          {"root.a", `{policy: StateAware, strict: true}`, []string{`spec.strict: Invalid value: is for policy FIFO: set policy to FIFO, or remove it`}},
		"strict without a policy":           {"root.a", `{strict: true}`, []string{`spec.strict: Invalid value: is for policy FIFO: set policy to FIFO, or remove it`}},
		"starters without a policy":         {"root.a", `{maxStarting: 2}`, []string{`spec.maxStarting: Invalid value: is for policy StateAware: set policy to StateAware, or remove it`}},
		"a timeout of another policy":       {"root.a", `{startingTimeout: 5m}`, []string{`spec.startingTimeout: Invalid value: is for policy StateAware: set policy to StateAware, or remove it`}},
		"a resource of another policy":      {"root.a", `{policy: FIFO, fairResource: cpu}`, []string{`spec.fairResource: Invalid value: is for policy Fair: set policy to Fair, or remove it`}},
		"a resource without a policy":       {"root.a", `{fairResource: cpu}`, []string{`spec.fairResource: Invalid value: is for policy Fair: set policy to Fair, or remove it`}},
		"drivers of a queue for children":   {"root.a", `{children: {}, maxDriverShare: "0.3"}`, ofLeaves},
		"a priority of one":                 {"root.a", `{children: {}, defaultPriority: 3}`, ofLeaves},
		"users of one":                      {"root.a", `{children: {}, users: {shareFactor: 3}}`, ofLeaves},
		"drivers of root":                   {"root", `{maxDriverShare: "0.3"}`, notOfRoot},
		"a part for each user of root":      {"root", `{users: {minSharePercent: 25}}`, notOfRoot},
		"a guarantee of root":               {"root", `{guaranteed: {cpu: 4}}`, rootHasAll},
		"a default for the system's pods":   {"root.a", `{defaultPriority: 1000000001}`, priority("defaultPriority", "1000000001")},
		"a default of created queues":       {"root.a", `{children: {template: {defaultPriority: 1000000001}}}`, priority("children.template.defaultPriority", "1000000001")},
		"a default below 32 bits":           {"root.a", `{defaultPriority: -2147483649}`, priority("defaultPriority", "-2147483649")},
		"a cap above 32 bits":               {"root", `{maxPriority: 2147483648}`, priority("maxPriority", "2147483648")},
		"a cap for the system's pods":       {"root", `{maxPriority: 1000000001}`, priority("maxPriority", "1000000001")},
		"a cap of a queue below root":       {"root.a", `{maxPriority: 5}`, capOfRoot},
		"a calculator of a queue below":     {"root.a", `{resourceCalculator: Memory}`, calculatorOfRoot},
		"the default of a queue below":      {"root.a", `{resourceCalculator: Dominant}`, calculatorOfRoot},
		"a calculator of a queue so called": {"root.root", `{resourceCalculator: Memory}`, calculatorOfRoot},
		"YARN's name of a calculator":       {"root", `{resourceCalculator: DefaultResourceCalculator}`, calculator("DefaultResourceCalculator")},
		"a calculator in small letters":     {"root", `{resourceCalculator: memory}`, calculator("memory")},
		"no calculator":                     {"root", `{resourceCalculator: ""}`, calculator("")},
		"more than all for drivers":         {"root.a", `{maxDriverShare: "1.001"}`, share(`"1.001"`)},
		"twice all for drivers":             {"root.a", `{maxDriverShare: 2}`, share("2")},
		"more than all in milli":            {"root.a", `{maxDriverShare: 1001m}`, share(`"1001m"`)},
		"less than nothing for drivers":     {"root.a", `{maxDriverShare: "-0.1"}`, share(`"-0.1"`)},
		"YARN's -1, which switches off":     {"root.a", `{maxDriverShare: -1}`, share("-1")},
		"a share too fine":                  {"root.a", `{maxDriverShare: "0.0001"}`, share(`"0.0001"`)},
		"a share in percent":                {"root.a", `{maxDriverShare: 30%}`, share(`"30%"`)},
		"a share in words":                  {"root.a", `{maxDriverShare: half}`, share(`"half"`)},
		"no application may start":          {"root.a", `{policy: StateAware, maxStarting: 0}`, starters("0")},
		"fewer than none may start":         {"root.a", `{policy: StateAware, maxStarting: -1}`, starters("-1")},
		"one starter too many":              {"root.a", `{policy: StateAware, maxStarting: 1001}`, starters("1001")},
		"more starters than 32 bits":        {"root.a", `{policy: StateAware, maxStarting: 2147483648}`, starters("2147483648")},
		"no time to start":                  {"root.a", `{policy: StateAware, startingTimeout: 0s}`, timeout("0s")},
		"an empty time to start":            {"root.a", `{policy: StateAware, startingTimeout: ""}`, timeout("")},
		"a second more than a day":          {"root.a", `{policy: StateAware, startingTimeout: 24h1s}`, timeout("24h1s")},
		"more than a day in minutes":        {"root.a", `{policy: StateAware, startingTimeout: 1441m}`, timeout("1441m")},
		"less than a second":                {"root.a", `{policy: StateAware, startingTimeout: 500ms}`, timeout("500ms")},
		"negative time":                     {"root.a", `{policy: StateAware, startingTimeout: -5m}`, timeout("-5m")},
		"a fraction of an hour":             {"root.a", `{policy: StateAware, startingTimeout: 1.5h}`, timeout("1.5h")},
		"seconds before minutes":            {"root.a", `{policy: StateAware, startingTimeout: 30s5m}`, timeout("30s5m")},
		"a number without a unit":           {"root.a", `{policy: StateAware, startingTimeout: "300"}`, timeout("300")},
		"time in words":                     {"root.a", `{policy: StateAware, startingTimeout: 5 minutes}`, timeout("5 minutes")},
		"the word in other letters":         {"root.a", `{policy: StateAware, startingTimeout: Adaptive}`, timeout("Adaptive")},
		"a time longer than any":            {"root.a", `{policy: StateAware, startingTimeout: "` + strings.Repeat("1", 32) + `s"}`, []string{"spec.startingTimeout: Too long: may not be more than 32 bytes", unchecked}},
		"no resource":                       {"root.a", `{policy: Fair, fairResource: "a b"}`, resource("a b")},
		"no resource, with a domain":        {"root.a", `{policy: Fair, fairResource: example.com/}`, resource("example.com/")},
		"the number of pods":                {"root.a", `{policy: Fair, fairResource: pods}`, resource("pods")},
		"a list of resources":               {"root.a", `{policy: Fair, fairResource: "cpu,memory"}`, resource("cpu,memory")},
		"a name longer than any resource's": {"root.a", `{policy: Fair, fairResource: "` + strings.Repeat("a", 317) + `"}`, []string{"spec.fairResource: Too long: may not be more than 316 bytes", unchecked}},
	})
}
