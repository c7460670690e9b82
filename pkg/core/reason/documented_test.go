package reason_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// The guide for operators explains every code.
func TestEveryCodeIsInTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range reason.Codes() {
		if !strings.Contains(string(guide), "| `"+string(code)+"` |") {
			t.Errorf("docs/operating.md has no row for %s", code)
		}
	}
}
