package simulator

import (
	"flag"
	"fmt"
	"testing"
)

var (
	seedFlag = flag.Uint64("seed", 0, "run this seed only")
	runsFlag = flag.Uint64("runs", 0, "number of random runs, instead of the test's own")
)

// seeds calls run for every seed, on two goroutines, and prints how to repeat one that failed.
func seeds(t *testing.T, runs uint64, run func(seed uint64, o Options) error) {
	if *runsFlag != 0 {
		runs = *runsFlag
	}
	if *seedFlag != 0 {
		if err := run(*seedFlag, options(*seedFlag)); err != nil {
			t.Fatal(err)
		}
		return
	}
	const shards = 2
	for shard := range uint64(shards) {
		t.Run(fmt.Sprintf("shard=%d", shard), func(t *testing.T) {
			t.Parallel()
			for seed := shard + 1; seed <= runs; seed += shards {
				if err := run(seed, options(seed)); err != nil {
					t.Fatalf("%v\ngo test ./pkg/simulator -run %s -seed=%d", err, t.Name()[:len(t.Name())-len("/shard=0")], seed)
				}
			}
		})
	}
}

// options: one run in ten is audited after every step. An audit makes the ledger settle, so fewer audits find other mistakes.
func options(seed uint64) Options {
	if seed%10 == 0 {
		return Options{Every: 1}
	}
	return Options{Every: 20}
}

func TestTheBooksStayRightWhateverHappens(t *testing.T) {
	seeds(t, 2000, func(seed uint64, o Options) error {
		w := New(seed, o)
		if err := w.Run(300); err != nil {
			return err
		}
		return w.Close(20000)
	})
}
