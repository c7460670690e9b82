package crd

import (
	"fmt"
	"strings"
	"testing"
)

const wantPercentage = `must be a percentage from 0% to 100% with at most two decimals, such as "12.5%"`

func TestRefusalsOfCapacity(t *testing.T) {
	cases := map[string]refusal{
		"capacity of root":            {"root", `{capacity: 100%}`, []string{"spec.capacity: Invalid value: the queue root has the whole cluster: capacity and maxCapacity are for the queues below it"}},
		"a weight beside capacity":    {"root.a", `{capacity: 50%, weight: 2}`, []string{"spec.capacity: Invalid value: a queue shares by capacity or by weight: remove weight to state capacity"}},
		"weight 0 beside capacity":    {"root.a", `{capacity: 50%, weight: 0}`, []string{"spec.capacity: Invalid value: a queue shares by capacity or by weight: remove weight to state capacity"}},
		"a guarantee beside capacity": {"root.a", `{capacity: 50%, guaranteed: {cpu: 1}}`, []string{"spec.capacity: Invalid value: the capacity of a queue is its guarantee: remove guaranteed to state capacity"}},
		"a maximum without capacity":  {"root.a", `{maxCapacity: 50%}`, []string{"spec.maxCapacity: Invalid value: maxCapacity is for queues that state capacity: state max, which takes percentages of the cluster"}},
	}
	for _, value := range []string{"100.01%", "101%", "-1%", "12.555%", "50", ".5%", "1e1%", "half", "", "5 %"} {
		cases["capacity "+value] = refusal{"root.a", fmt.Sprintf("{capacity: %q}", value), []string{fmt.Sprintf("spec.capacity: Invalid value: %q: %s", value, wantPercentage)}}
		cases["maxCapacity "+value] = refusal{"root.a", fmt.Sprintf("{capacity: 1%%, maxCapacity: %q}", value), []string{fmt.Sprintf("spec.maxCapacity: Invalid value: %q: %s", value, wantPercentage)}}
	}
	cases["longer than any"] = refusal{"root.a", `{capacity: "` + strings.Repeat("0", 8) + `%"}`, []string{"spec.capacity: Too long: may not be more than 8 bytes", unchecked}}
	checkRefusals(t, cases)
}

func TestAcceptedCapacity(t *testing.T) {
	checkAccepted(t, map[string]acceptance{
		"a capacity":                   {"root.a", `{capacity: 12.5%}`, "weight=1000 capacity=12500"},
		"beside the default weight":    {"root.a", `{capacity: 12.5%, weight: 1}`, "weight=1000 capacity=12500"},
		"beside weight 1 in milli":     {"root.a", `{capacity: 12.5%, weight: 1000m}`, "weight=1000 capacity=12500"},
		"two decimals and a maximum":   {"root.a", `{capacity: 33.33%, maxCapacity: 66.6%}`, "weight=1000 capacity=33330 maxCapacity=66600"},
		"nothing":                      {"root.a", `{capacity: 0%, maxCapacity: 0.00%}`, "weight=1000 capacity=0 maxCapacity=0"},
		"everything":                   {"root.a", `{capacity: 100%, maxCapacity: 100.00%}`, "weight=1000 capacity=100000 maxCapacity=100000"},
		"a smaller maximum is no more": {"root.a", `{capacity: 50%, maxCapacity: 30%}`, "weight=1000 capacity=50000 maxCapacity=30000"},
		"a max besides":                {"root.a", `{capacity: 50%, max: {cpu: 5}}`, "weight=1000 max(cpu=5) capacity=50000"},
	})
}
