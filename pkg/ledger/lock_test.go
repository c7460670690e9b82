package ledger

import (
	"sync/atomic"
	"testing"
)

// A caller that has to wait reads the clock once before and once after; one that does not, never.
func TestWaitsForTheLockAreMeasured(t *testing.T) {
	waiting, readings := make(chan struct{}), atomic.Int64{}
	l := New(Options{Clock: func() int64 {
		if readings.Add(1) == 1 {
			close(waiting)
			return 100
		}
		return 350
	}})
	l.Version()
	if n, ns := l.LockWaits(); n != 0 || ns != 0 || readings.Load() != 0 {
		t.Fatalf("nobody waited: %d waits, %d ns, the clock was read %d times", n, ns, readings.Load())
	}

	l.mu.Lock()
	done := make(chan struct{})
	go func() {
		l.Version()
		close(done)
	}()
	<-waiting // it found the lock taken
	l.mu.Unlock()
	<-done
	if n, ns := l.LockWaits(); n != 1 || ns != 250 || readings.Load() != 2 {
		t.Errorf("%d waits, %d ns, %d readings; want 1, 250, 2", n, ns, readings.Load())
	}
}

// BenchmarkFreeLock is what the measuring costs where nobody waits; compare with BenchmarkPlainMutex.
func BenchmarkFreeLock(b *testing.B) {
	k := lock{clock: func() int64 { return 0 }}
	for b.Loop() {
		k.Lock()
		k.Unlock() //nolint:staticcheck // the empty section is what is measured
	}
}

func BenchmarkPlainMutex(b *testing.B) {
	var k lock
	for b.Loop() {
		k.Mutex.Lock()
		k.Mutex.Unlock() //nolint:staticcheck // the empty section is what is measured
	}
}

func TestAReleaseSaysWhenThePodWasMadeAndWhetherItIsTheFirst(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "root.a", func(p *Pod) { p.Created = 7 })
	for i, first := range []bool{true, false} {
		r, ok := f.Choose(f.now)
		if !ok || r.Created != 7 || r.First != first || f.Releases() != uint64(i+1) {
			t.Fatalf("release %d: %+v, %d releases; want one of a pod made at 7, first %v", i+1, r, f.Releases(), first)
		}
		f.Fail("p", Refused, f.now)
	}
}
