package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const modulePath = "github.com/fairway-scheduler/fairway"

// sourceTree returns the root of the source tree, which has the manifests: the given one, or the one above the
// working directory, or the one above the running executable.
func sourceTree(asked string) (string, error) {
	if asked != "" {
		root, err := filepath.Abs(asked)
		if err == nil && !isSourceTree(root) {
			err = fmt.Errorf("%s is not the source tree of %s", root, modulePath)
		}
		return root, err
	}
	var tried []string
	for _, find := range []func() (string, error){os.Getwd, executable} {
		start, err := find()
		if err != nil {
			continue
		}
		for dir := start; ; dir = filepath.Dir(dir) {
			if isSourceTree(dir) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
		tried = append(tried, start)
	}
	return "", fmt.Errorf("no source tree of %s above %s: say where it is with --root", modulePath, strings.Join(tried, " or "))
}

func isSourceTree(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(data, []byte("module "+modulePath+"\n"))
}

// executable returns the path of the running program, with links resolved: a link in a folder of programs
// still leads to the source tree.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

const schedulerName = "fairway-scheduler"

// program finds one of our programs beside the demo, where make builds it, or in bin of the source tree.
func program(root, name string) (string, error) {
	var candidates []string
	if self, err := executable(); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(self), name))
	}
	candidates = append(candidates, filepath.Join(root, "bin", name))
	for _, candidate := range candidates {
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", errors.New("no program " + strings.Join(candidates, " nor ") + ": `make build` makes it")
}
