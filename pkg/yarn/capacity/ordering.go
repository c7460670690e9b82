package capacity

import "strings"

const javaOrdering = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy."

// orderingPolicy translates the order inside a leaf, and that of the children of a parent.
func (t *translation) orderingPolicy(d *declared, s *setting) {
	text := strings.TrimSpace(s.Value)
	if !d.leaf() {
		switch text {
		case "utilization":
			s.note.Remark("that is the default")
		case "priority-utilization":
			s.note.Lose("queues have no priorities")
		default:
			t.parentPolicy(d, s, text)
		}
		return
	}
	switch text {
	case "fifo", javaOrdering + "FifoOrderingPolicy":
		d.object.Set(s.note, "policy", "FIFO")
	case "fair", javaOrdering + "FairOrderingPolicy":
		d.object.Set(s.note, "policy", "Fair")
	case "fifo-with-partitions", "fifo-for-pending-apps":
		s.note.Approximate("it is fifo here")
		d.object.Set(s.note, "policy", "FIFO")
	default:
		if !strings.Contains(text, ".") {
			t.fail(s.Property, "%q is none of fifo and fair, nor a class", text)
			return
		}
		s.note.Lose("a policy of your own; Fairway has fifo and fair")
	}
}

func (t *translation) parentPolicy(d *declared, s *setting, text string) {
	switch {
	case text == "fifo" || text == "fair":
		s.note.Skip("it counts in queues without children only, in YARN too")
	case strings.Contains(text, "."):
		s.note.Lose("a policy of your own; queues are served by what they use over their capacity")
	default:
		t.fail(s.Property, "%q is none of utilization and priority-utilization, nor a class", text)
	}
}
