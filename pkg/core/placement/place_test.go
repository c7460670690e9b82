package placement

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// parsed is the policy of a text: rules separated by ";", each with flags, a nested rule after ">".
func parsed(t testing.TB, text string) Policy {
	t.Helper()
	p, errs := Parse(written(text))
	if errs != nil {
		t.Fatalf("%s: %v", text, errs)
	}
	return p
}

// written reads "Specified create=false; NestedUserQueue > PrimaryGroup; Default queue=root.x". A rule that begins with a
// "+" is a setting: +override, +map=u:ann:x, +user=true, +undeclared=false.
func written(text string) Statement {
	var s Statement
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimSpace(part)
		name, value, _ := strings.Cut(part, "=")
		yes := value == "true"
		switch name {
		case "":
		case "+override":
			s.Override = true
		case "+map":
			s.Mappings = append(s.Mappings, value)
		case "+user":
			s.UserAsDefaultQueue = &yes
		case "+undeclared":
			s.AllowUndeclaredQueues = &yes
		default:
			outer, inner, nested := strings.Cut(part, ">")
			r := writtenRule(outer)
			if nested {
				in := writtenRule(inner)
				r.Nested = &in
			}
			s.Rules = append(s.Rules, r)
		}
	}
	return s
}

func writtenRule(text string) RuleStatement {
	words := strings.Fields(text)
	r := RuleStatement{Kind: words[0]}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch yes := value == "true"; name {
		case "create":
			r.Create = &yes
		case "queue":
			r.Queue = value
		case "parent":
			r.Parent = value
		}
	}
	return r
}

// tree declares queues, and those above them as parents; a "*" marks one that placement created for the name after it.
func tree(text string) Tree {
	d := Tree{}
	for _, word := range strings.Fields(text) {
		name, owner, created := strings.Cut(word, "*")
		for _, above := range queue.Path(name).Ancestors() {
			d.Declare(above, d[above])
		}
		d.Declare(queue.Path(name), Queue{Created: created, For: owner})
	}
	return d
}

type placed struct {
	rules, queues string
	user          string
	groups        []string
	asks          string
	want          string // queue, with a "+" if it is created; or "! " and the reason
	by            string
}

func (tc placed) check(t *testing.T) Decision {
	t.Helper()
	d := parsed(t, tc.rules).Place(Submission{tc.user, tc.groups, tc.asks}, tree(tc.queues))
	got := string(d.Queue)
	switch {
	case d.Rejected.Code != "":
		got = "! " + d.Rejected.Text()
	case len(d.Create) > 0:
		got += "+"
	}
	if got != tc.want || tc.by != "" && d.Rule != tc.by {
		t.Errorf("%s asks for %q: %s by %s, want %s by %s", tc.user, tc.asks, got, d.Rule, tc.want, tc.by)
	}
	return d
}

