package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

func TestMachineTimeCountsProgramsNotInterrupts(t *testing.T) {
	got := machineTimeOf(procfs.CPUStat{
		User: 1.00, Nice: .20, System: .30, Idle: 50, Iowait: 7, IRQ: .08, SoftIRQ: .09, Steal: .40, Guest: .50, GuestNice: .10,
	})
	want := machineTime{total: (100 + 20 + 30 + 5000 + 700 + 8 + 9 + 40) * tick, programs: (100 + 20 + 30 + 40) * tick}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAProcessThatIsGoneHasNoPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	zombie := exec.Command(os.Args[0], "-test.run=^$")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zombie.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		peak, err := peakMemory(zombie.Process.Pid)
		if err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a process that has ended has a peak of %d bytes", peak)
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
