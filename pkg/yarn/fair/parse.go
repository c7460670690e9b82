package fair

import (
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// allocation is a queue as the file has it.
type allocation struct {
	yarn     string // YARN's path of it
	path     queue.Path
	elements []*config.Element // <queue>, or several of the same name, which YARN takes for one
	children []*allocation
	parent   *allocation
	object   *plan.Object
	policy   string // in force, as a Queue states it; "" while it is not known
	stated   map[string]*setting
}

// setting is the property of a queue that counts: the last one of its name.
type setting struct {
	note *plan.Note
	text string
	line int
}

func (a *allocation) isParent() bool {
	for _, e := range a.elements {
		if e.Attributes["type"] == "parent" {
			return true
		}
	}
	return len(a.children) > 0 || a.parent == nil
}

// tops are the elements below <allocations>.
type tops struct {
	texts     map[string]*setting
	users     []*config.Element
	placement *config.Element
}

// isQueue reports whether an element is a queue; pool is its name in older files.
func isQueue(e *config.Element) bool { return e.Name == "queue" || e.Name == "pool" }

// load reads <allocations>: first the tree, so that all queues are known when rules name them.
func (t *translation) load(top *config.Element) {
	if top.Name != "allocations" {
		t.fail(top.Line, "the top element is %s, not allocations", top.Name)
		return
	}
	t.root = t.newAllocation(nil, "root")
	var queues []*config.Element
	for _, e := range top.Children {
		switch {
		case isQueue(e):
			queues = append(queues, e)
		case e.Name == "user":
			t.tops.users = append(t.tops.users, e)
		case e.Name == "queuePlacementPolicy":
			if before := t.tops.placement; before != nil {
				t.note(before.Line, "", before.Name, "").Skip("line %d states it again, and that one counts", e.Line)
			}
			t.tops.placement = e
		case topLevel[e.Name] == nil:
			t.note(e.Line, "", e.Name, e.Text).Lose("it is no element of the Fair Scheduler that is known here; YARN ignores elements that it does not know")
		default:
			t.state(t.tops.texts, "", e)
		}
	}
	for _, e := range queues {
		if strings.EqualFold(e.Attributes["name"], "root") {
			if len(queues) > 1 {
				t.fail(e.Line, "beside the queue root there can be no other; put them in it")
			}
			t.fill(t.root, e)
			continue
		}
		t.add(t.root, e)
	}
	t.checkReservations(t.root)
}

func (t *translation) newAllocation(parent *allocation, name string) *allocation {
	a := &allocation{yarn: name, path: queue.Root, parent: parent, stated: map[string]*setting{}}
	if parent != nil {
		a.yarn = parent.yarn + "." + name
		parent.children = append(parent.children, a)
	}
	return a
}

// add reads the queue of an element.
func (t *translation) add(parent *allocation, e *config.Element) {
	name := strings.TrimFunc(e.Attributes["name"], isBlank)
	switch {
	case name == "":
		t.fail(e.Line, "the name of a queue must not be empty or blank")
		return
	case strings.Contains(name, "."):
		t.fail(e.Line, "the name of a queue (%s) must not have a dot", name)
		return
	}
	var a *allocation
	for _, sibling := range parent.children {
		if sibling.yarn == parent.yarn+"."+name {
			a = sibling
		}
	}
	if a == nil {
		a = t.newAllocation(parent, name)
		t.name(a, parent, name, e.Line)
	}
	t.fill(a, e)
}

// isBlank: YARN trims no-break spaces, too.
func isBlank(c rune) bool { return c <= ' ' || c == '\u00a0' }

// name gives the queue its path.
func (t *translation) name(a, parent *allocation, name string, line int) {
	path, clash := t.names.Child(parent.path, parent.yarn, name)
	a.path = path
	if path.Leaf() == name {
		if _, err := queue.ParsePath(string(path)); err != nil {
			t.fail(line, "queue %s: %w", a.yarn, err)
		}
		return
	}
	n := t.note(line, a.yarn, "name", "")
	if clash != "" {
		n.Approximate("its name is %s here, since that of %s is written alike", path, clash)
	} else {
		n.Approximate("its name is %s here", path)
	}
	if _, err := queue.ParsePath(string(path)); err != nil {
		t.fail(line, "queue %s: %w", a.yarn, err)
	}
}

// fill reads what stands in a queue.
func (t *translation) fill(a *allocation, e *config.Element) {
	a.elements = append(a.elements, e)
	for _, field := range e.Children {
		switch {
		case isQueue(field):
			t.add(a, field)
		case properties[field.Name] == nil:
			t.note(field.Line, a.yarn, field.Name, field.Text).Lose("it is no element of a queue that is known here; YARN ignores elements that it does not know")
		default:
			t.state(a.stated, a.yarn, field)
		}
	}
}

// otherNames are the older names of elements.
var otherNames = map[string]string{"schedulingMode": "schedulingPolicy", "defaultQueueSchedulingMode": "defaultQueueSchedulingPolicy"}

// state notes an element whose text counts, unless a later one of its name follows.
func (t *translation) state(to map[string]*setting, yarn string, e *config.Element) {
	name := e.Name
	if other := otherNames[name]; other != "" {
		name = other
	}
	n := t.note(e.Line, yarn, e.Name, e.Text)
	if before := to[name]; before != nil {
		before.note.Skip("line %d states it again, and that one counts", e.Line)
	}
	if !e.HasText && name != "reservation" {
		t.fail(e.Line, "%s: an empty element; YARN does not load a file that has one", strings.TrimSpace(yarn+" "+e.Name))
		return
	}
	to[name] = &setting{note: n, text: e.Text, line: e.Line}
}

func (t *translation) checkReservations(a *allocation) {
	if s := a.stated["reservation"]; s != nil && a.parent != nil && a.isParent() {
		t.fail(s.line, "queue %s: a queue with queues in it, or of type parent, cannot have a reservation", a.yarn)
	}
	for _, child := range a.children {
		t.checkReservations(child)
	}
}

func (t *translation) fail(line int, format string, args ...any) {
	t.plan.Fail(config.Error{File: t.file, Line: line, Text: fmt.Errorf(format, args...).Error()})
}

func (t *translation) note(line int, yarn, property, text string) *plan.Note {
	return t.plan.Note(plan.Origin{File: t.file, Line: line, Queue: yarn, Property: property, Value: text})
}