// The cases of Hadoop's TestQueuePlacementPolicy, with names as queues have them here.
func TestWhatYARNTests(t *testing.T) {
	const rejected = "! the placement policy rejects the pod: "
	for about, tc := range map[string]placed{
		"specified, asked for":            {"Specified; User", "", "someuser", nil, "specifiedq", "root.specifiedq+", "Specified"},
		"specified, user":                 {"Specified; User", "", "someuser", nil, "default", "root.someuser+", "User"},
		"no create: asked for":            {"Specified; User create=false; Default", "root.someuser", "someuser", nil, "specifiedq", "root.specifiedq+", "Specified"},
		"no create: has a queue":          {"Specified; User create=false; Default", "root.someuser", "someuser", nil, "default", "root.someuser", "User"},
		"no create: has none":             {"Specified; User create=false; Default", "root.someuser root.default", "otheruser", nil, "default", "root.default", "Default"},
		"specified then reject":           {"Specified; Reject", "", "someuser", nil, "default", rejected + "its rule Reject takes no pod", "Reject"},
		"default with a queue":            {"Specified create=false; Default queue=root.other", "root.other", "u", nil, "default", "root.other", "Default"},
		"nested, primary group":           {"Specified create=false; NestedUserQueue > PrimaryGroup", "", "user1", []string{"user1group"}, "default", "root.user1group.user1+", "NestedUserQueue"},
		"nested, beside specified":        {"Specified create=false; NestedUserQueue > PrimaryGroup", "root.specifiedq", "user2", []string{"g"}, "root.specifiedq", "root.specifiedq", "Specified"},
		"nested, the group's is a leaf":   {"Specified create=false; NestedUserQueue > PrimaryGroup", "root.user3group", "user3", []string{"user3group"}, "default", rejected + "none of its rules gives a queue", ""},
		"nested, group not created":       {"NestedUserQueue > PrimaryGroup create=false; Default", "", "user1", []string{"user1group"}, "", "root.default+", "Default"},
		"nested, group declared":          {"NestedUserQueue > PrimaryGroup create=false; Default", "root.user1group.x", "user1", []string{"user1group"}, "", "root.user1group.user1+", "NestedUserQueue"},
		"nested, nothing created":         {"NestedUserQueue create=false > PrimaryGroup create=false; Default", "root.user2group.x", "user2", []string{"user2group"}, "", "root.default+", "Default"},
		"nested, both declared":           {"NestedUserQueue create=false > PrimaryGroup create=false; Default", "root.user2group.user2", "user2", []string{"user2group"}, "", "root.user2group.user2", "NestedUserQueue"},
		"nested, no secondary group":      {"NestedUserQueue > SecondaryGroupExistingQueue; Default", "", "user1", []string{"g", "sub1"}, "", "root.default+", "Default"},
		"nested, secondary group":         {"NestedUserQueue > SecondaryGroupExistingQueue; Default", "root.sub1.x", "user1", []string{"g", "sub1"}, "", "root.sub1.user1+", "NestedUserQueue"},
		"nested, specified":               {"NestedUserQueue > Specified create=false; Default", "root.parent1.x root.parent2.x", "user2", nil, "root.parent2", "root.parent2.user2+", "NestedUserQueue"},
		"nested, default":                 {"Specified create=false; NestedUserQueue > Default queue=root.parent", "", "user1", nil, "", "root.parent.user1+", "NestedUserQueue"},
		"nested, default, not created":    {"Specified create=false; NestedUserQueue > Default queue=root.parent create=false; Default", "root.parent.x", "user1", nil, "", "root.parent.user1+", "NestedUserQueue"},
		"nested, default is a leaf":       {"Specified create=false; NestedUserQueue > Default queue=root.parent", "root.parent", "user1", nil, "", rejected + "none of its rules gives a queue", ""},
		"a user with a period":            {"User", "", "first.last", nil, "", "root.first-dot-last+", "User"},
		"a group with a period":           {"Specified create=false; NestedUserQueue > PrimaryGroup", "", "user1", []string{"user1.group"}, "", "root.user1-dot-group.user1+", "NestedUserQueue"},
		"no groups":                       {"PrimaryGroup create=false; Default", "", "emptygroupuser", nil, "", rejected + "user emptygroupuser has no groups", "PrimaryGroup"},
		"specified with a blank":          {"Specified; Default", "", "u", nil, "A ", `! "A " is not the name of a queue: ` + allowedPath, "Specified"},
		"specified with a no-break space": {"Specified; Default", "", "u", nil, "A\u00a0", `! "A` + "\u00a0" + `" is not the name of a queue: ` + allowedPath, "Specified"},
	} {
		t.Run(about, func(t *testing.T) { tc.check(t) })
	}
}

var allowedPath = func() string {
	_, err := queue.ParsePath("")
	return err.Error()
}()

