package ledger

// The ledger has floors, as the packages have. Each is a type that embeds the next one down, so a method calls methods of its own floor and of those
// below it, and the compiler refuses a call upwards:
//
//	Ledger        takes the lock; each public method applies one input
//	plans         steps of preemption
//	releases      whose turn it is
//	settled       what was observed comes into force
//	consequences  what follows from a move
//	moves         a pod, a nomination or a hold changes
//	contents      what is there, and questions about it
//
// No floor but the lowest has fields of its own, and no floor but the highest knows the lock.

// plans are the steps of preemption: which clocks run and which claims are open (lookAtStarvation, claims), which plans are carried out (adopt), which
// nominations end (tendNominations), and which victims stay (withdrawVictims). rounds.go lists the steps of a round, evictions.go those from a plan to the start of its claimant.
type plans struct{ releases }

// releases say which pod goes next, and charge it (choose). A pod group goes whole (releaseGroup), or waits until nodes are held for it (holdForNext). What time alone
// brings about comes first (expire).
type releases struct{ settled }

// settled brings into force what was observed: Queues, nodes, the placement policy (settle), and at the beginning all that was there before (lead).
// What decides by them calls it first. Trials are here too: they charge what is in force.
type settled struct{ consequences }

// consequences are drawn here, in one order, until none is left: see drain. A pod is observed (observe), judged (wait, blockIn) and taken back (fail)
// here, and a group is reviewed.
type consequences struct{ moves }

// moves change one thing and what follows from it at once: the state of a pod and its charges (set), its nomination and the room that is taken for it
// (giveNode, endNomination), the nodes that are held for a group (holdFor, giveBackHeld), an application that leaves Starting (markStarted). All else
// that follows is noted in effects, and drawn by the floor above.
type moves struct{ contents }

// contents is what is there: the state of the scheduler, in types that each own a part of it, and say in their doc comments what they own, what they
// hear and what they say.
//
// Its own methods answer what concerns several of them: why a pod waits (why, limitOn), what room a group lacks (roomOfGroup), how much room may be
// kept (mayHold, mayKeepFor), what a rule of the core needs to know (nominationInput, victimInput). They change nothing but caches: see ADR 0024.
type contents struct {
	opts Options

	queues     queueTree
	requests   requests
	placements placements
	access     accessTable

	// Pods.
	pods    map[UID]*record
	classes classTable

	// Applications, and which of them gets a freed slot: see applications.go.
	applications applications

	// The gates: see gate.go.
	startTimers startTimers

	// Pod groups: see groups.go, group_release.go and node_holds.go.
	groups       groupTable
	groupRelease groupRelease
	nodeHolds    nodeHolds
	largePods    largePods

	// Shares: see shares.go.
	shares shares

	// Preemption. Clocks and claims are in the accounts: see starvation.go.
	rounds      rounds
	nominations nominations
	evictions   evictions

	nodes nodeTable

	// Dispatch.
	leading    bool  // see Lead
	now        int64 // the latest time heard of, for steps that no caller times
	books      orderBooks
	walk       treeWalk
	delays     delays
	window     window
	backOffs   backOffs
	conditions conditions
	backlog    backlog
	trials     trials

	effects effects
	journal journal

	inspection inspection // see inspect.go
	version    uint64     // grows with every change that a snapshot may show
}
