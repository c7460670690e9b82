package reason

import (
	"strconv"
	"time"
)

// stateAwareText says which application must leave Starting first, since when it is starting, when it leaves
// at the latest, and the place in line.
func (r Reason) stateAwareText() string {
	n := As[Start](r)
	return "queue " + r.Queue + " lets " + applications(n.Most) + " start at a time, and " + orElse(n.Next, "another one") + " is starting" +
		after(" since ", clock(n.Since)) + after(", until ", clock(n.Until), " at the latest") + n.learntText() +
		"; this one is " + ordinal(n.Position) + " in line, and goes when that one has a second pod placed or has ended, or with a higher maxStarting"
}

// learntText says how the latest time was computed.
func (n Start) learntText() string {
	if n.Took == 0 {
		return ""
	}
	return " (learnt: of the last starts here, 95% took at most " + time.Duration(n.Took).Round(100*time.Millisecond).String() + ")"
}

// clock prints a time to the second, "" for none.
func clock(nanoseconds int64) string {
	if nanoseconds == 0 {
		return ""
	}
	return time.Unix(0, nanoseconds).UTC().Format(time.RFC3339)
}

// ordinal prints a place in line.
func ordinal(n int64) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n, 10) + suffix
}
