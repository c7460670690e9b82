package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// DefaultApplications is how many applications the queues that share by capacity take in, if the root states no number
// (YARN CapacityScheduler: maximum-applications).
const DefaultApplications int64 = 10_000

// MaxApplications returns the reason for the first level that has as many applications as it takes in, and whether there
// is one. Levels count those that run and those that wait for a limit, room or their turn.
func MaxApplications(levels []Level) (reason.Reason, bool) {
	return full(levels, reason.MaxApplications, reason.UserMaxApplications)
}

// PartOfApplications is how many applications a leaf takes in that shares by capacity and states no number: as large a
// part of the cluster's number as its capacity is of the cluster, in millionths of a percent; rounded down, but one at
// least. (YARN rounds to none, and nothing starts there.)
func PartOfApplications(cluster, absolute int64) queue.Limit {
	return queue.AtMost(max(resource.Part(cluster, absolute, 100*1_000_000), 1))
}

// ApplicationsPerUser is how many of the applications that a leaf takes in may be of one user: users.minSharePercent of
// them, times users.shareFactor in milli; rounded down, but one at least, unless the leaf takes in none. Not stated: as
// many as of all users.
func ApplicationsPerUser(leaf queue.Limit, minShare, factor int64) queue.Limit {
	n := max(resource.Part(leaf.Most, resource.SatMul(minShare, factor), 100*1000), 1)
	if !leaf.Stated || n >= leaf.Most {
		return queue.Limit{}
	}
	return queue.AtMost(n)
}
