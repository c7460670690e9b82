package simulator

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage grow to four times what is live. Worlds are small and many: with Go's default a quarter of the time goes to
// collecting a few megabytes again and again.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