func TestPlace(t *testing.T) {
	const rejected = "! the placement policy rejects the pod: "
	long := strings.Repeat("a", 300)
	for about, tc := range map[string]placed{
		"root. may be left out":                 {"Specified; Reject", "root.a.b", "u", nil, "a.b", "root.a.b", "Specified"},
		"rootbase is below root":                {"Specified; Reject", "", "u", nil, "rootbase", "root.rootbase+", "Specified"},
		"a path with a dot in front":            {"Specified; Reject", "", "u", nil, ".a", `! ".a" is not the name of a queue: ` + allowedPath, ""},
		"root.default is asked for by its path": {"Specified create=false; Reject", "root.default", "u", nil, "root.default", "root.default", "Specified"},
		"specified, not created":                {"Specified create=false; Default", "root.default", "u", nil, "nowhere", "root.default", "Default"},
		"specified, left over from earlier":     {"Specified create=false; Default", "root.default root.old*", "u", nil, "old", "root.default", "Default"},
		"user, left over from earlier":          {"User create=false; Default", "root.default root.ann*ann", "ann", nil, "", "root.default", "Default"},
		"user, created earlier":                 {"User", "root.ann*ann", "ann", nil, "", "root.ann", "User"},
		"user below a parent":                   {"User parent=users", "root.users.bob", "ann", nil, "", "root.users.ann+", "User"},
		"user below a parent that is missing":   {"User parent=root.users", "", "ann", nil, "", "root.users.ann+", "User"},
		"user below a leaf":                     {"User parent=users create=false; Default", "root.users root.default", "ann", nil, "", "root.default", "Default"},
		"user below a leaf, to create":          {"User parent=users", "root.users", "ann", nil, "", "! queue root.users.ann cannot be created, because root.users above it is a leaf; create it, or name another one in fairway.dev/queue", "User"},
		"a user of 300 characters":              {"User", "", long, nil, "", "root." + HashedLabel(long) + "+", "User"},
		"primary group":                         {"PrimaryGroup", "root.dev", "ann", []string{"dev", "ops"}, "", "root.dev", "PrimaryGroup"},
		"primary group below a parent":          {"PrimaryGroup parent=groups", "", "ann", []string{"dev"}, "", "root.groups.dev+", "PrimaryGroup"},
		"primary group, not created":            {"PrimaryGroup create=false; Default", "root.default", "ann", []string{"dev"}, "", "root.default", "Default"},
		"groups of the API server do not count": {"PrimaryGroup", "", "ann", []string{"system:masters", "dev", "system:authenticated"}, "", "root.dev+", "PrimaryGroup"},
		"only groups of the API server":         {"PrimaryGroup", "", "ann", []string{"system:authenticated"}, "", rejected + "user ann has no groups", ""},
		"secondary group":                       {"SecondaryGroupExistingQueue; Default", "root.ops root.qa", "ann", []string{"dev", "x", "qa", "ops"}, "", "root.qa", "SecondaryGroupExistingQueue"},
		"the primary group is no secondary":     {"SecondaryGroupExistingQueue; Default", "root.dev root.default", "ann", []string{"dev", "ops", "dev"}, "", "root.default", "Default"},
		"secondary group never creates":         {"SecondaryGroupExistingQueue create=true; Default", "root.default", "ann", []string{"dev", "ops"}, "", "root.default", "Default"},
		"secondary group, created by placement": {"SecondaryGroupExistingQueue; Default", "root.default root.ops*ops", "ann", []string{"dev", "ops"}, "", "root.default", "Default"},
		"secondary group below a parent":        {"SecondaryGroupExistingQueue parent=g; Default", "root.g.ops root.ops", "ann", []string{"dev", "ops"}, "", "root.g.ops", ""},
		"user without groups, secondary":        {"SecondaryGroupExistingQueue; Default", "root.default", "ann", nil, "", "root.default", "Default"},
		"nested, user without groups":           {"NestedUserQueue > PrimaryGroup create=false; Default", "", "ann", nil, "", rejected + "user ann has no groups", "NestedUserQueue"},
		"nested, clean both":                    {"NestedUserQueue > PrimaryGroup", "", "A.B", []string{"Data_Eng"}, "", "root.data-eng.a-dot-b+", ""},
		"nested below root":                     {"NestedUserQueue > Default queue=root", "", "ann", nil, "", "root.ann+", ""},
		"the result has children":               {"PrimaryGroup", "root.dev.night", "ann", []string{"dev"}, "", "! queue root.dev has child queues and takes no pods itself; name a queue below it, for example root.dev.night", "PrimaryGroup"},
		"default":                               {"Default", "root.default", "ann", []string{"x"}, "root.a", "root.default", "Default"},
		"default, without root.":                {"Default queue=rest", "root.rest", "ann", nil, "", "root.rest", "Default"},
		"default, not created":                  {"Default create=false; Reject", "", "ann", nil, "", rejected + "its rule Reject takes no pod", "Reject"},
		"too deep":                              {"Specified; Reject", "", "u", nil, "a.b.c.d.e.f.g.h.i.j.k.l", `! "a.b.c.d.e.f.g.h.i.j.k.l" is not the name of a queue: a queue path has at most 12 levels including root, this one has 13`, ""},
		"too deep with the user":                {"NestedUserQueue > Specified; Reject", "", "u", nil, "a.b.c.d.e.f.g.h.i.j.k", `! "root.a.b.c.d.e.f.g.h.i.j.k.u" is not the name of a queue: a queue path has at most 12 levels including root, this one has 13`, ""},
	} {
		t.Run(about, func(t *testing.T) { tc.check(t) })
	}
}

