package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// releasing is one release: pods go to their nodes; pods of a group wait there until the whole group has nodes.
type releasing struct {
	*live
	now   int64
	names []string // what was let run, in the order of release
	error string   // the attempt of this pod ends with an error

	withdrawn map[ledger.UID]bool // released, and taken back before they were tried
	waits     map[ledger.UID]bool // has its place, and waits for its group
}

// release [short|together] [n=1] [error=NAME] starts all pods that may start now, or the first n, one after the other.
// It prints the pods in that order, or with "short" only how many. Pods of a group start together. With "together" all
// pods that may be released are, before one of them is tried, and then all that those allow: a line for each time. The
// attempt of the pod that error names ends with an error.
func (w *World) release(s statement) (string, error) {
	l, now := w.inLive(), w.now*second
	to, most := releasing{live: l, now: now, waits: map[ledger.UID]bool{}, withdrawn: map[ledger.UID]bool{}}, math.MaxInt
	for _, o := range s.options {
		var err error
		if o.Key == "error" {
			to.error = o.value()
		} else if most, err = strconv.Atoi(o.value()); o.Key != "n" || err != nil || most < 1 {
			return "", fmt.Errorf("release takes nothing but error= and a pod, and n= and a number from 1")
		}
	}
	for _, p := range l.pods {
		l.ledger.Admitted(p.UID) // those that fitted nowhere are looked at again
	}
	l.ledger.TakeWoken(now)
	if slices.Equal(s.words, []string{"together"}) {
		return to.together()
	}
	for len(to.names) < most || len(to.waits) > 0 {
		r, ok := l.ledger.Choose(now)
		if !ok {
			break
		}
		if err := to.place(r); err != nil {
			return "", err
		}
	}
	if len(to.waits) > 0 {
		return "", fmt.Errorf("%d pods wait for others of their group, and none is released", len(to.waits))
	}
	if len(to.names) == 0 {
		return "nothing\n", nil
	}
	if len(s.words) > 0 {
		return fmt.Sprintf("%d pods\n", len(to.names)), nil
	}
	return strings.Join(to.names, ", ") + "\n", nil
}

// together releases all pods that may be, tries them, and so on until there are none.
func (to *releasing) together() (string, error) {
	var out strings.Builder
	for {
		var released []ledger.Release
		for r, ok := to.ledger.Choose(to.now); ok; r, ok = to.ledger.Choose(to.now) {
			released = append(released, r)
		}
		if len(released) == 0 {
			return cmp.Or(out.String(), "nothing\n"), nil
		}
		var names []string
		for _, r := range released {
			if to.withdrawn[r.UID] {
				delete(to.withdrawn, r.UID)
				continue
			}
			names = append(names, string(r.UID))
			if err := to.place(r); err != nil {
				return "", err
			}
		}
		out.WriteString(strings.Join(names, ", ") + "\n")
	}
}

// place is what the scheduler does with a pod that was released.
func (to *releasing) place(r ledger.Release) error {
	p := &to.pods[to.find(string(r.UID))]
	if p.Name == to.error {
		to.fail(r.UID, ledger.Errored)
		return nil
	}
	node := to.firstFit(p)
	if node == "" {
		to.ledger.Misfit(r.UID)
		to.fail(r.UID, ledger.NoFit)
		for _, uid := range to.ledger.ToReject() {
			to.fail(uid, ledger.Refused)
		}
		return nil
	}
	if why, ok := to.ledger.Reserve(r.UID, node, to.now); !ok {
		return fmt.Errorf("%s was released, and then refused: %s", r.UID, why.Text())
	}
	p.Node, p.Placed = node, string(r.Queue)
	to.names = append(to.names, p.Name)
	permission, why, ok := to.ledger.Permit(r.UID, to.now)
	if !ok {
		return fmt.Errorf("%s has its place, and was then refused: %s", r.UID, why.Text())
	}
	if permission.Wait > 0 {
		to.waits[r.UID] = true
		return nil
	}
	for _, uid := range append(permission.Allow, r.UID) {
		delete(to.waits, uid)
		bound := &to.pods[to.find(string(uid))]
		bound.Bound = to.now
		to.ledger.ObservePod(*bound, to.now)
	}
	return nil
}

// fail takes a pod off its node, if it has one, and back to where it waits.
func (to *releasing) fail(uid ledger.UID, f ledger.Failure) {
	p := &to.pods[to.find(string(uid))]
	p.Node, p.Placed = "", ""
	delete(to.waits, uid)
	to.names = slices.DeleteFunc(to.names, func(name string) bool { return name == p.Name })
	for _, other := range to.ledger.Fail(uid, f, to.now) {
		to.withdrawn[other] = other != uid
	}
}

// firstFit returns the node on which the pod has its room together with its group, or else the first node with room for
// it that is not held for others.
func (l *live) firstFit(p *ledger.Pod) string {
	names := append(l.ledger.Candidates(p.UID, 1, math.MaxInt), slices.Sorted(maps.Keys(l.nodes))...)
	open, kept := l.ledger.NodesOpenTo(p.UID)
	keptFrom := l.ledger.NodesNominatedToOthers(p.UID)
	for _, name := range names {
		if (!kept || slices.Contains(open, name)) && !keptFrom[name] && l.fits(p, name) {
			return name
		}
	}
	return ""
}

func (l *live) fits(p *ledger.Pod, node string) bool {
	used := p.Request
	for _, o := range l.pods {
		if o.Node != node {
			continue
		}
		if l.ports[p.Name] != "" && l.ports[p.Name] == l.ports[o.Name] {
			return false
		}
		used = used.Add(o.Request)
	}
	return used.Fits(l.nodes[node])
}
