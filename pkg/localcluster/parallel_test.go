package localcluster

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

func TestInParallelCallsAllAndNamesAFewErrors(t *testing.T) {
	for _, tc := range []struct {
		n, failing int
		want       string
	}{
		{0, 0, "<nil>"},
		{10, 0, "<nil>"},
		{10, 1, "call 0"},
		{10, 3, "call 0\ncall 1\ncall 2"},
		{10, 5, "call 0\ncall 1\ncall 2\nand 2 more"},
	} {
		var calls atomic.Int64
		refused := errors.New("call")
		err := InParallel(tc.n, 4, func(i int) error {
			calls.Add(1)
			if i < tc.failing {
				return fmt.Errorf("%w %d", refused, i)
			}
			return nil
		})
		if got := fmt.Sprint(err); got != tc.want || int(calls.Load()) != tc.n || errors.Is(err, refused) != (tc.failing > 0) {
			t.Errorf("%d of %d fail: %d calls, error %q", tc.failing, tc.n, calls.Load(), got)
		}
	}
}
