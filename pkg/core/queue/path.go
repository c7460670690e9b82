// Package queue holds what a queue is: its path, its settings, and the tree that the declared queues form.
//
// Input is declarations and where pods are; output is a tree of plain values in one fixed order, with the
// problems that were found. No mistake stops scheduling: what cannot be used is left out or replaced by the
// last valid state, and reported.
//
// The package must not know pods, Kubernetes objects or the ledger, and it keeps no state between calls.
package queue

import (
	"errors"
	"fmt"
	"strings"
)

// Path is the full name of a queue: the names of its ancestors and its own, from the root down, joined by
// dots. It is also the name of the Queue object, so there is no parent field that could dangle or form a
// cycle.
type Path string

const (
	// Root is the queue that holds all others.
	Root Path = "root"
	// Default is the queue of a pod that names none.
	Default Path = "root.default"
)

const (
	// maxLevels keeps the path from a leaf to the root short; the root is level 1.
	maxLevels = 12
	// maxLength is the longest name of a Kubernetes object.
	maxLength = 253
)

const allowed = `a queue path is "root" followed by the names of its levels, joined by dots, ` +
	`as in "root.analytics.adhoc"; a name has lower case letters, digits and '-', ` +
	`and begins and ends with a letter or a digit`

// ParsePath returns s as a path. The error says what is allowed.
func ParsePath(s string) (Path, error) {
	if len(s) > maxLength {
		return "", fmt.Errorf("a queue path has at most %d characters, this one has %d", maxLength, len(s))
	}
	levels := 0
	for rest, more := s, true; more; levels++ {
		var name string
		name, rest, more = strings.Cut(rest, ".")
		if !validName(name) {
			return "", errors.New(allowed)
		}
	}
	if !Root.Contains(Path(s)) {
		return "", errors.New(allowed)
	}
	if levels > maxLevels {
		return "", fmt.Errorf("a queue path has at most %d levels including root, this one has %d", maxLevels, levels)
	}
	return Path(s), nil
}

// ParseRequest returns the path that a pod asks for. "root." may be left out, as in YARN; an empty request
// means Default. Nothing is trimmed or converted to lower case: a request is exact, or it is refused with a
// reason.
func ParseRequest(s string) (Path, error) {
	switch {
	case s == "":
		return Default, nil
	case Root.Contains(Path(s)):
		return ParsePath(s)
	default:
		return ParsePath(string(Root) + "." + s)
	}
}

// validName reports whether s is one label of a DNS-1123 subdomain.
func validName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != ""
}

// Parent returns the path one level up, and "" for the root.
func (p Path) Parent() Path {
	if i := strings.LastIndexByte(string(p), '.'); i >= 0 {
		return p[:i]
	}
	return ""
}

// Depth returns the level of the queue; the root is level 1.
func (p Path) Depth() int { return strings.Count(string(p), ".") + 1 }

// Leaf returns the last name of the path.
func (p Path) Leaf() string {
	return string(p[strings.LastIndexByte(string(p), '.')+1:])
}

// Contains reports whether o is p or lies below it.
func (p Path) Contains(o Path) bool {
	return strings.HasPrefix(string(o), string(p)) && (len(o) == len(p) || o[len(p)] == '.')
}

// Ancestors returns the paths above p, the root first.
func (p Path) Ancestors() []Path {
	var out []Path
	for i := range len(p) {
		if p[i] == '.' {
			out = append(out, p[:i])
		}
	}
	return out
}

// ComparePaths orders paths level by level, so that a queue comes before its children and its subtree is
// contiguous. Plain string order would put "root.a-b" between "root.a" and "root.a.c", because '-' is less
// than '.'. Every list of queues in Fairway is in this order.
func ComparePaths(a, b Path) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return rank(a[i]) - rank(b[i])
		}
	}
	return len(a) - len(b)
}

// rank returns the byte's place in the order: '.' before everything else.
func rank(c byte) int {
	if c == '.' {
		return 0
	}
	return int(c) + 1
}
