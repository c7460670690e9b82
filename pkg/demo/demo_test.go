package demo

import "testing"

func TestARunFailsIfTheSchedulerWasRefusedSomething(t *testing.T) {
	const (
		rights = `E1123 event_broadcaster.go:270] "Server rejected event" err="events is forbidden: User \"system:serviceaccount:a:b\" cannot create resource"`
		other  = `E1123 action.go:210] "Evicting" err="pods \"victim\" is forbidden: a policy says no"`
	)
	for log, want := range map[string]bool{rights: true, other + "\n" + rights: true, other: false, "": false} {
		if got := refused([]byte(log)) != nil; got != want {
			t.Errorf("%q: %v", log, got)
		}
	}
}