func TestMappings(t *testing.T) {
	const ann = "+map=u:ann:root.a; Mapping; Default queue=root.z"
	for about, tc := range map[string]placed{
		"by user":                       {ann, "root.a root.z", "ann", nil, "", "root.a", "Mapping"},
		"nobody's":                      {ann, "root.a root.z", "bob", nil, "", "root.z", "Default"},
		"by group":                      {"+map=g:ops:a; Mapping; Reject", "root.a", "ann", []string{"dev", "ops"}, "", "root.a", "Mapping"},
		"by a group of the API server":  {"+map=g:system:serviceaccounts:ci:a; Mapping; Reject", "root.a", "system:serviceaccount:ci:x", []string{"system:serviceaccounts:ci"}, "", "root.a", "Mapping"},
		"the first that fits":           {"+map=u:ann:a; +map=u:%user:b; +map=u:bob:c; Mapping; Reject", "root.a root.b root.c", "bob", nil, "", "root.b", "Mapping"},
		"blanks are trimmed":            {"+map= u : ann : a ; Mapping; Reject", "root.a", "ann", nil, "", "root.a", "Mapping"},
		"%user":                         {"+map=u:%user:%user; Mapping; Reject", "root.a-dot-b", "a.b", nil, "", "root.a-dot-b", "Mapping"},
		"%user below a parent":          {"+map=u:%user:users.%user; Mapping; Reject", "root.users.ann", "ann", nil, "", "root.users.ann", "Mapping"},
		"%primary_group":                {"+map=u:%user:%primary_group; Mapping; Reject", "root.dev", "ann", []string{"dev", "ops"}, "", "root.dev", "Mapping"},
		"%primary_group.%user":          {"+map=u:%user:%primary_group.%user; Mapping; Reject", "root.dev.ann", "ann", []string{"dev"}, "", "root.dev.ann", "Mapping"},
		"%primary_group, no groups":     {"+map=u:%user:%primary_group; Mapping; Reject", "root.dev", "ann", nil, "", "! the placement policy rejects the pod: user ann has no groups", "Mapping"},
		"%secondary_group":              {"+map=u:%user:%secondary_group; Mapping; Reject", "root.dev root.qa", "ann", []string{"dev", "ops", "qa"}, "", "root.qa", "Mapping"},
		"%secondary_group.%user":        {"+map=u:%user:%secondary_group.%user; Mapping; Reject", "root.qa.ann", "ann", []string{"dev", "ops", "qa"}, "", "root.qa.ann", "Mapping"},
		"%secondary_group, none has":    {"+map=u:%user:%secondary_group; Mapping; Reject", "root.dev root.default", "ann", []string{"dev", "ops"}, "", "root.default", "Mapping"},
		"a queue that is missing":       {ann, "root.default root.z", "ann", nil, "", "root.default", "Mapping"},
		"a queue that is a parent":      {ann, "root.default root.a.b root.z", "ann", nil, "", "root.default", "Mapping"},
		"created by placement":          {ann, "root.default root.a* root.z", "ann", nil, "", "root.default", "Mapping"},
		"creating, below a parent":      {"+map=u:%user:users.%user; Mapping create=true; Reject", "root.users.bob", "ann", nil, "", "root.users.ann+", "Mapping"},
		"creating, below a leaf":        {"+map=u:%user:users.%user; Mapping create=true; Reject", "root.users root.default", "ann", nil, "", "root.default", "Mapping"},
		"creating, the parent missing":  {"+map=u:%user:users.%user; Mapping create=true; Reject", "root.default", "ann", nil, "", "root.default", "Mapping"},
		"creating, created earlier":     {"+map=u:%user:users.%user; Mapping create=true; Reject", "root.users.ann*ann", "ann", nil, "", "root.users.ann", "Mapping"},
		"a request comes first":         {ann, "root.a root.z", "ann", nil, "root.z", "root.z", "Default"},
		"a request for default is none": {ann, "root.a root.z", "ann", nil, "default", "root.a", "Mapping"},
		"override":                      {"+override; " + ann, "root.a root.z", "ann", nil, "root.z", "root.a", "Mapping"},
	} {
		t.Run(about, func(t *testing.T) { tc.check(t) })
	}
}

