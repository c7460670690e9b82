package objects

import (
	"slices"
	"strings"
	"testing"
)

func TestSelectByNamespaceAndLabels(t *testing.T) {
	s, err := Read("test", strings.NewReader(`
{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: one, uid: "1", labels: {app: web, tier: front}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: two, uid: "2", labels: {app: web}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: b, name: one, uid: "3", labels: {app: web}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ namespace, selector, want string }{
		{"", "app=web", "1 2 3"},
		{"a", "app=web", "1 2"},
		{"a", "app in (web),!tier", "2"},
		{"b", "tier", ""},
	} {
		got, err := s.Select(c.namespace, c.selector)
		slices.Sort(got)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
	if _, err := s.Select("", "app=web="); err == nil || !strings.Contains(err.Error(), `"app=web="`) {
		t.Errorf("got %v", err)
	}
}
