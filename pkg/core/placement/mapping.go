package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// QueueMapping is one entry of a list of mappings, as in the Capacity Scheduler: u:NAME:QUEUE or g:NAME:QUEUE.
type QueueMapping struct {
	Group bool // NAME is a group, not a user
	Name  string
	// Levels are those of QUEUE below root. One may be %user, %primary_group or %secondary_group.
	Levels []string
}

// What a mapping may have in the place of names.
const (
	anyUser        = "%user"
	primaryGroup   = "%primary_group"
	secondaryGroup = "%secondary_group"
)

// ParseMapping reads u:NAME:QUEUE or g:NAME:QUEUE. Names may have colons, since users and groups in Kubernetes
// do: the first colon of all and the last one count.
func ParseMapping(text string) (QueueMapping, error) {
	first, last := strings.IndexByte(text, ':'), strings.LastIndexByte(text, ':')
	if first == last {
		return QueueMapping{}, fmt.Errorf("mapping %q: %w", text, errMapping)
	}
	kind, name, path := strings.TrimSpace(text[:first]), strings.TrimSpace(text[first+1:last]), strings.TrimSpace(text[last+1:])
	if kind != "u" && kind != "g" || name == "" || path == "" {
		return QueueMapping{}, fmt.Errorf("mapping %q: %w", text, errMapping)
	}
	levels := strings.Split(path, ".")
	if levels[0] == string(queue.Root) {
		levels = levels[1:]
	}
	example := slices.Clone(levels)
	for i, level := range levels {
		switch {
		case level == anyUser || level == primaryGroup || level == secondaryGroup:
			example[i] = "x"
		case strings.HasPrefix(level, "%"):
			return QueueMapping{}, fmt.Errorf("mapping %q: %s is none of %s, %s and %s", text, level, anyUser, primaryGroup, secondaryGroup)
		}
	}
	if len(levels) == 0 {
		return QueueMapping{}, fmt.Errorf("mapping %q: %w", text, errRootTakesNoPods)
	}
	if _, err := queue.ParsePath(string(queue.Root) + "." + strings.Join(example, ".")); err != nil {
		return QueueMapping{}, fmt.Errorf("mapping %q: %w", text, err)
	}
	return QueueMapping{Group: kind == "g", Name: name, Levels: levels}, nil
}

var (
	errMapping         = errors.New("a mapping is u:USER:QUEUE or g:GROUP:QUEUE, and no part is empty")
	errRootTakesNoPods = errors.New("queue root takes no pods itself; name a queue below it")
)

// String returns the mapping as it is written.
func (m QueueMapping) String() string {
	kind := "u:"
	if m.Group {
		kind = "g:"
	}
	return kind + m.Name + ":" + strings.Join(m.Levels, ".")
}

func (m QueueMapping) fits(s Submission) bool {
	if m.Group {
		return slices.Contains(s.Groups, m.Name)
	}
	return m.Name == anyUser || m.Name == s.User
}

// mapping gives the queue of the first mapping that fits. If that queue cannot be used, it is root.default: the
// mapping decides in any case.
func (r Rule) mapping(s Submission, v view) answer {
	if s.asks() && !r.Override {
		return pass(asksForOne)
	}
	for _, m := range r.Mappings {
		if m.fits(s) {
			return r.mapped(m, s, v)
		}
	}
	return pass(noMapping)
}

func (r Rule) mapped(m QueueMapping, s Submission, v view) answer {
	p, names := queue.Root, []named(nil)
	for _, level := range m.Levels {
		own := named{p + "." + queue.Path(level), ""}
		switch groups := s.groups(); {
		case level == anyUser:
			own = v.below(p, s.User)
		case level == primaryGroup && len(groups) == 0:
			return reject(withoutGroups(s.User))
		case level == primaryGroup:
			own = v.below(p, groups[0])
		case level == secondaryGroup:
			i := slices.IndexFunc(groups, func(g string) bool {
				_, exists := v.find(v.below(p, g).path)
				return exists && g != groups[0]
			})
			if i < 0 {
				return toDefault(m, noSecondaryGroup)
			}
			own = v.below(p, groups[i])
		}
		p, names = own.path, append(names, own)
	}
	q, declared := v.find(p)
	_, invalid := queue.ParsePath(string(p))
	switch {
	case invalid != nil:
		return toDefault(m, invalid.Error())
	case v.isParent(p):
		return toDefault(m, hasChildren(p))
	case declared && (r.Missing == Create || !q.Created):
		return answer{queue: p, names: names, outcome: string(p)}
	case declared:
		return toDefault(m, createdOnly(p))
	case r.Missing != Create:
		return toDefault(m, missing(p))
	case !v.isParent(p.Parent()):
		return toDefault(m, noParent(p))
	}
	return answer{queue: p, names: names, outcome: string(p)}
}

// toDefault is the answer for a mapping that fits but whose queue cannot be used.
func toDefault(m QueueMapping, why string) answer {
	return answer{queue: queue.Default, outcome: insteadOf(m, why)}
}
