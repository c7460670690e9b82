package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/console/history"
	"github.com/fairway-scheduler/fairway/pkg/console/view"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// question is a request for a page, and the moment that it is about. The moment is locked.
type question struct {
	*http.Request
	moment  *moment
	console *Console
	layout  report.Layout
	said    *said // of the object that the page is about
}

func (q *question) get(key string) string { return q.URL.Query().Get(key) }

// builder makes a page.
type builder func(question) (page, error)

// pages are the addresses, with what makes the page there.
var pages = map[string]builder{
	"/queues": queuesPage, "/queue": queuePage, "/applications": applicationsPage, "/application": applicationPage, "/users": usersPage, "/pod": podPage,
	"/nodes": nodesPage, "/preemption": preemptionPage, "/whatif": whatIfPage,
}

// judged is a document with what is wrong with the files that it is about, as the command line prints it.
func (q *question) judged(d report.Document) json.Marshaler {
	return report.Judged{Document: d, Problems: q.moment.problems}
}

// chooseData is what the reader of the tree can choose.
type chooseData struct {
	Filter     string
	Kept       []choice // other choices, which a form keeps
	ByResource []choice
	ByScale    []choice
	ByDepth    []choice
}

// treeData is the tree, with the addresses of its other parts.
type treeData struct {
	view.Queues
	Beside
}

// choice is a link that changes one thing of the page.
type choice struct {
	Name, Link string
	Chosen     bool
}

// treeRow is a row with the address that folds or unfolds it.
type treeRow struct {
	view.Queue
	Toggle string
}

// depths are the folds that a reader can choose.
var depths = []int{1, 2, 3}

func queuesPage(q question) (page, error) {
	p := page{title: "Queues", section: "/queues"}
	tree, starved := q.moment.queues()
	when := q.pastData()
	if at := number(q.Request, "at"); at > 0 && when.Shown != "" {
		var is int64
		tree, starved, is, _ = q.console.moments.past.at(int64(at)*1e9 + 999_999_999)
		q.layout.Now = is // ages are those of then
		p.still, when.Shown, when.Value, when.Past = true, clockText(is), is/1e9, true
	}
	query := q.URL.Query()
	c := view.Choice{
		Filter: query.Get("filter"), Resource: resource.Name(query.Get("resource")), Own: query.Get("of") == "own", Depth: number(q.Request, "depth"),
		Toggled: map[string]bool{}, From: number(q.Request, "from"),
	}
	for _, name := range query["toggle"] {
		c.Toggled[name] = true
	}
	queues := view.NewQueues(tree, starved, c, q.layout)
	data := treeData{Queues: queues, Beside: parts(q.Request, "from", queues.Table)}
	b := block{id: queues.ID, template: "tree", data: data, table: func() report.Table { return report.Rows(tree.Queues, exact(q.layout)) }}
	for _, row := range queues.Rows {
		b.rows = append(b.rows, rowOf{row.Path, "queue-row", treeRow{row, toggled(q.Request, c.Toggled, row.Path)}})
	}
	p.json = q.judged(tree)
	p.blocks = append(p.blocks, block{id: "past", template: "past", data: when}, block{id: "summary", template: "summary", data: summaryOf(tree, queues, q.layout)},
		block{id: "choose", template: "choose", data: chooseOf(q, c, queues.Resources)}, b)
	p.addRemarks(tree.Remarks())
	return p, nil
}

func chooseOf(q question, c view.Choice, resources []resource.Name) chooseData {
	data := chooseData{Filter: c.Filter}
	for _, key := range []string{"resource", "at", "of"} {
		if value := q.get(key); value != "" {
			data.Kept = append(data.Kept, choice{Name: key, Link: value})
		}
	}
	data.ByResource = append(data.ByResource, choice{"dominant", with(q.Request, "resource", ""), c.Resource == ""})
	for _, n := range resources {
		data.ByResource = append(data.ByResource, choice{reason.Name(string(n)), with(q.Request, "resource", string(n)), c.Resource == n})
	}
	data.ByScale = []choice{{"the cluster", without(q.Request, "of"), !c.Own}, {"the queue's own", with(q.Request, "of", "own"), c.Own}}
	data.ByDepth = append(data.ByDepth, choice{"all", folded(q.Request, 0), c.Depth == 0})
	for _, n := range depths {
		data.ByDepth = append(data.ByDepth, choice{strconv.Itoa(n), folded(q.Request, n), c.Depth == n})
	}
	return data
}

// pastData is the slider: seconds since the epoch from the first moment that is remembered to the last.
type pastData struct {
	From, To, Value int64
	Shown           string // "" if there is nothing to choose
	Past            bool
	Latest          string // the address of the present
}

func (q *question) pastData() pastData {
	from, to := q.console.moments.past.span()
	d := pastData{From: from / 1e9, To: to / 1e9, Value: to / 1e9}
	if d.From < d.To {
		d.Shown, d.Latest = clockText(to), without(q.Request, "at")
	}
	return d
}

