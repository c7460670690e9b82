package report

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Access is what a user may do with each queue.
type Access struct {
	User   string // "" for the reader
	Groups []string
	Queues []Right // in path order
}

// Right is what the user may do with one queue, and the grants by which; a zero Grant stands for none.
type Right struct {
	Queue                       queue.Path
	Submit, Reserve, Administer access.Grant
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (a Access) MarshalJSON() ([]byte, error) {
	type grant struct {
		Queue string `json:"queue"`
		Verb  string `json:"verb"`
	}
	type right struct {
		Name         string `json:"name"`
		Submit       bool   `json:"submit"`
		SubmitBy     *grant `json:"submitBy"`
		Reserve      bool   `json:"reserve"`
		ReserveBy    *grant `json:"reserveBy"`
		Administer   bool   `json:"administer"`
		AdministerBy *grant `json:"administerBy"`
	}
	by := func(g access.Grant) *grant {
		if g.Queue == "" {
			return nil
		}
		return &grant{string(g.Queue), string(g.Verb)}
	}
	rights := make([]right, len(a.Queues))
	for i, r := range a.Queues {
		rights[i] = right{
			string(r.Queue), r.Submit.Queue != "", by(r.Submit), r.Reserve.Queue != "", by(r.Reserve), r.Administer.Queue != "", by(r.Administer),
		}
	}
	return marshal(struct {
		User   string   `json:"user"`
		Groups []string `json:"groups"`
		Queues []right  `json:"queues"`
	}{a.User, list(a.Groups), rights})
}

// Lines has a row for each queue.
func (a Access) Lines(l Layout) []string {
	table := Table{Columns: []Column{{Title: "QUEUE"}, {Title: "SUBMIT"}, {Title: "RESERVE"}, {Title: "ADMINISTER"}}, Full: true}
	shown := map[queue.Path]int{}
	for _, r := range a.Queues {
		name := string(r.Queue)
		if above, ok := shown[r.Queue.Parent()]; ok {
			shown[r.Queue] = above + 1
			if l.Terminal {
				name = strings.Repeat("  ", above+1) + r.Queue.Leaf()
			}
		} else {
			shown[r.Queue] = 0
		}
		table.Rows = append(table.Rows, []string{name, r.text(r.Submit), r.text(r.Reserve), r.text(r.Administer)})
	}
	who := "you"
	if a.User != "" {
		who = "user " + reason.Name(a.User) + " of groups " + strings.Join(a.Groups, ", ")
	}
	return append(append(Wrap("What "+who+" may do:", l.Width, ""), ""), table.Lines(l.Width, l.Style)...)
}

// text says by which grant the user may do it.
func (r Right) text(by access.Grant) string {
	switch {
	case by.Queue == "":
		return "no"
	case by.Queue == r.Queue:
		return "yes"
	}
	return "from " + string(by.Queue)
}
