package crd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestRefusalsOfUsers(t *testing.T) {
	cases := map[string]refusal{}
	for _, value := range []string{"0", "101", "-1"} {
		cases["minSharePercent "+value] = refusal{"root.a", fmt.Sprintf("{users: {minSharePercent: %s}}", value),
			[]string{fmt.Sprintf("spec.users.minSharePercent: Invalid value: %s: must be a percentage from 1 to 100", value)}}
	}
	for _, value := range []string{"0", "0.0", "1000001", "2M"} {
		cases["shareFactor "+value] = refusal{"root.a", fmt.Sprintf("{users: {shareFactor: %q}}", value),
			[]string{fmt.Sprintf("spec.users.shareFactor: Invalid value: %q: must be above 0 and at most 1000000", value)}}
	}
	for _, value := range []string{"-1", "1.2345", "half"} {
		why := []string{fmt.Sprintf("spec.users.shareFactor: Invalid value: %q: must be a number above 0 up to 1000000 with at most three decimals, such as \"0.5\" or 4", value)}
		if value == "-1" {
			why = append(why, `spec.users.shareFactor: Invalid value: "-1": must be above 0 and at most 1000000`)
		}
		cases["shareFactor "+value] = refusal{"root.a", fmt.Sprintf("{users: {shareFactor: %q}}", value), why}
	}
	cases["a weight above 1 at 100%"] = refusal{"root.a", `{users: {weights: [{user: ann, weight: 2}]}}`,
		[]string{`spec.users.weights: Invalid value: each weight must be from 0 to 100/minSharePercent, where minSharePercent is 100 if not stated`}}
	cases["a weight above 4 at 25%"] = refusal{"root.a", `{users: {minSharePercent: 25, weights: [{user: bob, weight: 1}, {user: ann, weight: "4.001"}]}}`,
		[]string{`spec.users.weights: Invalid value: each weight must be from 0 to 100/minSharePercent, where minSharePercent is 100 if not stated`}}
	cases["a user twice"] = refusal{"root.a", `{users: {weights: [{user: ann, weight: 1}, {user: ann, weight: "0.5"}]}}`,
		[]string{`spec.users.weights[1]: Duplicate value: {"user":"ann"}`}}
	checkRefusals(t, cases)
}

func TestAcceptedUsers(t *testing.T) {
	checkAccepted(t, map[string]acceptance{
		"all of it":    {"root.a", `{users: {minSharePercent: 25, shareFactor: "1.5", weights: [{user: ann, weight: 4}, {user: bob, weight: 0}]}}`, "weight=1000 users(at-least=25 factor=1500 ann=4000 bob=0)"},
		"a percentage": {"root.a", `{users: {minSharePercent: 100}}`, "weight=1000 users(at-least=100)"},
		"a factor":     {"root.a", `{users: {shareFactor: "0.001"}}`, "weight=1000 users(factor=1)"},
	})
}

func spellUsers(u queue.Users) []string {
	var out []string
	if u.MinShare.Stated {
		out = append(out, fmt.Sprintf("at-least=%d", u.MinShare.Most))
	}
	if u.ShareFactor.Stated {
		out = append(out, fmt.Sprintf("factor=%d", u.ShareFactor.Most))
	}
	for _, w := range u.Weights {
		out = append(out, fmt.Sprintf("%s=%d", w.User, w.Weight))
	}
	if len(out) == 0 {
		return nil
	}
	return []string{"users(" + strings.Join(out, " ") + ")"}
}
