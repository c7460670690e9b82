package access

import (
	"slices"
	"strings"
)

// The annotation fairway.dev/groups is one text: groups joined by commas. In each group, % is written %25 and a comma %2C, so that no group can pass
// for two.
var (
	escape   = strings.NewReplacer("%", "%25", ",", "%2C")
	unescape = strings.NewReplacer("%25", "%", "%2C", ",")
)

// JoinGroups writes groups as one text.
func JoinGroups(groups []string) string {
	written := make([]string, len(groups))
	for i, g := range groups {
		written[i] = escape.Replace(g)
	}
	return strings.Join(written, ",")
}

// SplitGroups reads what JoinGroups has written, in that order. An empty text has no groups, and a group without a name is none.
func SplitGroups(text string) []string {
	var groups []string
	for g := range strings.SplitSeq(text, ",") {
		if g != "" {
			groups = append(groups, unescape.Replace(g))
		}
	}
	return groups
}

// NewSubject returns the subject of a user with groups, which are a set: their order says nothing.
func NewSubject(user string, groups []string) Subject {
	set := slices.Clone(groups)
	slices.Sort(set)
	return Subject{User: user, Groups: JoinGroups(slices.Compact(set))}
}
