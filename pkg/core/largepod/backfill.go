package largepod

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Earliest is the first moment at which as much may have become free on a node as it lacks: pods of which the end is known end then, the others may end
// now. What has ended by this moment takes nothing from the large pod for which the node is held, so such a pod may run there meanwhile.
func Earliest(lacks resource.List, pods []Running, now int64) int64 {
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b Running) int { return cmp.Compare(a.Ends, b.Ends) }) // 0 comes first
	at := now
	var ended resource.List
	for _, p := range pods {
		if lacks.Fits(ended) {
			return at
		}
		at, ended = max(at, p.Ends), ended.Add(p.Request)
	}
	if lacks.Fits(ended) {
		return at
	}
	return math.MaxInt64
}

// EndsInTime reports whether a pod that starts now and runs for so long at most, 0 if nobody knows, has ended by this moment.
func EndsInTime(lasts, by, now int64) bool { return lasts > 0 && lasts <= by-now }
