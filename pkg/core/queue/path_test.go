package queue_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestParsePath(t *testing.T) {
	twelve := "root" + strings.Repeat(".a", 11)
	longest := "root." + strings.Repeat("a", 248)
	for name, c := range map[string]struct {
		in  string
		err string // part of it; "" when the path is good
	}{
		"the root":                           {"root", ""},
		"a child":                            {"root.busy", ""},
		"digits and dashes":                  {"root.9-lives.a--b", ""},
		"a child that is called root":        {"root.root", ""},
		"as deep as allowed":                 {twelve, ""},
		"as long as allowed":                 {longest, ""},
		"nothing":                            {"", "lower case letters"},
		"not below the root":                 {"busy", `"root" followed by`},
		"a name that only begins with root":  {"rootbase", `"root" followed by`},
		"an underscore, as YARN allows":      {"root.sometimes_busy", "lower case letters, digits and '-'"},
		"capital letters":                    {"root.Busy", "lower case letters"},
		"a dash at the end":                  {"root.a-", "ends with a letter or a digit"},
		"a dash at the beginning":            {"root.-a", "begins and ends"},
		"a level without a name":             {"root..a", "joined by dots"},
		"a dot at the end":                   {"root.", "joined by dots"},
		"a blank at the end":                 {"root.a ", "lower case letters"},
		"a letter from elsewhere":            {"root.café", "lower case letters"},
		"one level too many":                 {twelve + ".a", "at most 12 levels including root, this one has 13"},
		"one character too many":             {longest + "a", "at most 253 characters, this one has 254"},
		"too long and wrong says how long":   {strings.Repeat("_", 300), "this one has 300"},
		"a pod's own notation is not a path": {"a.b", `as in "root.analytics.adhoc"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := queue.ParsePath(c.in)
			switch {
			case c.err == "" && (err != nil || got != queue.Path(c.in)):
				t.Errorf("got %q, %v", got, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got error %v, want one with %q", err, c.err)
			case c.err != "" && got != "":
				t.Errorf("got path %q with the error", got)
			}
		})
	}
}

func TestParseRequest(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want queue.Path // "" when it is refused
	}{
		"nothing means the default queue":                 {"", "root.default"},
		"a full path":                                     {"root.a.b", "root.a.b"},
		"root may be left out":                            {"a.b", "root.a.b"},
		"the root itself":                                 {"root", "root"},
		"a name that begins with root is not the root":    {"rootbase", "root.rootbase"},
		"nor is one with a dash":                          {"root-a", "root.root-a"},
		"a queue called root below the root":              {"root.root", "root.root"},
		"blanks are not trimmed":                          {" a", ""},
		"capital letters are not lowered":                 {"Busy", ""},
		"a capital root is not the root":                  {"Root.a", ""},
		"a dot in front":                                  {".a", ""},
		"only a dot":                                      {".", ""},
		"the root and nothing":                            {"root.", ""},
		"what is too long once root is added":             {strings.Repeat("a", 249), ""},
		"what just fits once root is added":               {strings.Repeat("a", 248), queue.Path("root." + strings.Repeat("a", 248))},
		"what has too many levels once the root is added": {"a" + strings.Repeat(".a", 11), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := queue.ParseRequest(c.in)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestPathParts(t *testing.T) {
	for p, want := range map[queue.Path]struct {
		parent    queue.Path
		depth     int
		leaf      string
		ancestors []queue.Path
	}{
		"root":     {"", 1, "root", nil},
		"root.a":   {"root", 2, "a", []queue.Path{"root"}},
		"root.a.b": {"root.a", 3, "b", []queue.Path{"root", "root.a"}},
	} {
		if p.Parent() != want.parent || p.Depth() != want.depth || p.Leaf() != want.leaf ||
			!slices.Equal(p.Ancestors(), want.ancestors) {
			t.Errorf("%s: %q, %d, %q, %v", p, p.Parent(), p.Depth(), p.Leaf(), p.Ancestors())
		}
	}
}

func TestContains(t *testing.T) {
	for name, c := range map[string]struct {
		p, o queue.Path
		want bool
	}{
		"a queue contains itself":                  {"root.a", "root.a", true},
		"the root contains every queue":            {"root", "root.a.b", true},
		"a queue does not contain its parent":      {"root.a", "root", false},
		"an equal beginning is not an ancestor":    {"root.a", "root.ab", false},
		"nor is one that goes on with a dash":      {"root.a", "root.a-b.c", false},
		"siblings do not contain each other":       {"root.a", "root.b", false},
		"a grandparent contains its grandchildren": {"root.a", "root.a.b.c", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.p.Contains(c.o); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestPathsAreOrderedLevelByLevel(t *testing.T) {
	want := []queue.Path{"root", "root.a", "root.a.b", "root.a.b.c", "root.a.c", "root.a-b", "root.a-b.a", "root.a0", "root.ab", "root.b"}
	got := slices.Clone(want)
	slices.Sort(got)
	if slices.Equal(got, want) {
		t.Error("the example does not need an order of its own")
	}
	slices.SortFunc(got, queue.ComparePaths)
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// paths draws paths over few names, so that prefixes and equals come up.
func paths() *rapid.Generator[queue.Path] {
	return rapid.Custom(func(t *rapid.T) queue.Path {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a-b"}), 0, 3).Draw(t, "names")
		return queue.Path(strings.Join(append([]string{"root"}, names...), "."))
	})
}

func TestComparePathsComparesTheListsOfNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := paths().Draw(t, "a"), paths().Draw(t, "b")
		want := slices.Compare(strings.Split(string(a), "."), strings.Split(string(b), "."))
		got := queue.ComparePaths(a, b)
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("%s, %s: got %d, want %d", a, b, got, want)
		}
	})
}

func TestPathPartsFitTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, o := paths().Draw(t, "p"), paths().Draw(t, "o")
		if p != queue.Root && p.Parent()+"."+queue.Path(p.Leaf()) != p {
			t.Fatalf("%s is not %s and %s", p, p.Parent(), p.Leaf())
		}
		if len(p.Ancestors()) != p.Depth()-1 {
			t.Fatalf("%s has depth %d and ancestors %v", p, p.Depth(), p.Ancestors())
		}
		if want := p == o || slices.Contains(o.Ancestors(), p); p.Contains(o) != want {
			t.Fatalf("%s contains %s: %t, want %t", p, o, p.Contains(o), want)
		}
	})
}

// The one regular expression of what a path is; ParsePath does without it so that no table is built at start.
var pattern = regexp.MustCompile(`^root(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){0,11}$`)

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"", "root", "root.a-b", "root.a..b", "root.-", "root" + strings.Repeat(".a", 12), "root.A", "root.é", "rootbase"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := queue.ParsePath(s)
		if want := pattern.MatchString(s) && len(s) <= 253; (err == nil) != want {
			t.Fatalf("%q: %v, want it good: %t", s, err, want)
		}
		if err == nil && string(p) != s {
			t.Fatalf("%q became %q", s, p)
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{"", "root", "busy", "rootbase", "root.", ".", " busy", "a" + strings.Repeat(".a", 11)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := queue.ParseRequest(s)
		if err != nil {
			return
		}
		if q, err := queue.ParsePath(string(p)); err != nil || q != p {
			t.Fatalf("%q became %q, which is no path: %v", s, p, err)
		}
		if again, err := queue.ParseRequest(string(p)); err != nil || again != p {
			t.Fatalf("%q became %q, and that %q", s, p, again)
		}
	})
}
