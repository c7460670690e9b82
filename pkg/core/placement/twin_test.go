package placement

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// twin evaluates policies from the text they are written in, with names of queues as plain strings. It follows the
// table of rules in docs/placement.md line by line: for each rule a list of candidates, and whether they may be given.
type twin struct {
	declared, dynamic map[string]bool
	user              string
	groups            []string
	asks              string
}

func (w twin) has(name string) bool {
	for d := range w.all() {
		if d == name || strings.HasPrefix(d, name+".") {
			return true
		}
	}
	return name == "root"
}

func (w twin) all() map[string]bool {
	both := map[string]bool{}
	for _, m := range []map[string]bool{w.declared, w.dynamic} {
		for name := range m {
			both[name] = true
		}
	}
	return both
}

func (w twin) parent(name string) bool {
	for d := range w.all() {
		if strings.HasPrefix(d, name+".") {
			return true
		}
	}
	return name == "root"
}

// byHand: somebody declared it, or it stands above such a queue or a dynamic one (trees here are complete).
func (w twin) byHand(name string) bool { return w.has(name) && !w.dynamic[name] }

const refused = "refused"

// gives returns the queue that a rule gives, "" for none, or refused.
func (w twin) gives(words []string) string {
	flag := map[string]string{"create": "true", "parent": "root", "queue": "root.default"}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		flag[name] = value
	}
	may := func(name string) string {
		if flag["create"] == "true" || w.byHand(name) {
			return name
		}
		return ""
	}
	switch words[0] {
	case "Specified":
		if w.asks == "" || w.asks == "default" {
			return ""
		}
		return may("root." + strings.TrimPrefix(w.asks, "root."))
	case "User":
		return may(flag["parent"] + "." + w.user)
	case "PrimaryGroup":
		if len(w.groups) == 0 {
			return refused
		}
		return may(flag["parent"] + "." + w.groups[0])
	case "SecondaryGroupExistingQueue":
		for i, g := range w.groups {
			if name := flag["parent"] + "." + g; i > 0 && g != w.groups[0] && w.byHand(name) {
				return name
			}
		}
		return ""
	case "Default":
		return may(flag["queue"])
	}
	return refused // Reject
}

func (w twin) rule(text string) string {
	outer, inner, nested := strings.Cut(text, ">")
	if !nested {
		return w.gives(strings.Fields(outer))
	}
	above := w.gives(strings.Fields(inner))
	switch {
	case above == "" || above == refused:
		return above
	case w.has(above) && !w.parent(above):
		return ""
	case strings.Contains(outer, "create=false") && !w.byHand(above+"."+w.user):
		return ""
	}
	return above + "." + w.user
}

// place returns the queue, "+" behind it if it is created, or refused.
func (w twin) place(policy string) string {
	for text := range strings.SplitSeq(policy, ";") {
		got := w.rule(strings.TrimSpace(text))
		switch {
		case got == "":
			continue
		case got == refused || w.parent(got):
			return refused
		case w.has(got):
			return got
		}
		for above := got; ; {
			above = above[:strings.LastIndex(above, ".")]
			if w.has(above) {
				if w.parent(above) {
					return got + "+"
				}
				return refused
			}
		}
	}
	return refused
}

func TestPlaceEqualsItsTwin(t *testing.T) {
	label := rapid.SampledFrom([]string{"a", "b", "c", "default"})
	path := rapid.Custom(func(t *rapid.T) string {
		return "root." + strings.Join(rapid.SliceOfN(label, 1, 3).Draw(t, "levels"), ".")
	})
	simple := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"Specified", "User", "PrimaryGroup", "SecondaryGroupExistingQueue", "Default"}).Draw(t, "rule")
		text += rapid.SampledFrom([]string{"", " create=true", " create=false"}).Draw(t, "create")
		if rapid.Bool().Draw(t, "where") {
			switch strings.Fields(text)[0] {
			case "User", "PrimaryGroup", "SecondaryGroupExistingQueue":
				text += " parent=" + path.Draw(t, "parent")
			case "Default":
				text += " queue=" + path.Draw(t, "queue")
			}
		}
		return text
	})
	rule := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 2).Draw(t, "nested") > 0 {
			return simple.Draw(t, "rule")
		}
		return "NestedUserQueue" + rapid.SampledFrom([]string{"", " create=false"}).Draw(t, "create") + " > " + simple.Draw(t, "inner")
	})
	placedPods, checked := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rules := append(rapid.SliceOfN(rule, 0, 4).Draw(t, "rules"), "Reject")
		policy := strings.Join(rules, "; ")
		parsed, errs := Parse(written(policy))
		for errs != nil { // a terminal rule in the middle: leave out what follows
			rules = rules[:len(rules)-1]
			policy = strings.Join(rules, "; ")
			parsed, errs = Parse(written(policy))
		}
		w := twin{declared: map[string]bool{"root.default": true}, dynamic: map[string]bool{}}
		var queues []string
		for _, name := range rapid.SliceOfNDistinct(path, 0, 6, rapid.ID).Draw(t, "queues") {
			queues = append(queues, name)
			w.declared[name] = true
		}
		queues = append(queues, "root.default")
		for i, name := range queues[:len(queues)-1] {
			if name != "root.default" && !w.parent(name) && rapid.Bool().Draw(t, "dynamic") {
				w.dynamic[name] = true
				queues[i] += "*"
			}
		}
		for name := range w.dynamic {
			delete(w.declared, name)
		}
		w.user = label.Draw(t, "user")
		w.groups = rapid.SliceOfN(label, 0, 3).Draw(t, "groups")
		w.asks = rapid.OneOf(path, label, rapid.Just("")).Draw(t, "asks")
		d := parsed.Place(Submission{w.user, w.groups, w.asks}, tree(strings.Join(queues, " ")))
		got := string(d.Queue)
		if d.Rejected.Code != "" {
			got = refused
		} else if len(d.Create) > 0 {
			got += "+"
		}
		want := w.place(policy)
		if got != want {
			t.Fatalf("%s\nqueues %v, %s of %v asks for %q: %s, want %s", policy, queues, w.user, w.groups, w.asks, got, want)
		}
		if checked++; got != refused {
			placedPods++
		}
		checkDecision(t, d, parsed)
	})
	if placedPods*5 < checked {
		t.Errorf("of %d pods only %d are placed: this tests little", checked, placedPods)
	}
}

