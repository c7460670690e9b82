package application

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestNameIsUnambiguous(t *testing.T) {
	// Namespaces and kinds have no slash; the name may have any character.
	word := rapid.StringMatching(`[a-z0-9.-]{1,8}`)
	free := rapid.StringMatching(`[a-z/.-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a := [3]string{word.Draw(t, "namespace"), word.Draw(t, "kind"), free.Draw(t, "name")}
		b := [3]string{word.Draw(t, "namespace"), word.Draw(t, "kind"), free.Draw(t, "name")}
		if (a == b) != (Name(a[0], a[1], a[2]) == Name(b[0], b[1], b[2])) {
			t.Fatalf("%q and %q are told apart wrongly", a, b)
		}
		namespace, kind, name, ok := Split(Name(a[0], a[1], a[2]))
		if got := [3]string{namespace, kind, name}; !ok || got != a {
			t.Fatalf("Split(Name(%q)) = %q, %v", a, got, ok)
		}
	})
}

func TestSplitRefusesOtherText(t *testing.T) {
	for _, s := range []string{"", "a", "a/b", "a//c", "a/b/", "/"} {
		if _, _, _, ok := Split(s); ok {
			t.Errorf("Split(%q) succeeded", s)
		}
	}
}

func TestRole(t *testing.T) {
	for text, want := range map[string]struct {
		role Role
		ok   bool
	}{
		"driver":   {Driver, true},
		"executor": {Executor, true},
		"none":     {None, false},
		"":         {None, false},
		"Driver":   {None, false},
		"worker":   {None, false},
	} {
		if role, ok := ParseRole(text); role != want.role || ok != want.ok {
			t.Errorf("ParseRole(%q) = %v, %v", text, role, ok)
		}
	}
	if got := fmt.Sprint(None, Driver, Executor, Role(9)); got != "none driver executor Role(9)" {
		t.Errorf("roles print as %s", got)
	}
}
