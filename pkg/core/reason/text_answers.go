package reason

// What the plugin answers to kube-scheduler when no reason of the catalogue says it. kube-scheduler shows these
// in the events and conditions of pods.
const (
	// NotReleased: PreEnqueue keeps a pod out that was not released.
	NotReleased = "waits for its turn in its queue"
	// NodeNominated: Filter refuses a node whose free room is for other pods, which are nominated to it. kube-scheduler puts the
	// number of nodes before it.
	NodeNominated = "node(s) had room that is kept for pods of a queue to which it is owed"
	// GroupGathers: Permit lets a pod wait for the others of its group.
	GroupGathers = "waits until all pods of its group have places"
	// GroupFailed: a pod that waited at Permit goes back.
	GroupFailed = "another pod of its group got no place"
)
