package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc: USER_HZ, 100 a second on every architecture Linux runs on today.
const tick = 10 * time.Millisecond

var errProc = errors.New("not as Linux writes it")

// cpuTime is the CPU time, of user and system, that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "stat")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	used, err := parseCPU(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return used, nil
}

// parseCPU reads utime and stime, fields 14 and 15 of /proc/PID/stat. The second field is the program's name in parentheses, which may
// itself contain anything.
func parseCPU(stat string) (time.Duration, error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	const utime, stime = 14 - 3, 15 - 3
	if end < 0 || len(fields) <= stime {
		return 0, errProc
	}
	user, err1 := strconv.ParseInt(fields[utime], 10, 64)
	system, err2 := strconv.ParseInt(fields[stime], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, errProc
	}
	return time.Duration(user+system) * tick, nil
}

// peakMemory is the largest resident set a process has had, in bytes.
func peakMemory(pid int) (int64, error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "status")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	peak, err := parsePeak(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return peak, nil
}

func parsePeak(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" && fields[2] == "kB" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, errProc
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
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machineTime{}, err
	}
	m, err := parseMachineTime(string(text))
	if err != nil {
		return m, fmt.Errorf("/proc/stat: %w", err)
	}
	return m, nil
}

// parseMachineTime reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal (time that a hypervisor gave
// to others), and what is part of these. Interrupts are left out of what programs had: those of the loopback interface are our own.
func parseMachineTime(stat string) (m machineTime, err error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return m, errProc
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return m, errProc
		}
		m.total += time.Duration(ticks) * tick
		if i <= 2 || i == 7 {
			m.programs += time.Duration(ticks) * tick
		}
	}
	return m, nil
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

// loadAverage is the number of processes that wanted to run during the last minute.
func loadAverage() (float64, error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	return strconv.ParseFloat(first, 64)
}

// machine describes where the numbers come from.
type machine struct {
	CPUs   int     `json:"cpus"`
	Model  string  `json:"model"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Load   float64 `json:"loadBefore"`
}

func modelName(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
