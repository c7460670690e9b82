// Command progress runs go test and says how far it is: which packages have ended, which tests run and for how long, and how many are left.
//
// Its arguments are those of go test: flags, each written as one word (-timeout=30m), then packages. It prints what go test prints without -v,
// the line `ok` or `FAIL` of each package among it, and a line about the progress every few seconds. It exits as go test does.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// every is how often a line about the progress comes.
const every = 15 * time.Second

func main() {
	tests, err := countTests(os.Args[1:])
	if err == nil {
		err = run(os.Args[1:], newReport(os.Stdout, tests))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "progress:", err)
		os.Exit(1)
	}
}

// run runs go test and shows its events.
func run(args []string, r *report) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := make(chan []byte)
	go read(out, lines)
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for lines != nil {
		select {
		case line, more := <-lines:
			if !more {
				lines = nil
			} else if e := (event{}); json.Unmarshal(line, &e) == nil {
				r.see(e, time.Now())
			} else {
				_, _ = r.out.Write(line) // not an event: what go test itself has to say
			}
		case now := <-ticks.C:
			r.say(now)
		}
	}
	r.say(time.Now())
	return cmd.Wait()
}

func read(from io.Reader, lines chan<- []byte) {
	defer close(lines)
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}

var declared = regexp.MustCompile(`(?m)^func Test[^a-z]\w*\(t \*testing`)

// countTests counts the tests of each package that the arguments name.
func countTests(args []string) (map[string]int, error) {
	list := []string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			list = append(list, a)
		}
	}
	out, err := exec.Command("go", list...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	tests := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			return nil, err
		}
		tests[name] = 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			tests[name] += len(declared.FindAll(text, -1))
		}
	}
	return tests, nil
}
