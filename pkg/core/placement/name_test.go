package placement

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestLabel(t *testing.T) {
	for name, want := range map[string]string{
		"alice":                              "alice",
		"a.b@c":                              "a-dot-b-at-c", // what was decided
		"first.last":                         "first-dot-last",
		"Alice":                              "alice",
		"data_science":                       "data-science",
		"a__b":                               "a--b",
		" alice\t":                           "alice", // YARN trims
		"_alice_":                            "alice",
		".alice":                             "dot-alice",
		"alice.":                             "alice-dot",
		"corp:alice":                         "corp-alice",
		"CORP\\alice":                        "corp-alice",
		"x/y z":                              "x-y-z",
		"4711":                               "4711",
		"o'neill+ci":                         "o-neill-ci",
		"sa-1.ci.local":                      "sa-1-dot-ci-dot-local",
		"system:serviceaccount:team-a:spark": "system-serviceaccount-team-a-spark",
		strings.Repeat("a", 63):              strings.Repeat("a", 63),
	} {
		if got := Label(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

// Where something is lost that nobody could guess, the name begins as it may, and ends with a hash.
func TestLabelsWithAHash(t *testing.T) {
	for name, begins := range map[string]string{
		"jürgen":                  "j-rgen-",
		"王伟":                      "",
		"":                        "",
		"...":                     "dot--dot--dot", // recognisable: no hash
		"---":                     "",
		"\u212a":                  "k-", // KELVIN SIGN, whose lower case is k
		"a\x01b":                  "a-b-",
		"a\xff":                   "a-",
		strings.Repeat("a", 64):   strings.Repeat("a", 54) + "-",
		strings.Repeat("x.", 150): strings.Repeat("x-dot-", 9)[:53] + "-",
		strings.Repeat("a", 53) + "-bbbbbbbbbbbb": strings.Repeat("a", 53) + "-",
	} {
		got := Label(name)
		tail, ok := strings.CutPrefix(got, begins)
		if !ok || tail != "" && !regexp.MustCompile(`^[a-z2-7]{8}$`).MatchString(tail) {
			t.Errorf("%q is %s, want %s and a hash", name, got, begins)
		}
	}
}

// The hash never changes: queues bear it. (The first 40 bits of SHA-256 of "abc", ba7816bf8f, in base 32.)
func TestTheHashIsFixed(t *testing.T) {
	if got := HashedLabel(" abc "); got != "abc-xj4bnp4p" {
		t.Error(got)
	}
}

// names are drawn from few characters, so that many have the same label.
func names() *rapid.Generator[string] {
	few := rapid.StringOfN(rapid.RuneFrom([]rune("aAb.@_-: ü")), 0, 6, -1)
	return rapid.OneOf(few, rapid.String(), rapid.StringMatching(`[a-z.]{60,300}`))
}

func TestEveryLabelIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := names().Draw(t, "name")
		for _, label := range []string{Label(name), HashedLabel(name)} {
			if _, err := queue.ParsePath("root." + label); err != nil || strings.Contains(label, ".") {
				t.Fatalf("%q is %q: %v", name, label, err)
			}
			if Label(label) != label {
				t.Fatalf("%q is %q, and that is %q", name, label, Label(label))
			}
		}
	})
}

// spelt is Label by regular expressions, one replacement after the other. It says nothing of hashes.
func spelt(name string) string {
	for _, step := range []struct{ find, by string }{
		{`[.]`, "-dot-"}, {`@`, "-at-"}, {`[^a-z0-9-]`, "-"}, {`^-+|-+$`, ""},
	} {
		name = regexp.MustCompile(step.find).ReplaceAllString(strings.ToLower(name), step.by)
	}
	return name
}

func TestLabelEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := strings.TrimSpace(names().Draw(t, "name"))
		want, ascii := spelt(name), regexp.MustCompile(`^[ -~]*$`).MatchString(name)
		hashed := want == "" || len(want) > 63 || !ascii
		got := Label(name)
		switch {
		case !hashed && got != want, utf8.RuneCountInString(got) > 63:
			t.Fatalf("%q is %s, want %s", name, got, want)
		case hashed && got != HashedLabel(name):
			t.Fatalf("%q is %s, want %s", name, got, HashedLabel(name))
		case hashed && ascii && want != "" && !strings.HasPrefix(want, strings.TrimRight(got[:len(got)-9], "-")):
			t.Fatalf("%q is %s, which does not begin as %s", name, got, want)
		}
	})
}

// Of a name in lower case with dots and an @, the label tells what it was.
func TestUsualNamesCanBeReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[bcxyz0-9]{1,6}([.@-][bcxyz0-9]{1,6}){0,4}`).Draw(t, "name") // no word is "dot" or "at"
		if back := strings.NewReplacer("-dot-", ".", "-at-", "@").Replace(Label(name)); back != name {
			t.Fatalf("%s became %s, which reads %s", name, Label(name), back)
		}
	})
}

// Whatever names arrive in whatever order: as long as no queue goes, no two share a queue that was created for one of
// them, and each keeps its own.
func TestNamesThatAreAlikeGetQueuesOfTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		declared, has := Tree{}, map[string]queue.Path{}
		for i, name := range rapid.SliceOfN(names(), 1, 20).Draw(t, "names") {
			own := view{declared}.below("root.users", name)
			name = strings.TrimSpace(name)
			if before, again := has[name]; again && before != own.path {
				t.Fatalf("arrival %d: %q had %s and gets %s", i, name, before, own.path)
			}
			for other, path := range has {
				if other != name && path == own.path {
					t.Fatalf("arrival %d: %q and %q share %s", i, name, other, path)
				}
			}
			has[name] = own.path
			declared.Declare(own.path, Queue{Created: true, For: own.name})
		}
	})
}

func TestACreatedQueueIsForOneNameOnly(t *testing.T) {
	hashed := queue.Path("root.users." + HashedLabel("a-b"))
	for about, tc := range map[string]struct {
		queues string
		want   queue.Path
	}{
		"no queue yet":                       {"", "root.users.a-b"},
		"one that somebody declared":         {"root.users.a-b", "root.users.a-b"},
		"its own":                            {"root.users.a-b*a-b", "root.users.a-b"},
		"created because somebody asked":     {"root.users.a-b*", "root.users.a-b"},
		"another user's":                     {"root.users.a-b*a_b", hashed},
		"its own, after the other's is gone": {string(hashed) + "*a-b", hashed},
	} {
		if got := (view{tree(tc.queues)}).below("root.users", "a-b"); got != (named{tc.want, "a-b"}) {
			t.Errorf("%s: %+v, want %s", about, got, tc.want)
		}
	}
}

func ExampleLabel() {
	fmt.Println(Label("Jane.Doe@corp.example"))
	// Output: jane-dot-doe-at-corp-dot-example
}
