package main

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestCPUTimeIsReadBehindTheName(t *testing.T) {
	for _, c := range []struct {
		stat string
		want time.Duration
	}{
		{"42 (kube-scheduler) S 1 42 42 0 -1 4194304 900 0 0 0 1234 66 7 8 20 0 14 0 99 100 200", 13 * time.Second},
		{"42 (a) (b) S 9 9) R 1 42 42 0 -1 4194304 900 0 0 0 1 2 7 8 20 0", 30 * time.Millisecond},
	} {
		if got, err := parseCPU(c.stat); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.stat, got, err)
		}
	}
	for _, bad := range []string{"", "42 (x) S 1 2", "42 x S 1 42 42 0 -1 4194304 900 0 0 0 1 2", "42 (x) S 1 42 42 0 -1 4194304 900 0 0 0 u s 7"} {
		if got, err := parseCPU(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestPeakIsTheHighWaterMark(t *testing.T) {
	const status = "Name:\tkube-scheduler\nVmPeak:\t 9999999 kB\nVmHWM:\t  102400 kB\nVmRSS:\t   51200 kB\n"
	if got, err := parsePeak(status); err != nil || got != 100<<20 {
		t.Errorf("%d, %v", got, err)
	}
	// A process that is gone but not reaped has no such line.
	if got, err := parsePeak("Name:\tkube-scheduler\nState:\tZ (zombie)\n"); err == nil {
		t.Errorf("a zombie has a peak of %d", got)
	}
}

func TestMachineTimeCountsProgramsNotInterrupts(t *testing.T) {
	const stat = "cpu  100 20 30 5000 700 8 9 40 50 60\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
	got, err := parseMachineTime(stat)
	want := machineTime{total: (100 + 20 + 30 + 5000 + 700 + 8 + 9 + 40) * tick, programs: (100 + 20 + 30 + 40) * tick}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu a b c d e f g h\n"} {
		if got, err := parseMachineTime(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func TestForeignIsWhatOursDoNotExplain(t *testing.T) {
	from := meters{child: time.Second, servers: time.Second, machine: machineTime{total: 100 * time.Second, programs: 50 * time.Second}}
	to := meters{
		child: 3 * time.Second, servers: 4 * time.Second, harness: time.Second,
		machine: machineTime{total: 120 * time.Second, programs: 60 * time.Second},
	}
	if got := foreign(from, to); got != 0.2 { // 10 of 20 were used, 2+3+1 by us
		t.Errorf("got %v", got)
	}
	if got := foreign(from, from); got != 0 {
		t.Errorf("no time: %v", got)
	}
}

func TestOwnMetersRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		now, err := cpuTime(os.Getpid())
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("a busy loop used %v from %v on, %v", now, before, err)
		}
		if now > before+5*tick {
			break
		}
	}
	if peak, err := peakMemory(os.Getpid()); err != nil || peak < 1<<20 {
		t.Errorf("a peak of %d bytes, %v", peak, err)
	}
	if err := awaitIdle(context.Background(), 0, os.Getpid()); err != nil {
		t.Errorf("no time to wait: %v", err)
	}
	if m, err := describeMachine(); err != nil || m.CPUs == 0 || m.Kernel == "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestModelName(t *testing.T) {
	if got := modelName("processor\t: 0\nmodel name\t: Some CPU @ 2: fast\n"); got != "Some CPU @ 2: fast" {
		t.Errorf("got %q", got)
	}
	if got := modelName("processor\t: 0\n"); got != "" {
		t.Errorf("got %q", got)
	}
}