// summary is what the cluster has, and how many queues need attention.
type summary struct {
	Total, Allocated, Demand string
	Queues, Starved, Over    int
	Pending, Running         int64
}

func summaryOf(t report.Tree, queues view.Queues, l report.Layout) summary {
	s := summary{Queues: queues.All, Starved: queues.Starved, Over: queues.Over, Total: report.Amounts(t.Cluster)}
	if len(t.Queues) > 0 {
		root := t.Queues[0]
		s.Allocated, s.Demand, s.Pending, s.Running = report.Amounts(root.Allocated), report.Amounts(root.Demand), root.Pending, root.Running
	}
	return s
}

// folded is the address at which all queues of a depth are folded.
func folded(r *http.Request, depth int) string {
	r = r.Clone(r.Context())
	q := r.URL.Query()
	q.Del("toggle")
	q.Del("from")
	r.URL.RawQuery = q.Encode()
	return with(r, "depth", strconv.Itoa(depth))
}

// toggled is the address at which one more queue is toggled, or one less.
func toggled(r *http.Request, is map[string]bool, name string) string {
	q := r.URL.Query()
	for _, key := range []string{"format", "since", "table", "toggle"} {
		q.Del(key)
	}
	for _, other := range slices.Sorted(maps.Keys(is)) {
		if other != name {
			q.Add("toggle", other)
		}
	}
	if !is[name] {
		q.Add("toggle", name)
	}
	return r.URL.Path + "?" + q.Encode()
}

func (p *page) addRemarks(remarks []report.Section) {
	for i, s := range remarks {
		p.blocks = append(p.blocks, block{id: "remarks-" + strconv.Itoa(i), template: "items", data: s})
	}
}

// queueHead is a queue at the top of its page: its place in the tree, and a bar for each resource.
type queueHead struct {
	State    string
	WhatIf   string
	Above    []choice
	Gauges   []report.Gauge
	Starved  []string
	Problems []string
}

func queuePage(q question) (page, error) {
	path := queue.Path(q.get("name"))
	tree, starved := q.moment.queues()
	at := slices.IndexFunc(tree.Queues, func(row report.Queue) bool { return row.Name == string(path) })
	if at < 0 {
		return page{}, notFound("There is no such queue.")
	}
	row, w := tree.Queues[at], q.moment.world
	head := queueHead{State: row.State, WhatIf: whatIfLink(row.Name)}
	for _, above := range path.Ancestors() {
		head.Above = append(head.Above, choice{Name: reason.Name(above.Leaf()), Link: view.QueueLink(string(above))})
	}
	for i := range tree.Cluster.Len() {
		head.Gauges = append(head.Gauges, report.GaugeOf(row, tree.Cluster, tree.Cluster.At(i).Name))
	}
	own := report.Starved{}
	for _, s := range starved.Queues {
		if s.Queue == row.Name {
			own.Queues, head.Starved = append(own.Queues, s), append(head.Starved, s.Text(q.layout))
		}
	}
	for _, v := range starved.Victims {
		if path.Contains(v.Pod.Leaf) || path.Contains(queue.Path(v.ForQueue)) {
			own.Victims = append(own.Victims, v)
		}
	}
	for _, p := range row.Problems {
		head.Problems = append(head.Problems, string(p.Code)+": "+p.Text())
	}
	p := page{title: "Queue " + reason.Name(row.Name), section: "/queues"}
	p.blocks = append(p.blocks, block{id: "head", template: "queue", data: head})
	course := q.console.moments.past.of(row.Name)
	p.blocks = append(p.blocks, block{id: "course", template: "course", data: view.NewChart(course)})
	p.addTableOf("settings", "In force", func(l report.Layout) report.Table { return row.Settings(l) }, q, nil)
	p.addTableOf("limits", "Limits", func(l report.Layout) report.Table { return row.LimitsUsed(l) }, q, nil)
	children := slices.DeleteFunc(slices.Clone(tree.Queues), func(c report.Queue) bool { return queue.Path(c.Name).Parent() != path })
	p.addTableOf("children", "Queues below", func(l report.Layout) report.Table { return report.Rows(children, l) }, q, func(row int, title string) string {
		if title == "NAME" {
			return view.QueueLink(children[row].Name)
		}
		return ""
	})
	applications, users := w.Applications(path), w.Users(path)
	p.add("applications", headed("Applications", applications), q.layout, q.Request, view.ApplicationLinks(applications))
	p.add("users", headed("Users", users), q.layout, q.Request)
	waiting, more := w.Waiting(path, mostWaiting)
	p.add("waiting", headed(waitingHeading(more), waiting), q.layout, q.Request, view.PodLinks(waiting))
	p.add("starved", headed("Preemption", own), q.layout, q.Request, view.StarvedLinks(own), view.VictimLinks(own))
	reserved := w.Reservations(path)
	p.blocks = append(p.blocks, block{id: "reservations", template: "text", data: report.Section{Heading: "Reservations", Items: reserved.Lines(plainly(q.layout))}})
	p.addEvents("Events", q)
	p.addCourse(course, q)
	all := documents{
		{"queue", row}, {"applications", applications}, {"users", users}, {"waiting", waiting}, {"preemption", own}, {"reservations", reserved},
	}
	if q.said != nil && q.said.err == nil {
		all = append(all, named{"events", q.said.events})
	}
	p.json = all
	return p, nil
}