// checkDecision: exactly one of queue and reason; the trace has the rules up to the one that decided.
func checkDecision(t *rapid.T, d Decision, p Policy) {
	if (d.Queue == "") == (d.Rejected.Code == "") || d.Rejected.Code != "" && (d.Create != nil || d.Rejected.Text() == "") {
		t.Fatalf("%+v", d)
	}
	for i, step := range d.Trace {
		if step.Rule != p.Rules[i].Kind.String() || step.Outcome == "" {
			t.Fatalf("step %d is %+v", i, step)
		}
	}
	if last := d.Trace[len(d.Trace)-1]; d.Queue != "" && (last.Outcome != string(d.Queue) || last.Rule != d.Rule) {
		t.Fatalf("the last step is %+v", last)
	}
	for i, n := range d.Create {
		if !n.Path.Contains(d.Queue) || i > 0 && n.Path.Parent() != d.Create[i-1].Path {
			t.Fatalf("created: %v", d.Create)
		}
	}
}

// Many pods land at once. Each is placed by what is known at that moment, and asks for its queues; of two that ask for the same queue one
// comes second, finds it, and is placed again if it was created for another name. In the end each name has one queue, and no other has it.
func TestManyLandingAtOnceCreateEachQueueOnce(t *testing.T) {
	policy := parsed(t, "Specified create=false; NestedUserQueue > PrimaryGroup")
	rapid.Check(t, func(t *rapid.T) {
		people := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Submission {
			return Submission{User: rapid.SampledFrom([]string{"ann", "Ann", "a_b", "a-b", "a.b", "A_B", "jürgen"}).Draw(t, "user"),
				Groups: []string{rapid.SampledFrom([]string{"dev", "DEV", "ops"}).Draw(t, "group")}}
		}), 1, 60).Draw(t, "pods")
		type pod struct {
			Submission
			asks []NewQueue // as of its last look
		}
		api, created, in := Tree{}, map[queue.Path]int{}, map[string]queue.Path{}
		var waiting []pod
		for _, s := range people { // all look at the empty tree first
			waiting = append(waiting, pod{s, policy.Place(s, api).Create})
		}
		for len(waiting) > 0 {
			i := rapid.IntRange(0, len(waiting)-1).Draw(t, "next")
			p := &waiting[i]
			for _, n := range p.asks {
				switch q := api[n.Path]; {
				case !q.Declared:
					api.Declare(n.Path, Queue{Created: true, For: n.For})
					created[n.Path]++
					continue
				case q.For == n.For:
					continue
				}
				break // another name's
			}
			d := policy.Place(p.Submission, api)
			if p.asks = d.Create; len(d.Create) > 0 {
				continue
			}
			name := p.Groups[0] + "/" + p.User
			if before, again := in[name]; again && before != d.Queue {
				t.Fatalf("%s is in %s and in %s", name, before, d.Queue)
			}
			in[name] = d.Queue
			waiting = slices.Delete(waiting, i, i+1)
		}
		owner := map[queue.Path]string{}
		for name, path := range in {
			if other, taken := owner[path]; taken {
				t.Fatalf("%s and %s share %s", other, name, path)
			}
			owner[path] = name
		}
		for path, n := range created {
			if n != 1 {
				t.Fatalf("%s was created %d times", path, n)
			}
		}
	})
}
