package ledger

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// A line begins with the pod that a sorted list of the same pods begins with, whoever joins and leaves.
func TestLineEqualsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n line
		var in []*record
		all := make([]*record, rapid.IntRange(1, 200).Draw(t, "pods"))
		for i := range all {
			all[i] = &record{Pod: Pod{
				UID: UID(fmt.Sprintf("%03d", i)), Created: rapid.Int64Range(0, 50).Draw(t, "created"), Priority: rapid.Int32Range(0, 1).Draw(t, "priority"),
				Role: rapid.SampledFrom([]application.Role{application.None, application.Driver}).Draw(t, "role"),
			}}
		}
		inOrder := rapid.Bool().Draw(t, "created in order")
		for i := range all {
			if inOrder {
				all[i].Created, all[i].Priority, all[i].Role = int64(i), 0, application.None
			}
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			r := all[rapid.IntRange(0, len(all)-1).Draw(t, "pod")]
			if len(in) > 0 && rapid.Bool().Draw(t, "first") {
				r = in[0]
			}
			if r.listed {
				n.remove(r)
				in = slices.DeleteFunc(in, func(o *record) bool { return o == r })
			} else {
				n.push(r)
				in = append(in, r)
				slices.SortFunc(in, func(a, b *record) int {
					if comesFirst(a, b) {
						return -1
					}
					return 1
				})
			}
			if len(in) == 0 {
				n = line{}
				continue
			}
			if got := n.next().record; got != in[0] {
				t.Fatalf("first is %s, want %s", got.UID, in[0].UID)
			}
			if fault := n.check(); fault != "" {
				t.Fatal(fault)
			}
			if n.entries() > 2*len(in)+8 {
				t.Fatalf("%d entries for %d pods", n.entries(), len(in))
			}
		}
	})
}

// comesFirst is the rule in its own words.
func comesFirst(a, b *record) bool {
	switch {
	case a.Role != b.Role:
		return a.Role == application.Driver
	case a.Priority != b.Priority:
		return a.Priority > b.Priority
	case a.Created != b.Created:
		return a.Created < b.Created
	}
	return a.UID < b.UID
}
