package feed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/dump"
)

var ours = []string{"fairway"}

// plainly decodes a dump as one would without a thought of its size: the List, then each item into its type.
func plainly(r io.Reader) (kept []any, err error) {
	d := yaml.NewYAMLOrJSONDecoder(r, 4096)
	for {
		var list struct {
			Items []apiruntime.RawExtension `json:"items"`
		}
		if err := d.Decode(&list); errors.Is(err, io.EOF) {
			return kept, nil
		} else if err != nil {
			return nil, err
		}
		for i := range list.Items {
			var kind struct {
				Kind string `json:"kind"`
			}
			raw := list.Items[i].Raw
			if err := utiljson.Unmarshal(raw, &kind); err != nil {
				return nil, err
			}
			var o, into any
			switch kind.Kind {
			case "Pod":
				p := &v1.Pod{}
				o, into = p, p
			case "Node":
				n := &v1.Node{}
				o, into = n, n
			default:
				u := &unstructured.Unstructured{}
				o, into = u, &u.Object
			}
			if err := utiljson.Unmarshal(raw, into); err != nil {
				return nil, err
			}
			kept = append(kept, o)
		}
	}
}

// cost is what a piece of work takes.
type cost struct {
	took      time.Duration // of the processors, which what else runs on a machine disturbs least
	allocated uint64        // bytes
	peak      uint64        // of the heap
	kept      uint64        // bytes that its result holds
}

func costOf(tb testing.TB, work func() (any, error)) cost {
	tb.Helper()
	runtime.GC()
	var before, after, kept runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), make(chan uint64)
	go watchHeap(stop, peak)
	start := processorTime(tb)
	result, err := work()
	c := cost{took: processorTime(tb) - start}
	close(stop)
	c.peak = max(<-peak, before.HeapAlloc) - before.HeapAlloc
	if err != nil {
		tb.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	c.allocated = after.TotalAlloc - before.TotalAlloc
	runtime.GC()
	runtime.ReadMemStats(&kept)
	c.kept = kept.HeapAlloc - before.HeapAlloc
	runtime.KeepAlive(result)
	return c
}

func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func watchHeap(stop chan struct{}, peak chan uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	top := uint64(0)
	for {
		metrics.Read(s)
		top = max(top, s[0].Value.Uint64())
		select {
		case <-stop:
			peak <- top
			return
		case <-tick.C:
		}
	}
}

// BenchmarkPicture compares the way from a dump to all that `tree` shows with a plain decoding of the dump, and with our own.
func BenchmarkPicture(b *testing.B) {
	for _, size := range []dump.Size{{Queues: 1000, Nodes: 100, Pods: 10000}, {Queues: 10000, Nodes: 1000, Pods: 100000}} {
		for _, format := range []dump.Format{dump.JSON, dump.YAML} {
			b.Run(fmt.Sprintf("%s/pods=%d", format, size.Pods), func(b *testing.B) {
				path := writeDump(b, size, format)
				for b.Loop() {
					comparePicture(b, path, size.Pods <= 10000)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// comparePicture leaves the plain decoding out where a machine may not have the memory for it: some twenty times the dump.
func comparePicture(b *testing.B, path string, all bool) {
	b.Helper()
	decode := costOf(b, func() (any, error) { return fromFile(path, readDump) })
	tree := costOf(b, func() (any, error) { return fromFile(path, picture) })
	compared := map[string]cost{"decode": decode}
	if all {
		compared["plain"] = costOf(b, func() (any, error) { return fromFile(path, plainly) })
	}
	for name, c := range compared {
		b.ReportMetric(tree.took.Seconds()/c.took.Seconds(), "time/"+name)
		b.ReportMetric(float64(tree.allocated)/float64(c.allocated), "alloc/"+name)
		b.ReportMetric(float64(tree.peak)/float64(c.peak), "peak/"+name)
	}
	compared["tree"] = tree
	for name, c := range compared {
		b.ReportMetric(c.took.Seconds(), name+"-s")
		b.ReportMetric(float64(c.allocated)/1e6, name+"-MB")
		b.ReportMetric(float64(c.peak)/1e6, name+"-peak-MB")
		b.ReportMetric(float64(c.kept)/1e6, name+"-kept-MB")
	}
}

func writeDump(tb testing.TB, size dump.Size, format dump.Format) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "dump")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if err := dump.Write(f, size, format); err != nil {
		tb.Fatal(err)
	}
	return path
}

func fromFile[T any](path string, work func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return work(f)
}

func readDump(r io.Reader) (*objects.Set, error) { return objects.Read("dump", r) }

// picture is what a command holds once it can show something.
func picture(r io.Reader) (any, error) {
	set, err := readDump(r)
	if err != nil {
		return nil, err
	}
	l := Rebuild(set, ours, set.Newest(), ledger.Options{})
	return []any{set, l, l.Snapshot()}, nil
}
