package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/definitions"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

// mostYAML is how much a reader may ask about at once: more than a thousand Queues.
const mostYAML = 1 << 20

func whatIfLink(name string) string { return "/whatif?" + url.Values{"queue": {name}}.Encode() }

// whatIf answers a form.
func (c *Console) whatIf(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostYAML)
	if err := r.ParseForm(); err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			c.fail(w, http.StatusRequestEntityTooLarge, "This is too much: at most 1 MiB is read.")
			return
		}
		c.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	c.serve(whatIfPage)(w, r)
}

// whatIfData is the form, and what the API server would refuse in it.
type whatIfData struct {
	YAML     string
	Problems []report.FileProblem
}

// whatIfPage has the form; as the answer to it, also what would change.
func whatIfPage(q question) (page, error) {
	p := page{title: "What if", section: "/whatif", still: true}
	if q.Method != http.MethodPost {
		text, err := q.declaration(q.get("queue"))
		p.blocks = []block{{id: "whatif", template: "whatif", data: whatIfData{YAML: text}}}
		p.json = q.judged(nil)
		return p, err
	}
	data := whatIfData{YAML: q.PostForm.Get("yaml")}
	before := q.moment.world
	after, problems := changed(before, data.YAML)
	data.Problems = problems
	p.blocks = append(p.blocks, block{id: "whatif", template: "whatif", data: data})
	if after == nil {
		p.json = report.Judged{Problems: problems}
		return p, nil
	}
	compared := report.Comparison{Before: before.Tree(queue.Root), After: after.Tree(queue.Root), Changes: world.Changes(before, after)}
	p.add("changes", compared, q.layout, q.Request)
	p.blocks = append(p.blocks, block{id: "apply", template: "apply", data: []string{"kubectl diff -f FILE", "kubectl apply -f FILE"}})
	p.json = q.judged(compared)
	return p, nil
}

// changed is the world with what a text declares, or what the API server would refuse in that.
func changed(w *world.World, text string) (*world.World, []report.FileProblem) {
	overlay, problems, err := objects.ReadFiles([]objects.File{{From: strings.NewReader(text)}}, definitions.Judge)
	if err == nil && len(problems) == 0 {
		var set *objects.Set
		if set, err = w.Objects.With(overlay); err == nil {
			return world.New(set, w.Schedulers, w.Now), nil
		}
	}
	if err != nil {
		var at *objects.Problem
		if !errors.As(err, &at) {
			at = &objects.Problem{Message: err.Error()}
		}
		if !slices.Contains(problems, *at) {
			problems = append(problems, *at)
		}
	}
	refused := make([]report.FileProblem, len(problems))
	for i, p := range problems {
		refused[i] = report.FileProblem(p)
	}
	return nil, refused
}

// declaration is the YAML of a Queue as somebody would edit it: without status and what the API server fills in.
func (q *question) declaration(name string) (string, error) {
	for _, o := range q.moment.world.Objects.Queues {
		if o.GetName() != name {
			continue
		}
		spec := o.Object["spec"]
		if spec == nil {
			spec = map[string]any{}
		}
		text, err := yaml.Marshal(map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": map[string]any{"name": name}, "spec": spec})
		return string(text), err
	}
	if name == "" {
		return "", nil
	}
	return "", notFound("There is no Queue " + name + ".")
}
