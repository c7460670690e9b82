package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit of CPU time in /proc: USER_HZ, 100 a second on every architecture Linux runs on today.
const tick = 10 * time.Millisecond

// cpuTime is the CPU time, of user and system, that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := process.Stat()
	return time.Duration(stat.UTime+stat.STime) * tick, err
}

// peakMemory is the largest resident set a process has had, in bytes.
func peakMemory(pid int) (uint64, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	status, err := process.NewStatus()
	if err == nil && status.VmHWM == 0 { // as of a process that is gone but not reaped
		err = fmt.Errorf("process %d has no memory", pid)
	}
	return status.VmHWM, err
}

// cpuTimes is the sum over several processes.
func cpuTimes(pids ...int) (sum time.Duration, err error) {
	for _, pid := range pids {
		used, err := cpuTime(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// machineTime is CPU time of the whole machine since it started: all that has passed, on all CPUs, and what programs had of it.
type machineTime struct{ total, programs time.Duration }

func readMachineTime() (machineTime, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return machineTime{}, err
	}
	stat, err := proc.Stat()
	return machineTimeOf(stat.CPUTotal), err
}

// machineTimeOf leaves interrupts out of what programs had: those of the loopback interface are our own. Steal is what a hypervisor gave to
// others. Guests are part of user and nice.
func machineTimeOf(s procfs.CPUStat) machineTime {
	programs := s.User + s.Nice + s.System + s.Steal
	inSeconds := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)).Round(tick) }
	return machineTime{total: inSeconds(programs + s.Idle + s.Iowait + s.IRQ + s.SoftIRQ), programs: inSeconds(programs)}
}

// idleWindow is how long a process must do next to nothing to count as idle, idleUse what is next to nothing.
const (
	idleWindow = 500 * time.Millisecond
	idleUse    = 50 * time.Millisecond
)

// awaitIdle waits until processes together are idle. Those that are not within the limit have something to do all the time; that is no
// error, and waiting longer would not help.
func awaitIdle(ctx context.Context, limit time.Duration, pids ...int) error {
	deadline := time.Now().Add(limit)
	before, err := cpuTimes(pids...)
	for err == nil && time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(idleWindow):
		}
		var now time.Duration
		if now, err = cpuTimes(pids...); now-before <= idleUse {
			return err
		}
		before = now
	}
	return err
}

// machine describes where the numbers come from.
type machine struct {
	CPUs   int     `json:"cpus"`
	Model  string  `json:"model"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Load   float64 `json:"loadBefore"`
}

// describeMachine also refuses where there is no /proc as on Linux.
func describeMachine() (machine, error) {
	m := machine{CPUs: runtime.NumCPU(), Go: runtime.Version()}
	if runtime.GOOS != "linux" {
		return m, errors.New("CPU time and memory are read from /proc: this benchmark runs on Linux only")
	}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return m, err
	}
	kernel, err1 := proc.SysctlStrings("kernel.osrelease")
	load, err2 := proc.LoadAvg()
	cpuinfo, err3 := os.ReadFile("/proc/cpuinfo")
	if err := errors.Join(err1, err2, err3); err != nil {
		return m, err
	}
	m.Kernel, m.Load, m.Model = strings.Join(kernel, " "), load.Load1, modelName(string(cpuinfo))
	return m, nil
}

// modelName reads what procfs reads only where it is compiled for Linux: this package compiles everywhere.
func modelName(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
