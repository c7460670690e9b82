package capacity

import (
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// declared is a queue as the configuration has it.
type declared struct {
	yarn     string // YARN's path of it
	path     queue.Path
	parent   *declared
	children []*declared
	object   *plan.Object
	stated   map[string]*setting // by the name of the property behind the path
	listed   *config.Property    // the list of queues that names it; nil for root

	mode          mode     // how its children share it
	ofParent      *big.Rat // as they share it
	part, largest *big.Rat
	stopped       bool
}

// setting is a property with its note.
type setting struct {
	*config.Property
	note *plan.Note
}

func (d *declared) leaf() bool { return len(d.children) == 0 && !d.creates() }

// creates reports whether the configuration lets queues be created below.
func (d *declared) creates() bool {
	for _, name := range []string{"auto-create-child-queue.enabled", "auto-queue-creation-v2.enabled", "auto-queue-creation.enabled"} {
		if s := d.stated[name]; s != nil && boolean(s.Value) {
			return true
		}
	}
	return false
}

// boolean reads a boolean whose default is false.
func boolean(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "true") }

// load makes the tree of the lists of queues.
func (t *translation) load() {
	t.root = &declared{yarn: "root", path: queue.Root, stated: map[string]*setting{}, part: big.NewRat(1, 1), largest: big.NewRat(1, 1)}
	t.all = []*declared{t.root}
	t.below(t.root)
	if len(t.root.children) == 0 {
		line := 0
		if p := t.config.Get(prefix + "root.queues"); p != nil {
			line = p.Line
		}
		t.failAt(line, "root has no queues; %sroot.queues lists them", prefix)
	}
}

func (t *translation) below(d *declared) {
	list := t.config.Get(prefix + d.yarn + ".queues")
	if list == nil {
		return
	}
	for _, name := range strings.Split(list.Value, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if strings.Contains(name, ".") {
			t.fail(list, "the name of a queue (%s) must not have a dot", name)
			continue
		}
		child := &declared{yarn: d.yarn + "." + name, parent: d, stated: map[string]*setting{}, listed: list}
		if slices.ContainsFunc(d.children, func(o *declared) bool { return o.yarn == child.yarn }) {
			t.fail(list, "queue %s is listed twice", child.yarn)
			continue
		}
		d.children = append(d.children, child)
		t.all = append(t.all, child)
		t.name(child, name)
		t.below(child)
	}
}

// name gives a queue its path.
func (t *translation) name(d *declared, name string) {
	path, clash := t.names.Child(d.parent.path, d.parent.yarn, name)
	d.path = path
	if path.Leaf() != name {
		n := t.plan.Note(plan.Origin{File: d.listed.File, Line: d.listed.Line, Queue: d.yarn, Property: "name"})
		if clash != "" {
			n.Approximate("its name is %s here, since that of %s is written alike", path, clash)
		} else {
			n.Approximate("its name is %s here", path)
		}
	}
	if _, err := queue.ParsePath(string(path)); err != nil {
		t.fail(d.listed, "queue %s: %w", d.yarn, err)
	}
}

// find returns the queue that a configuration names: by its path, by its path without root, or by its last name if that is its alone.
func (t *translation) find(name string) (*declared, error) {
	var short []*declared
	for _, d := range t.all {
		if d.yarn == name || d.yarn == "root."+name {
			return d, nil
		}
		if strings.HasSuffix(d.yarn, "."+name) {
			short = append(short, d)
		}
	}
	switch len(short) {
	case 0:
		return nil, errNoQueue
	case 1:
		return short[0], nil
	}
	return nil, errAmbiguous
}

var (
	errNoQueue   = errors.New("there is no such queue")
	errAmbiguous = errors.New("several queues have this name")
)

// assign gives each property to its queue. What is no property of a queue is left.
func (t *translation) assign() {
	for _, p := range t.config.Properties {
		key, ours := strings.CutPrefix(p.Name, prefix)
		if !ours || key != "root" && !strings.HasPrefix(key, "root.") {
			continue
		}
		d, rest := t.owner(key)
		n := t.plan.Note(plan.Origin{File: p.File, Line: p.Line, Queue: d.yarn, Property: rest, Value: p.Value})
		unknown(n, p)
		if ruleOf(rest) == nil {
			if unlisted, property, ok := splitUnlisted(rest); ok {
				n.Queue, n.Property = d.yarn+"."+unlisted, property
				n.Skip("no list of queues names this queue, so YARN ignores the property, too")
			} else {
				n.Lose("it is no property of a queue that is known here; YARN ignores properties that it does not know")
			}
			continue
		}
		d.stated[rest] = &setting{Property: p, note: n}
	}
}

// owner returns the queue with the longest path that the key begins with, and the rest of the key.
func (t *translation) owner(key string) (owner *declared, rest string) {
	for _, d := range t.all {
		if after, ok := strings.CutPrefix(key, d.yarn+"."); ok && (owner == nil || len(d.yarn) > len(owner.yarn)) {
			owner, rest = d, after
		}
	}
	if owner == nil {
		return t.root, ""
	}
	return owner, rest
}

// splitUnlisted splits a.b.capacity into the path of a queue that nothing lists, and a property.
func splitUnlisted(key string) (path, property string, ok bool) {
	for i, c := range key {
		if c == '.' && ruleOf(key[i+1:]) != nil {
			return key[:i], key[i+1:], true
		}
	}
	return "", "", false
}
