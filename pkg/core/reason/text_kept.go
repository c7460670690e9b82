package reason

// Backfilled is what is said of a pod that uses room which is held for others.
const Backfilled = "the node is held for larger pods; this pod may use it, since it says that it ends before one of them could start there"

// HeldFor is how a message names held nodes, in upstream's form: their number comes before it. "" where no node is held. It has no time where nodes are
// held for large pods: one comes after the other, and pods would show another time every minute.
func (k Kept) HeldFor() string {
	switch {
	case k.Held == 0:
		return ""
	case k.PodGroup == "":
		return heldNodes + k.holder()
	}
	return heldNodes + k.holder() + after(until, clock(k.Until))
}

// holder is what nodes are held for.
func (k Kept) holder() string {
	if k.PodGroup == "" {
		return "larger pods of queue " + k.LargeOf
	}
	return "pod group " + Name(k.PodGroup)
}

// text says how many nodes would have room, for whom it is kept, and until when.
func (k Kept) text() (text string) {
	if k.Held > 0 {
		text = "; " + counted(k.Held, "1 node with room is", "nodes with room are") + " held for " + k.holder() +
			after(until, clock(k.Until), " at the latest")
	}
	if k.Own > 0 {
		text += "; smaller pods passed it, so " + counted(k.Own, "1 node is", "nodes are") + " held for pods like it" + after(until, clock(k.Until), " at the latest")
	}
	if k.Nominated > 0 {
		text += "; on " + counted(k.Nominated, "1 node", "nodes") + " the room is kept for " + Name(k.Pod) + " of queue " + k.Queue
		if k.Nominated > 1 {
			text += " and others"
		}
		text += ", until it starts there"
	}
	return text
}
