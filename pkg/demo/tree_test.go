package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSourceTreeIsFoundFromBelow(t *testing.T) {
	root, err := sourceTree("") // tests run in their package's folder
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "manifests", "crds")); err != nil {
		t.Error(err)
	}
	if asked, err := sourceTree(filepath.Join("..", "..")); err != nil || asked != root {
		t.Errorf("got %q, %v, want %q", asked, err, root)
	}
}

func TestAFolderThatIsNoSourceTree(t *testing.T) {
	if _, err := sourceTree(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not the source tree") {
		t.Error(err)
	}
}

func TestTheSchedulerIsLookedForInBin(t *testing.T) {
	root := t.TempDir()
	if _, err := program(root, schedulerName); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Error(err)
	}
	want := filepath.Join(root, "bin", "fairway-scheduler")
	if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := program(root, schedulerName); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
}
