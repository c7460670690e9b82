package value

import "strconv"

// Duration writes whole seconds in hours, minutes and seconds.
func Duration(seconds int64) string {
	text := ""
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := seconds / unit.seconds; n > 0 {
			text += strconv.FormatInt(n, 10) + unit.name
		}
		seconds %= unit.seconds
	}
	if text == "" {
		return "0s"
	}
	return text
}

// Seconds rounds milliseconds to the nearest whole seconds between the bounds. It reports whether that is the same time.
func Seconds(milliseconds, least, most int64) (seconds int64, exact bool) {
	seconds = min(max((milliseconds+500)/1000, least), most)
	return seconds, seconds*1000 == milliseconds
}
