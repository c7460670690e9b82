package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// group NAME [minMember=N] [minResources=(...)] [timeout=30s] declares a pod group, or
// changes those settings of one.
func (w *World) setGroup(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	l := w.inLive()
	key := groupKey(name)
	g, known := l.groups[key]
	if !known {
		g = ledger.PodGroup{Key: key, MinMember: 1}
	}
	for _, o := range s.options {
		if err := setGroupOption(&g, o); err != nil {
			return "", err
		}
	}
	l.groups[key] = g
	l.ledger.ObservePodGroup(g)
	return "", nil
}

func groupKey(name string) string { return "default/" + name }

func setGroupOption(g *ledger.PodGroup, o option) (err error) {
	switch o.Key {
	case "minMember":
		if g.MinMember, err = strconv.Atoi(o.value()); err != nil || g.MinMember < 0 {
			err = fmt.Errorf("minMember: %q is not a number from 0", o.value())
		}
	case "minResources":
		g.MinResources, err = parseList(o)
	case "timeout":
		var d time.Duration
		if d, err = time.ParseDuration(o.value()); err != nil || d <= 0 {
			err = fmt.Errorf("timeout: %q is no duration such as 30s or 5m", o.value())
		}
		g.Timeout = d.Nanoseconds()
	default:
		err = fmt.Errorf("a pod group has no %s", o.Key)
	}
	return err
}

// remove-group NAME takes a pod group away. Its pods stay.
func (w *World) removeGroup(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	l := w.inLive()
	if _, known := l.groups[groupKey(name)]; !known {
		return "", fmt.Errorf("there is no pod group %s", name)
	}
	delete(l.groups, groupKey(name))
	l.ledger.ForgetPodGroup(groupKey(name))
	return "", nil
}

// groups prints how many pods each pod group has, how many of them have a node, and
// whether it is whole.
func (w *World) showGroups(statement) (string, error) {
	rows := [][]string{{"GROUP", "MINIMUM", "PODS", "BOUND", "WHOLE"}}
	for _, g := range w.inLive().ledger.PodGroups() {
		rows = append(rows, []string{g.Key, strconv.Itoa(g.MinMember), strconv.Itoa(g.Pods), strconv.Itoa(g.Bound), yes(g.Whole)})
	}
	return table(rows), nil
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// rememberWhole keeps which pod groups are whole, as the writer of their status does.
func (l *live) rememberWhole() {
	for _, s := range l.ledger.PodGroups() {
		if g, known := l.groups[s.Key]; known {
			g.Whole = s.Whole
			l.groups[s.Key] = g
		}
	}
}
