package queue

import "sort"

// Node is a queue in the tree.
type Node struct {
	Path Path
	// Spec is what is in force. It may differ from what was declared; the problems of the tree say where.
	Spec     Spec
	Parent   int // index into Tree.Nodes, -1 for the root
	Children []int
	// Declared is false for a queue that is in the tree only because pods run in it or below it, and for a
	// root that was not declared.
	Declared bool
	// ForChildren: it was declared as a parent, whether it has children or not.
	ForChildren bool
	// Accepting is true if pods may enter: a declared queue without children that is not for children, is not
	// being deleted and is not the root.
	Accepting bool
	// PolicyFrom and FairResourceFrom are the queues that state the policy in force, and the resource that Fair divides;
	// "": it is the default.
	PolicyFrom, FairResourceFrom Path
	// StoppedBy are the queues that stop this one: itself and those above that state Stopped, from the top, joined by
	// blanks; "" if none does. See state.go.
	StoppedBy string
}

// Leaf reports whether a queue has no children and is not for children.
func (n *Node) Leaf() bool { return len(n.Children) == 0 && !n.ForChildren }

// Find returns the index of a queue in Nodes.
func (t Tree) Find(p Path) (int, bool) {
	return sort.Find(len(t.Nodes), func(i int) int { return ComparePaths(p, t.Nodes[i].Path) })
}