// Without a policy, a mistake in the name of a queue sends no pod elsewhere; with YARN's booleans the lists are YARN's.
func TestRulesThatStandForBooleans(t *testing.T) {
	rules := func(text string) (all []string) {
		for _, r := range parsed(t, text).Rules {
			name := r.Kind.String()
			switch {
			case r.Kind == Mapping:
				if r.Override {
					name += " override"
				}
			case r.Missing == TryNext:
				name += " create=false"
			case r.Missing == Refuse:
				name += " or wait"
			}
			all = append(all, name)
		}
		return all
	}
	for text, want := range map[string][]string{
		"": {"Specified or wait", "Default"},
		// QueuePlacementPolicy.fromConfiguration: specified(create=A); if U: user(create=A); if !U or !A: default(create).
		"+user=true;  +undeclared=true":  {"Specified", "User"},
		"+user=true;  +undeclared=false": {"Specified create=false", "User create=false", "Default"},
		"+user=false; +undeclared=true":  {"Specified", "Default"},
		"+user=false; +undeclared=false": {"Specified create=false", "Default"},
		"+user=true":                     {"Specified", "User"},
		"+user=false":                    {"Specified", "Default"},
		"+undeclared=false":              {"Specified create=false", "User create=false", "Default"},
		// The Capacity Scheduler: mappings for those that ask for nothing; with the override for all.
		"+map=u:a:b":                           {"Specified or wait", "Mapping", "Default"},
		"+map=u:a:b; +override":                {"Mapping override", "Specified or wait", "Default"},
		"+map=u:a:b; +user=true":               {"Specified", "Mapping", "User"},
		"+map=u:a:b; +override; +user=false":   {"Mapping override", "Specified", "Default"},
		"Reject; +user=true; +undeclared=true": {"Reject"}, // with rules both are ignored
	} {
		if diff := cmp.Diff(want, rules(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	placed{"", "root.default", "u", nil, "", "root.default", "Default"}.check(t)
	placed{"", "root.a", "u", nil, "a", "root.a", "Specified"}.check(t)
	placed{"", "root.a*", "u", nil, "a", "root.a", "Specified"}.check(t)
	placed{"", "", "u", nil, "a", "! queue root.a does not exist; create it, or name another one in fairway.dev/queue", "Specified"}.check(t)
	placed{"", "root.a.b", "u", nil, "a", "! queue root.a has child queues and takes no pods itself; name a queue below it, for example root.a.b", "Specified"}.check(t)
	placed{"", "", "u", nil, "root", "! queue root holds all queues and takes no pods itself; name a queue below it", "Specified"}.check(t)
}

// A queue whose parent is not declared is not in force, but pods cannot go in the parent either.
func TestAQueueAboveADeclaredOneIsNoLeaf(t *testing.T) {
	d := Tree{}
	d.Declare("root.ann.x", Queue{})
	got := parsed(t, "User").Place(Submission{User: "ann"}, d).Rejected
	if want := (reason.Reason{Code: reason.QueueNotLeaf, Queue: "root.ann", Details: reason.Child{Path: "root.ann.x"}}); got != want {
		t.Errorf("%+v", got)
	}
}

// What must be created: parents first, each with the name it bears.
func TestQueuesToCreate(t *testing.T) {
	for about, tc := range map[string]struct {
		rules, queues, asks string
		want                []NewQueue
	}{
		"nothing":         {"User", "root.a-dot-b", "", nil},
		"a user's":        {"User", "", "", []NewQueue{{"root.a-dot-b", "a.b", false}}},
		"below a parent":  {"User parent=x.y", "root.x.z", "", []NewQueue{{"root.x.y", "", true}, {"root.x.y.a-dot-b", "a.b", false}}},
		"group and user":  {"NestedUserQueue > PrimaryGroup", "", "", []NewQueue{{"root.dev", "Dev", true}, {"root.dev.a-dot-b", "a.b", false}}},
		"asked for":       {"Specified; Reject", "root.x.z", "x.y.w", []NewQueue{{"root.x.y", "", true}, {"root.x.y.w", "", false}}},
		"mapped":          {"+map=u:%user:x.%primary_group; Mapping create=true; Reject", "root.x.z", "", []NewQueue{{"root.x.dev", "Dev", false}}},
		"another's label": {"User", "root.a-dot-b*A.B", "", []NewQueue{{queue.Path("root." + HashedLabel("a.b")), "a.b", false}}},
	} {
		d := parsed(t, tc.rules).Place(Submission{"a.b", []string{"Dev"}, tc.asks}, tree(tc.queues))
		if diff := cmp.Diff(tc.want, d.Create); diff != "" || d.Rejected.Code != "" {
			t.Errorf("%s (-want +got):\n%s%s", about, diff, d.Rejected.Text())
		}
	}
	d := parsed(t, "Specified; Reject").Place(Submission{"u", nil, "a.b.c"}, tree("root.a"))
	if want := (reason.Reason{Code: reason.PlacementRejected, Queue: "root.a.b.c", Details: reason.Parent{Path: "root.a"}}); d.Rejected != want || d.Create != nil {
		t.Errorf("below a leaf: %+v", d)
	}
}

func TestTrace(t *testing.T) {
	for about, tc := range map[string]struct {
		placed
		want []Step
	}{
		"each rule": {
			placed{rules: "Specified create=false; PrimaryGroup create=false; SecondaryGroupExistingQueue; NestedUserQueue > PrimaryGroup create=false; User create=false; Default queue=z",
				queues: "root.ann*ann", user: "ann", groups: []string{"dev", "ops"}, want: "root.z+"},
			[]Step{
				{"Specified", "the pod asks for no queue"},
				{"PrimaryGroup", "queue root.dev does not exist, and create is false"},
				{"SecondaryGroupExistingQueue", "no secondary group has a queue: ops"},
				{"NestedUserQueue", "PrimaryGroup: queue root.dev does not exist, and create is false"},
				{"User", "queue root.ann was created by placement, and create is false"},
				{"Default", "root.z"},
			},
		},
		"a leaf as parent": {
			placed{rules: "NestedUserQueue > PrimaryGroup create=false; Default", queues: "root.dev root.default", user: "ann", groups: []string{"dev"}, want: "root.default"},
			[]Step{
				{"NestedUserQueue", "PrimaryGroup: queue root.dev is a leaf, and there is no queue below it"},
				{"Default", "root.default"},
			},
		},
		"mappings": {
			placed{rules: "+map=u:bob:x; +map=u:%user:y; Mapping; Reject", queues: "root.default", user: "ann", want: "root.default"},
			[]Step{{"Mapping", "root.default, as mapping u:%user:y cannot be used: queue root.y does not exist, and create is false"}},
		},
		"a rejection": {
			placed{rules: "SecondaryGroupExistingQueue; Reject", user: "ann", groups: []string{"dev"}, want: "! the placement policy rejects the pod: its rule Reject takes no pod"},
			[]Step{
				{"SecondaryGroupExistingQueue", "the user has no group besides the primary one"},
				{"Reject", "the placement policy rejects the pod: its rule Reject takes no pod"},
			},
		},
		"a result that takes no pods": {
			placed{rules: "User", queues: "root.ann.x", user: "ann", want: "! queue root.ann has child queues and takes no pods itself; name a queue below it, for example root.ann.x"},
			[]Step{{"User", "queue root.ann has child queues and takes no pods itself; name a queue below it, for example root.ann.x"}},
		},
	} {
		if diff := cmp.Diff(tc.want, tc.check(t).Trace); diff != "" {
			t.Errorf("%s (-want +got):\n%s", about, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const all = "Specified, User, PrimaryGroup, SecondaryGroupExistingQueue, NestedUserQueue, Mapping, Default, Reject"
	one := func(texts ...string) []string { return texts }
	for text, want := range map[string][]string{
		"specified; primarygroup create=false; REJECT": nil, // upper or lower case
		"Specified; Nearest; Default":                  one(`rule 2: there is no rule "Nearest"; the rules are ` + all),
		"Specified; Default; User":                     one("the rules after rule 2 (Default) can never be reached, as it always gives a queue or rejects"),
		"Reject; Specified; Default":                   one("the rules after rule 1 (Reject) can never be reached, as it always gives a queue or rejects"),
		"NestedUserQueue > PrimaryGroup; Default":      one("the rules after rule 1 (NestedUserQueue) can never be reached, as it always gives a queue or rejects"),
		"Specified; User create=false":                 one("pods could get past the last rule, 2 (User), without a queue; end with Default or Reject"),
		"Specified":                                    one("pods could get past the last rule, 1 (Specified), without a queue; end with Default or Reject"),
		"SecondaryGroupExistingQueue create=true; Default queue=x create=false": one("pods could get past the last rule, 2 (Default), without a queue; end with Default or Reject"),
		"NestedUserQueue > PrimaryGroup create=false":                           one("pods could get past the last rule, 1 (NestedUserQueue), without a queue; end with Default or Reject"),
		"NestedUserQueue create=false > PrimaryGroup":                           one("pods could get past the last rule, 1 (NestedUserQueue), without a queue; end with Default or Reject"),
		"+map=u:a:b; Mapping":                                                   one("pods could get past the last rule, 1 (Mapping), without a queue; end with Default or Reject"),
		"NestedUserQueue":                                                       one("rule 1 (NestedUserQueue) must have a nested rule, which gives the queue above the user's"),
		"NestedUserQueue > Unknown":                                             one(`rule 1 (NestedUserQueue), nested: there is no rule "Unknown"; the rules are ` + all),
		"NestedUserQueue > Reject":                                              one("rule 1 (NestedUserQueue): the nested rule may not be Reject"),
		"User > PrimaryGroup":                                                   one("rule 1 (User): nested is only for the rule NestedUserQueue"),
		"User queue=x":                                                          one("rule 1 (User): queue is not for this rule"),
		"Default parent=x":                                                      one("rule 1 (Default): parent is not for this rule"),
		"Default queue=X":                                                       one(`rule 1 (Default): queue "X": ` + allowedPath),
		"Default queue=root":                                                    one("rule 1 (Default): queue root takes no pods itself; name a queue below it"),
		"PrimaryGroup parent=a..b":                                              one(`rule 1 (PrimaryGroup): parent "a..b": ` + allowedPath),
		"Mapping; Default":                                                      one("rule 1 (Mapping): there are no mappings"),
		"+map=u:a:b; Default":                                                   one("there are mappings, but no rule Mapping that uses them"),
		"+override; Default":                                                    one("override is for mappings, and there are none"),
		"+map=u:a; Mapping; Default":                                            one(`mapping "u:a": a mapping is u:USER:QUEUE or g:GROUP:QUEUE, and no part is empty`),
		"+map=x:a:b":                                                            one(`mapping "x:a:b": a mapping is u:USER:QUEUE or g:GROUP:QUEUE, and no part is empty`),
		"+map=u::b":                                                             one(`mapping "u::b": a mapping is u:USER:QUEUE or g:GROUP:QUEUE, and no part is empty`),
		"+map=u:a:":                                                             one(`mapping "u:a:": a mapping is u:USER:QUEUE or g:GROUP:QUEUE, and no part is empty`),
		"+map=u:a:root":                                                         one(`mapping "u:a:root": queue root takes no pods itself; name a queue below it`),
		"+map=u:a:B":                                                            one(`mapping "u:a:B": ` + allowedPath),
		"+map=u:a:%group":                                                       one(`mapping "u:a:%group": %group is none of %user, %primary_group and %secondary_group`),
		"Nearest; Default; User queue=x":                                        one(`rule 1: there is no rule "Nearest"; the rules are `+all, "rule 3 (User): queue is not for this rule"),
	} {
		policy, errs := Parse(written(text))
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if diff := cmp.Diff(want, got); diff != "" || (policy.Rules == nil) != (want != nil) {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	_, errs := Parse(written("+map=u:a:b; NestedUserQueue > Mapping; Default"))
	if len(errs) != 2 || errs[0].Error() != "rule 1 (NestedUserQueue): the nested rule may not be Mapping; a mapping may end with .%user instead" {
		t.Error(errs)
	}
	_, errs = Parse(Statement{Rules: []RuleStatement{{}}})
	if len(errs) != 1 || errs[0].Error() != "rule 1 has no type; it must be one of "+all {
		t.Error(errs)
	}
	inner := RuleStatement{Kind: "NestedUserQueue", Nested: &RuleStatement{Kind: "Default"}}
	_, errs = Parse(Statement{Rules: []RuleStatement{{Kind: "NestedUserQueue", Nested: &inner}}})
	if len(errs) != 1 || errs[0].Error() != "rule 1 (NestedUserQueue): the nested rule may not be NestedUserQueue" {
		t.Error(errs)
	}
}

func TestMappingsReadAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"u:ann:root.a.b": "u:ann:a.b", "g: dev :x": "g:dev:x", "u:system:serviceaccount:ci:bot:ci.%user": "u:system:serviceaccount:ci:bot:ci.%user",
	} {
		m, err := ParseMapping(text)
		if err != nil || m.String() != want {
			t.Errorf("%s: %s, %v", text, m, err)
		}
		if again, _ := ParseMapping(m.String()); !cmp.Equal(m, again) || slices.Contains(m.Levels, "root") {
			t.Errorf("%s: %+v, then %+v", text, m, again)
		}
	}
}
