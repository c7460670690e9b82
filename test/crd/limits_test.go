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
	ofRoot := []string{`spec.users.maxRunningApplications: Invalid value: holds over all queues, so it can be stated in the queue root only`}
	checkRefusals(t, map[string]refusal{
		"fewer applications than none":      {"root.a", `{maxRunningApplications: -1}`, count("maxRunningApplications", "-1")},
		"more applications than 32 bits":    {"root.a", `{maxRunningApplications: 2147483648}`, tooMany("maxRunningApplications")},
		"fewer applications of a user":      {"root", `{users: {maxRunningApplications: -1}}`, count("users.maxRunningApplications", "-1")},
		"more of a user than 32 bits":       {"root", `{users: {maxRunningApplications: 2147483648}}`, tooMany("users.maxRunningApplications")},
		"users of a queue below root":       {"root.a", `{users: {maxRunningApplications: 3}}`, ofRoot},
		"users of a queue called root":      {"root.root", `{users: {maxRunningApplications: 3}}`, ofRoot},
		"more than all for drivers":         {"root.a", `{maxDriverShare: "1.001"}`, share(`"1.001"`)},
		"twice all for drivers":             {"root.a", `{maxDriverShare: 2}`, share("2")},
		"more than all in milli":            {"root.a", `{maxDriverShare: 1001m}`, share(`"1001m"`)},
		"less than nothing for drivers":     {"root.a", `{maxDriverShare: "-0.1"}`, share(`"-0.1"`)},
		"YARN's -1, which switches off":     {"root.a", `{maxDriverShare: -1}`, share("-1")},
		"a share too fine":                  {"root.a", `{maxDriverShare: "0.0001"}`, share(`"0.0001"`)},
		"a share in percent":                {"root.a", `{maxDriverShare: 30%}`, share(`"30%"`)},
		"a share in words":                  {"root.a", `{maxDriverShare: half}`, share(`"half"`)},
		"no resource":                       {"root.a", `{policy: Fair, fairResource: "a b"}`, resource("a b")},
		"no resource, with a domain":        {"root.a", `{policy: Fair, fairResource: example.com/}`, resource("example.com/")},
		"the number of pods":                {"root.a", `{policy: Fair, fairResource: pods}`, resource("pods")},
		"a list of resources":               {"root.a", `{policy: Fair, fairResource: "cpu,memory"}`, resource("cpu,memory")},
		"a name longer than any resource's": {"root.a", `{fairResource: "` + strings.Repeat("a", 317) + `"}`, []string{"spec.fairResource: Too long: may not be more than 316 bytes", unchecked}},
	})
}
