// Package scenario runs text scenarios: a world goes in, verdicts come out.
//
// A scenario is a list of statements, one on each line. Some say how the world is (a
// cluster, queues, what they use and what waits), others ask what follows from the
// rules (shares, order, problems). The files in test/scenarios are written this way;
// they are the specification that people read, and the tests run them.
//
// Time is the order of the statements: what is stated earlier was created earlier. Each
// statement takes a second, and pass takes as long as it says; the first one is made one
// second after the beginning of 1970.
//
// Statements about nodes and pods run the real ledger: pods come, are released in
// order, and end. The others ask the rules about a world as it is described.
//
// The package holds no rule of its own: it asks the core and the ledger and prints. It
// must not know Kubernetes objects.
package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// World is the world that the statements so far describe.
type World struct {
	now     int64 // in seconds
	cluster resource.List
	queues  []queue.Declaration
	places  []place
	apps    []application
	tree    queue.Tree // follows from the fields above after each statement
	live    *live      // nil while no statement needed it
	roles   *roles     // nil: access is not checked

	placement placement.Statement
	created   []createdQueue
	delay     locality.Delay

	plan *reservation.Plan // nil while no statement needed it

	following   *following        // nil, too
	reservedFor map[string]string // the reservations that pods name
}

// place is what is known about a queue's own pods, declared or not.
type place struct {
	path    queue.Path
	usage   resource.List
	waiting resource.List
	since   int64 // when the oldest waiting pod came
	active  bool  // stated, for worlds without amounts
}

// application is one of those in a queue.
type application struct {
	name      string
	path      queue.Path
	usage     resource.List
	waiting   resource.List
	priority  int32
	submitted int64
}

// New returns a world with an empty cluster and nothing but the root.
func New() *World {
	w := &World{}
	w.rebuild()
	return w
}

// new-world forgets everything: a file may describe several worlds, one after the other.
func (w *World) newWorld(statement) (string, error) {
	*w = *New()
	return "", nil
}

// statements maps each statement to what it does. Those that change the world
// return "".
var statements = map[string]func(*World, statement) (string, error){
	"cluster":     (*World).setCluster,
	"queue":       (*World).setQueue,
	"delete":      (*World).deleteQueue,
	"remove":      (*World).removeQueue,
	"usage":       (*World).setUsage,
	"waiting":     (*World).setWaiting,
	"active":      (*World).setActive,
	"application": (*World).setApplication,

	"node":       (*World).setNode,
	"nodes":      (*World).setNodes,
	"pod":        (*World).setPod,
	"pods":       (*World).setPods,
	"bind":       (*World).bindPods,
	"delay":      (*World).setDelay,
	"delete-pod": (*World).deletePods,
	"end":        (*World).endPods,
	"pass":       (*World).pass,
	"restart":    (*World).restart,

	"group":        (*World).setGroup,
	"remove-group": (*World).removeGroup,
	"groups":       (*World).showGroups,

	"new-world": (*World).newWorld,

	"starvation":      (*World).showStarvation,
	"preempt":         (*World).preempt,
	"what-preemption": (*World).whatPreemption,
	"actions":         (*World).actions,
	"budget":          (*World).setBudget,
	"play":            (*World).play,

	"check-access": (*World).checkAccess,
	"grant":        (*World).grant,
	"revoke":       (*World).revoke,

	"release":      (*World).release,
	"why":          (*World).showWhy,
	"conditions":   (*World).showConditions,
	"answer":       (*World).showAnswer,
	"next":         (*World).showNext,
	"books":        (*World).showBooks,
	"states":       (*World).showStates,
	"applications": (*World).showApplications,
	"priorities":   (*World).showPriorities,
	"outranks":     (*World).showOutranks,

	"tree":       (*World).showTree,
	"limits":     (*World).showLimits,
	"capacities": (*World).showCapacities,
	"problems":   (*World).showProblems,
	"shares":     (*World).showShares,
	"order":      (*World).showOrder,
	"try":        (*World).showTry,
	"request":    (*World).showRequest,

	"placement": (*World).setPlacement,
	"rule":      (*World).addRule,
	"mapping":   (*World).addMapping,
	"created":   (*World).setCreated,
	"place":     (*World).place,

	"plan":         (*World).setPlan,
	"reserve":      (*World).reserve,
	"cancel":       (*World).cancel,
	"timeline":     (*World).showTimeline,
	"reservations": (*World).showReservations,

	"reservation": (*World).setReservation,
	"follow":      (*World).follow,
	"new-leader":  (*World).newLeader,

	"apply-placement": (*World).applyPlacement,
	"create-queues":   (*World).createQueues,
	"where":           (*World).showWhere,
}

// Run runs statements, one on each line, and returns what they print. A statement
// that cannot be understood prints what is wrong with it and changes nothing. Empty
// lines and lines that begin with # are skipped.
func (w *World) Run(script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, err := w.run(line)
		if err != nil {
			text = fmt.Sprintf("cannot run %q: %v\n", line, err)
		}
		out.WriteString(text)
	}
	return out.String()
}

func (w *World) run(line string) (string, error) {
	s, err := parseStatement(line)
	if err != nil {
		return "", err
	}
	do, ok := statements[s.name]
	if !ok {
		return "", fmt.Errorf("there is no statement %q", s.name)
	}
	w.now++
	w.tellTime()
	text, err := do(w, s)
	w.syncLive()
	w.answerAccess()
	if w.live != nil { // as the leader does every second
		w.live.ledger.LookAtStarvation(w.now * second)
	}
	w.rebuild()
	return text, err
}

// rebuild derives the tree. The policies and capacities in force are remembered for the next tree, as the status of a queue
// remembers them.
func (w *World) rebuild() {
	w.tree = queue.Build(w.queues, w.occupancies(), w.cluster)
	for i := range w.queues {
		if n, ok := w.tree.Find(w.queues[i].Path); ok {
			w.queues[i].PolicyInForce = w.tree.Nodes[n].Spec.Policy
			w.queues[i].InForce = w.tree.Nodes[n].Spec.Division()
		}
	}
}

func (w *World) occupancies() []queue.Occupancy {
	var out []queue.Occupancy
	for _, p := range w.places {
		o := queue.Occupancy{Path: p.path, Charged: !p.usage.IsZero(), OldestWaiting: math.MaxInt64}
		if !p.waiting.IsZero() {
			o.OldestWaiting = p.since
		}
		out = append(out, o)
	}
	for _, a := range w.apps {
		o := queue.Occupancy{Path: a.path, Charged: !a.usage.IsZero(), OldestWaiting: math.MaxInt64}
		if !a.waiting.IsZero() {
			o.OldestWaiting = a.submitted
		}
		out = append(out, o)
	}
	return out
}

// at returns the place of a queue and makes it if needed. The pointer is good until
// the next call.
func (w *World) at(p queue.Path) *place {
	for i := range w.places {
		if w.places[i].path == p {
			return &w.places[i]
		}
	}
	w.places = append(w.places, place{path: p})
	return &w.places[len(w.places)-1]
}

func (w *World) declaration(p queue.Path) (int, bool) {
	i := slices.IndexFunc(w.queues, func(d queue.Declaration) bool { return d.Path == p })
	return i, i >= 0
}
