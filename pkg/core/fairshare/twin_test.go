package fairshare_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
)

// cases is how many random cases each property of this package is tried on. Together they take about 15
// seconds on two cores; -short asks for rapid's own 100, -rapid.checks for any number.
const cases = "100000"

func TestMain(m *testing.M) {
	flag.Parse()
	stated := testing.Short()
	flag.Visit(func(f *flag.Flag) { stated = stated || f.Name == "rapid.checks" })
	if !stated {
		if err := flag.Set("rapid.checks", cases); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	debug.SetGCPercent(800) // worlds are small and many: collecting them would take a quarter of the time
	os.Exit(m.Run())
}

// The twin raises the level R unit by unit: the next unit goes to the claimant that reaches it at the smallest
// level, (share+1)/weight, and only if at that level the exact shares of all still sum to at most the total.
// It knows no breakpoints and is slow. It is for small numbers.
func twin(total int64, cs []fairshare.Claimant) []int64 {
	out := make([]int64, len(cs))
	left := max(total, 0)
	var rest []int
	for i, c := range cs {
		switch {
		case !c.Active || max(c.Min, c.Max) <= 0:
		case c.Weight <= 0:
			out[i] = max(c.Min, 0)
			left -= out[i]
		default:
			out[i] = max(c.Min, 0)
			rest = append(rest, i)
		}
	}
	for {
		next, num, den := -1, int64(0), int64(1) // the level is num/den
		for _, i := range rest {
			if out[i] >= cs[i].Max {
				continue
			}
			if next < 0 || (out[i]+1)*den < num*cs[i].Weight {
				next, num, den = i, out[i]+1, cs[i].Weight
			}
		}
		if next < 0 {
			return out
		}
		var sum int64
		for _, i := range rest {
			sum += exactShare(cs[i], num, den)
		}
		if sum > left*den {
			return out
		}
		out[next]++
	}
}

// exactShare is weight x num/den between min and max, in units of 1/den.
func exactShare(c fairshare.Claimant, num, den int64) int64 {
	const far = 1 << 30 // beyond any small number, and far from the end of 64 bits
	return max(min(c.Weight*num, min(max(c.Max, c.Min), far)*den), max(c.Min, 0)*den)
}
