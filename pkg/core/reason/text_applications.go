package reason

import "strconv"

// applicationsText says how many may run and how many do.
func (r Reason) applicationsText() string {
	n := As[Applications](r)
	return "at most " + applications(n.Most) + " and runs " + strconv.FormatInt(n.Running, 10)
}

// applicationLimitText returns the sentences about how many applications a queue or a user may have.
func (r Reason) applicationLimitText() string {
	switch r.Code {
	case MaxRunningApplications:
		return "queue " + r.Queue + " may run " + r.applicationsText() +
			"; this one follows when an application ends, or with a higher maxRunningApplications"
	case UserMaxRunningApplications:
		return "user " + Name(As[Applications](r).User) + " may run " + r.applicationsText() +
			"; this one follows when one of them ends, or with a higher users.maxRunningApplications of queue " + r.Queue
	}
	return r.refusedText()
}

// refusedText returns the sentences about an application that a queue does not take in.
func (r Reason) refusedText() string {
	n := As[Applications](r)
	has := " and has " + strconv.FormatInt(n.Running, 10) + ", running and waiting; this one is refused until "
	if r.Code == UserMaxApplications {
		return "user " + orElse(Name(n.User), "unknown") + " may have at most " + applications(n.Most) + " in queue " + r.Queue + has +
			"one of them ends, or for a higher maxApplications, users.minSharePercent or users.shareFactor"
	}
	part := ""
	if n.Cluster > 0 {
		part = ", its part of the " + strconv.FormatInt(n.Cluster, 10) + " of root,"
	}
	return "queue " + r.Queue + " takes at most " + applications(n.Most) + part + has + "one ends, or for a higher maxApplications"
}

// applications prints a number of applications.
func applications(n int64) string { return counted(n, "1 application", "applications") }
