package report

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// namedNodes is how many held nodes a sentence names.
const namedNodes = 5

// hold is nodes that are held, as JSON has them.
type hold struct {
	PodGroup     string   `json:"podGroup"`
	Pod          string   `json:"pod"`
	Nodes        []string `json:"nodes"`
	WaitingSince string   `json:"waitingSince"`
	Until        string   `json:"until"`
}

func holds(of []queue.Hold) []hold {
	all := make([]hold, len(of))
	for i, h := range of {
		all[i] = hold{h.PodGroup, h.Pod, list(h.Nodes), timestamp(h.Since), timestamp(h.Until)}
	}
	return all
}

// holdText says what is held, for whom and until when.
func holdText(queue string, h queue.Hold) string {
	names := make([]string, 0, namedNodes+1)
	for _, name := range h.Nodes[:min(len(h.Nodes), namedNodes)] {
		names = append(names, reason.Name(name))
	}
	if more := len(h.Nodes) - namedNodes; more > 0 {
		names = append(names, "and "+strconv.Itoa(more)+" more")
	}
	holder := "pod group " + reason.Name(h.PodGroup)
	if h.PodGroup == "" {
		holder = "large pods such as " + reason.Name(h.Pod)
	}
	return counted(len(h.Nodes), "node is", "nodes are") + " held for " + holder + " of queue " + queue + " until " + timestamp(h.Until) +
		" at the latest: " + strings.Join(names, ", ")
}
