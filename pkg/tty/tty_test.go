package tty

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

func TestStyleFollowsTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		environment map[string]string
		want        report.Style
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, report.Style{Color: true}},
		{map[string]string{"LANG": "de_DE.utf8", "NO_COLOR": "1"}, report.Style{}},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, report.Style{Color: true, ASCII: true}},
		{nil, report.Style{Color: true, ASCII: true}},
	} {
		if got := styleFor(func(name string) string { return c.environment[name] }); got != c.want {
			t.Errorf("%v: got %+v", c.environment, got)
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if s := Of(file, os.Getenv); s.Terminal || s.Redraw || s.Style.Color || s.Width() != 0 {
		t.Errorf("a file is taken for a terminal: %+v", s)
	}
}
