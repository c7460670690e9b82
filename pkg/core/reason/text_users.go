package reason

import "strconv"

// userLimitText returns the sentence about what one user may use of a queue.
func (r Reason) userLimitText() string {
	u := As[UserShare](r)
	others, lifts := "", ", or for a higher users.shareFactor"
	if !u.ByFactor {
		lifts = " or fewer users ask, or for a higher users.minSharePercent"
		if u.Active > 1 {
			others = " while " + strconv.FormatInt(u.Active, 10) + " users ask"
		}
	}
	asks := " and this pod asks for " + r.amount(r.Asked) + "; it waits"
	if r.PodGroup != "" {
		asks = " and pod group " + r.PodGroup + " asks for " + r.amount(r.Asked) + " more; it waits"
	}
	return "in queue " + r.Queue + ", user " + orElse(Name(u.User), "unknown") + " may use at most " + r.amount(r.Limit) + others + ": the user has " +
		r.amount(r.Used) + asks + " until a pod of the user ends" + lifts
}

// userDriversText returns the sentence about what the drivers of one user may use of a queue. asks is the part about this one.
func (r Reason) userDriversText(asks string) string {
	u, others := As[UserShare](r), ""
	if u.Active > 1 {
		others = " while " + strconv.FormatInt(u.Active, 10) + " users ask"
	}
	return "in queue " + r.Queue + ", the drivers of user " + orElse(Name(u.User), "unknown") + " may use at most " + r.amount(r.Limit) + others +
		": they use " + r.amount(r.Used) + asks +
		" until one of them ends, or for a higher maxDriverShare, users.minSharePercent or users.shareFactor"
}
