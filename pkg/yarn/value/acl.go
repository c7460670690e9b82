package value

import "strings"

// ACL is a list of users and groups.
type ACL struct {
	Everyone      bool
	Users, Groups []string
}

// ParseACL reads "user,user group,group" as Hadoop does: what stands before the first blank are users, the rest are groups. A star in
// either place is everybody. The text is not trimmed, so that after a blank or a line break at its beginning all names are groups.
func ParseACL(text string) ACL {
	users, groups, _ := strings.Cut(text, " ")
	a := ACL{Users: names(users), Groups: names(groups)}
	a.Everyone = strings.TrimSpace(users) == "*" || strings.TrimSpace(groups) == "*"
	return a
}

func names(list string) []string {
	var all []string
	for _, name := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == '\n' }) {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// Nobody reports whether the list is empty.
func (a ACL) Nobody() bool { return !a.Everyone && len(a.Users) == 0 && len(a.Groups) == 0 }
