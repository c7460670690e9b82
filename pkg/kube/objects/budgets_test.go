package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	podsOfBudget = `
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a1","namespace":"ns","uid":"a1","labels":{"app":"a"}},"spec":{"nodeName":"n"}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a2","namespace":"ns","uid":"a2","labels":{"app":"a"}},"spec":{"nodeName":"n"}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a3","namespace":"ns","uid":"a3","labels":{"app":"a"}},"spec":{"nodeName":"n"}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a4","namespace":"ns","uid":"a4","labels":{"app":"a"},"deletionTimestamp":"2026-03-01T00:00:00Z"},"spec":{"nodeName":"n"}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a5","namespace":"ns","uid":"a5","labels":{"app":"a"}},"spec":{}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a6","namespace":"ns","uid":"a6","labels":{"app":"a"}},"spec":{"nodeName":"n"},"status":{"phase":"Succeeded"}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"ns","uid":"b","labels":{"app":"b"}},"spec":{"nodeName":"n"}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c","namespace":"other","uid":"c","labels":{"app":"a"}},"spec":{"nodeName":"n"}}`
	ofA = `"selector":{"matchLabels":{"app":"a"}}`
)

// Of the five pods of a in ns that have not ended, three run and are not leaving.
func TestBudgetsSayHowManyPodsMayGo(t *testing.T) {
	all := []string{"a1", "a2", "a3", "a4", "a5"}
	for name, c := range map[string]struct {
		generation   int
		spec, status string
		pods         []string
		allowed      int
	}{
		"its status says it":                        {1, ofA + `,"minAvailable":3`, `{"observedGeneration":1,"disruptionsAllowed":2,"expectedPods":5}`, all, 2},
		"its status says none":                      {1, ofA + `,"minAvailable":1`, `{"observedGeneration":1,"disruptionsAllowed":0,"expectedPods":5}`, all, 0},
		"the status of an older spec lets none go":  {2, ofA + `,"minAvailable":1`, `{"observedGeneration":1,"disruptionsAllowed":2,"expectedPods":5}`, all, 0},
		"none has looked at it yet":                 {1, ofA + `,"minAvailable":1`, `{}`, all, 0},
		"a sketch with a minimum":                   {0, ofA + `,"minAvailable":1`, `{}`, all, 2},
		"a sketch with a minimum in percent, up":    {0, ofA + `,"minAvailable":"30%"`, `{}`, all, 1},
		"a sketch with a maximum":                   {0, ofA + `,"maxUnavailable":3`, `{}`, all, 1},
		"a sketch with a maximum in percent, up":    {0, ofA + `,"maxUnavailable":"50%"`, `{}`, all, 1},
		"a sketch with none to go":                  {0, ofA + `,"maxUnavailable":0`, `{}`, all, 0},
		"a sketch that says nothing":                {0, ofA, `{}`, all, 3},
		"no selector covers none":                   {0, `"minAvailable":1`, `{}`, nil, 0},
		"an empty selector covers the namespace":    {0, `"selector":{},"minAvailable":1`, `{}`, append(all[:5:5], "b"), 3},
		"a sketch in the namespace that is default": {-1, ofA, `{}`, nil, 0},
	} {
		namespace := "ns"
		if c.generation < 0 {
			namespace, c.generation = "", 0
		}
		s, err := Read("dump", strings.NewReader(podsOfBudget+fmt.Sprintf(
			`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"x","namespace":%q,"generation":%d},"spec":{%s},"status":%s}`,
			namespace, c.generation, c.spec, c.status)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff([]Budget{{Pods: c.pods, Allowed: c.allowed}}, s.Budgets()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestABudgetThatSelectsNothingSensibleIsRefused(t *testing.T) {
	_, err := Read("dump", strings.NewReader(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"x","namespace":"ns"},
		"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}}`))
	if err == nil || !strings.Contains(err.Error(), "PodDisruptionBudget ns/x: spec.selector: ") {
		t.Errorf("got %v", err)
	}
}
