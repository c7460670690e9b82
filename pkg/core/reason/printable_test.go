package reason_test

import (
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func TestNamesAreShownAsTheyAreWritten(t *testing.T) {
	for name, want := range map[string]string{
		"ann":                            "ann",
		"system:serviceaccount:team:job": "system:serviceaccount:team:job",
		"CN=Ann Smith":                   `"CN=Ann Smith"`,
		"ann\n  and: no":                 `"ann\n  and: no"`,
		"ann\x1b[2J":                     `ann\x1b[2J`,
		"ann\u202eb":                     `ann\u202eb`,
		"ann\u00a0b":                     "\"ann\u00a0b\"",
		`a" b`:                           `"a\" b"`,
		strings.Repeat("x", 340):         strings.Repeat("x", 340),
		strings.Repeat("x", 250_000):     strings.Repeat("x", 340) + "... (250000 bytes)",
		strings.Repeat("é", 200):         strings.Repeat("é", 170) + "... (400 bytes)",
	} {
		if got := reason.Name(name); got != want {
			t.Errorf("%.20q: got %.400s, want %.400s", name, got, want)
		}
	}
}

// What a pod's creator wrote is in no sentence as it is, and makes none long.
func TestSentencesAreOneLine(t *testing.T) {
	for _, hostile := range []string{"\x1b[2J\r\n\u202ex", strings.Repeat("y", 250_000), "a\u2028b\u009bc"} {
		for code, details := range map[reason.Code]reason.Details{
			reason.QueueNameInvalid:           reason.Invalid{Why: hostile},
			reason.QueueNotFound:              nil,
			reason.UserMaxRunningApplications: reason.Applications{User: hostile},
			reason.UserMaxApplications:        reason.Applications{User: hostile},
			reason.UserLimit:                  reason.UserShare{User: hostile},
			reason.UserMaxDriverShare:         reason.UserShare{User: hostile},
			reason.SubmitForbidden:            reason.Submitter{User: hostile},
			reason.WaitingForDriver:           reason.Driver{Pod: hostile},
			reason.ApplicationPriorityInvalid: reason.Invalid{Why: hostile},
			reason.PlacementRejected:          reason.Invalid{Why: hostile},
			reason.PodGroupNotFound:           nil,
			reason.Parked:                     reason.Answer{Text: hostile},
			reason.SpecInvalid:                reason.Invalid{Why: hostile},
			reason.QueueNotReady:              reason.Cause{Queue: hostile, Problem: hostile},
		} {
			text := reason.Reason{Code: code, Queue: hostile, PodGroup: hostile, Details: details}.Text()
			if strings.ContainsAny(text, "\x1b\r\n\u202e\u2028\u009b") {
				t.Errorf("%s: %.300q", code, text)
			}
			if len(text) > 4200 {
				t.Errorf("%s: %d bytes", code, len(text))
			}
		}
	}
}
