package simulator

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage grow to sixty times what is live, in 2 GiB at most. Worlds are small and many: with Go's default a quarter of the time
// goes to collecting a few megabytes again and again, and with four times what is live still a tenth.
func TestMain(m *testing.M) {
	debug.SetGCPercent(6000)
	debug.SetMemoryLimit(2 << 30)
	os.Exit(m.Run())
}