// mostWaiting is how many pods of a queue are looked for that come next, and how many that a rule holds.
const mostWaiting = 500

func waitingHeading(more int) string {
	if more == 0 {
		return "Pods that wait, in order"
	}
	return "Pods that wait, in order (" + strconv.Itoa(more) + " more are held)"
}

func applicationsPage(q question) (page, error) {
	all := q.moment.world.Applications(queue.Root)
	p := page{title: "Applications", section: "/applications", json: q.judged(all)}
	p.add("applications", all, q.layout, q.Request, view.ApplicationLinks(all))
	return p, nil
}

func usersPage(q question) (page, error) {
	all := q.moment.world.Users(queue.Root)
	p := page{title: "Users", section: "/users", json: q.judged(all)}
	p.add("users", all, q.layout, q.Request)
	return p, nil
}

func applicationPage(q question) (page, error) {
	w, in, name := q.moment.world, queue.Path(q.get("queue")), q.get("name")
	pods := w.PodsOf(in, name)
	if len(pods) == 0 {
		return page{}, notFound("There is no such application: perhaps it has ended.")
	}
	own := slices.DeleteFunc(w.Applications(in), func(a report.Application) bool { return a.Name != name || a.Queue != string(in) })
	p := page{title: "Application " + reason.Name(name), section: "/applications", json: documents{{"applications", own}, {"pods", pods}}}
	p.add("application", own, q.layout, q.Request, view.ApplicationLinks(own))
	if why := pods[0]; why.Reason.Code != "" { // the oldest that waits
		answers, err := w.Why(q.Context(), why.UID)
		if err != nil {
			return page{}, err
		}
		p.addWhy(report.Why{One: true, Answers: answers}, q.layout)
	}
	p.add("pods", headed("Pods", pods), q.layout, q.Request, view.PodLinks(pods))
	if len(own) == 1 {
		p.addTableOf("history", "What happened", own[0].History, q, nil)
	}
	return p, nil
}

func podPage(q question) (page, error) {
	w := q.moment.world
	pod, ok := w.PodNamed(q.get("namespace"), q.get("name"))
	if !ok {
		return page{}, notFound("There is no such pod of Fairway: perhaps it has ended.")
	}
	answers, err := w.Why(q.Context(), pod.UID)
	if err != nil {
		return page{}, err
	}
	why := report.Why{One: true, Answers: answers}
	p := page{title: "Pod " + reason.Name(pod.Namespace+"/"+pod.Name), section: "/applications", json: q.judged(why)}
	p.addWhy(why, q.layout)
	own := report.Pods{pod}
	p.add("pod", headed("Pod", own), q.layout, q.Request, view.PodLinks(own))
	p.addEvents("Events", q)
	p.addTableOf("history", "What happened", func(l report.Layout) report.Table { return pod.History(l) }, q, nil)
	return p, nil
}

// addWhy adds an answer as one block: which sections it has changes with the answer.
func (p *page) addWhy(why report.Why, l report.Layout) {
	p.blocks = append(p.blocks, block{id: "why", template: "sections", data: why.Sections(l)})
}

func nodesPage(q question) (page, error) {
	nodes := q.moment.world.Nodes()
	p := page{title: "Nodes", section: "/nodes", json: q.judged(nodes)}
	p.add("nodes", nodes, q.layout, q.Request)
	return p, nil
}

func preemptionPage(q question) (page, error) {
	_, starved := q.moment.queues()
	plan := q.moment.plan()
	p := page{title: "Preemption", section: "/preemption", json: documents{{"preemption", starved}, {"plan", plan}}}
	p.add("starved", headed("Starved queues", starved), q.layout, q.Request, view.StarvedLinks(starved), view.VictimLinks(starved))
	p.addPlan(plan, q)
	p.addEvents("Pods that were evicted", q)
	return p, nil
}

// addPlan adds a plan. It has other blocks while there is no claim.
func (p *page) addPlan(plan report.Plan, q question) {
	sections := plan.Sections(q.layout)
	var links []view.Links
	for _, s := range sections {
		var to view.Links
		if s.Table != nil {
			to = view.NameLinks(s.Table)
		}
		links = append(links, to)
	}
	p.add("plan", headed("What would be taken now", plan), q.layout, q.Request, links...)
}

// addCourse adds what is remembered of a queue as a table, the newest first.
func (p *page) addCourse(c history.Course, q question) {
	var times []int64
	var queues []report.Queue
	for _, m := range slices.Backward(c) {
		times, queues = append(times, m.At), append(queues, m.Queue)
	}
	p.addTableOf("history", "History", func(l report.Layout) report.Table { return report.Course(times, queues, l) }, q, nil)
}
