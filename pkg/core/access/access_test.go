package access_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// known answers grants from a list such as "submit root.a": yes. Everything else is answered by rest.
func known(rest access.Answer, yes ...string) func(access.Grant) access.Answer {
	return func(g access.Grant) access.Answer {
		if slices.Contains(yes, string(g.Verb)+" "+string(g.Queue)) {
			return access.Yes
		}
		return rest
	}
}

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		verb  access.Verb
		queue queue.Path
		yes   []string
		want  access.Answer
	}{
		"submit on the queue itself":             {access.Submit, "root.a.b", []string{"submit root.a.b"}, access.Yes},
		"submit on its parent":                   {access.Submit, "root.a.b", []string{"submit root.a"}, access.Yes},
		"submit on root":                         {access.Submit, "root.a.b", []string{"submit root"}, access.Yes},
		"administer implies submit":              {access.Submit, "root.a.b", []string{"administer root.a.b"}, access.Yes},
		"administer above implies submit":        {access.Submit, "root.a.b", []string{"administer root"}, access.Yes},
		"nothing":                                {access.Submit, "root.a.b", nil, access.No},
		"submit on a sibling":                    {access.Submit, "root.a.b", []string{"submit root.a.c"}, access.No},
		"submit below":                           {access.Submit, "root.a.b", []string{"submit root.a.b.c"}, access.No},
		"submit on a queue that begins the same": {access.Submit, "root.ab", []string{"submit root.a"}, access.No},
		"submit on root itself":                  {access.Submit, "root", []string{"submit root"}, access.Yes},
		"submit does not imply administer":       {access.Administer, "root.a", []string{"submit root.a", "submit root"}, access.No},
		"reserve on its parent":                  {access.Reserve, "root.a.b", []string{"reserve root.a"}, access.Yes},
		"administer implies reserve":             {access.Reserve, "root.a.b", []string{"administer root"}, access.Yes},
		"submit does not imply reserve":          {access.Reserve, "root.a", []string{"submit root.a", "submit root"}, access.No},
		"reserve does not imply submit":          {access.Submit, "root.a", []string{"reserve root.a"}, access.No},
		"administer above":                       {access.Administer, "root.a.b", []string{"administer root.a"}, access.Yes},
		"administer below":                       {access.Administer, "root.a", []string{"administer root.a.b"}, access.No},
		"administer on the queue itself":         {access.Administer, "root.a", []string{"administer root.a"}, access.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			got, by := access.Decide(tc.verb, tc.queue, known(access.No, tc.yes...))
			if got != tc.want || got == access.Yes && !slices.Contains(tc.yes, string(by.Verb)+" "+string(by.Queue)) || got == access.No && by != (access.Grant{}) {
				t.Errorf("got %s by %v, want %s", got, by, tc.want)
			}
			if got, _ := access.Decide(tc.verb, tc.queue, known(access.Unknown, tc.yes...)); got == access.No || got == access.Yes && tc.want != access.Yes {
				t.Errorf("before anything is denied: %s", got)
			}
		})
	}
}

// What is asked of a tree of twelve levels, and in which order.
func TestGrantsAreAskedAboutFromTheRootDownAndOnce(t *testing.T) {
	deep := queue.Path("root.a.b")
	var asked []string
	answers := map[access.Grant]access.Answer{}
	for {
		answer, next := access.Decide(access.Submit, deep, func(g access.Grant) access.Answer { return answers[g] })
		if answer != access.Unknown {
			break
		}
		asked = append(asked, string(next.Verb)+" "+string(next.Queue))
		answers[next] = access.No
	}
	want := []string{"submit root", "submit root.a", "submit root.a.b", "administer root", "administer root.a", "administer root.a.b"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	levels := queue.Path("root" + strings.Repeat(".x", 11))
	count := 0
	access.Decide(access.Submit, levels, func(access.Grant) access.Answer { count++; return access.No })
	if count != 24 {
		t.Errorf("a denial at twelve levels takes %d grants, want 24", count)
	}
}

// The twin: a set of roles, and a path is allowed if some role is on a prefix of its parts.
func TestDecideEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "ab"})
		path := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(append([]string{"root"}, rapid.SliceOfN(part, 0, 3).Draw(t, "parts")...), ".")
		})
		roles := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"submit ", "reserve ", "administer "}).Draw(t, "verb") + path.Draw(t, "on")
		}), 0, 4).Draw(t, "roles")
		p := path.Draw(t, "queue")
		verb := rapid.SampledFrom([]access.Verb{access.Submit, access.Reserve, access.Administer}).Draw(t, "verb")
		want := access.No
		for _, role := range roles {
			v, on, _ := strings.Cut(role, " ")
			if (v == string(verb) || v == "administer") && strings.HasPrefix(p+".", on+".") {
				want = access.Yes
			}
		}
		answers := map[access.Grant]access.Answer{}
		for asked := 0; ; asked++ {
			got, next := access.Decide(verb, queue.Path(p), func(g access.Grant) access.Answer { return answers[g] })
			if got != access.Unknown {
				if got != want {
					t.Fatalf("%s on %s with %q: %s, want %s", verb, p, roles, got, want)
				}
				break
			}
			if answers[next] != access.Unknown || asked > 2*12 {
				t.Fatalf("asks again about %v", next)
			}
			answers[next] = known(access.No, roles...)(next)
		}
	})
}

func TestGroups(t *testing.T) {
	for name, tc := range map[string]struct {
		groups []string
		text   string
	}{
		"none":              {nil, ""},
		"one":               {[]string{"ads"}, "ads"},
		"in their order":    {[]string{"b", "a"}, "b,a"},
		"a comma":           {[]string{"a,b", "c"}, "a%2Cb,c"},
		"a percent":         {[]string{"100%", "%2C"}, "100%25,%252C"},
		"those of a robot":  {[]string{"system:serviceaccounts", "system:serviceaccounts:ns"}, "system:serviceaccounts,system:serviceaccounts:ns"},
		"blanks are a name": {[]string{" a "}, " a "},
	} {
		t.Run(name, func(t *testing.T) {
			if got := access.JoinGroups(tc.groups); got != tc.text {
				t.Errorf("joined: got %q, want %q", got, tc.text)
			}
			if diff := cmp.Diff(tc.groups, access.SplitGroups(tc.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := access.SplitGroups(",a,,b,"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("groups without a name: got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SliceOfN(rapid.StringMatching("[a%,2C5]{1,6}"), 1, 5).Draw(t, "groups")
		if got := access.SplitGroups(access.JoinGroups(groups)); !slices.Equal(got, groups) {
			t.Fatalf("%q became %q", groups, got)
		}
	})
}

func TestSubjectsWithTheSameGroupsAreTheSame(t *testing.T) {
	if access.NewSubject("ada", []string{"b", "a", "b"}) != access.NewSubject("ada", []string{"a", "b"}) {
		t.Error("the order of groups made two subjects")
	}
	if access.NewSubject("ada", []string{"a", "b"}) == access.NewSubject("ada", []string{"a,b"}) {
		t.Error("a comma made two groups of one")
	}
}
