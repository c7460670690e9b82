package localcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/util/workqueue"
)

// InParallel calls do for 0 to n-1, so many at a time, and returns the first few errors: if a server is gone,
// all errors are the same.
func InParallel(n, workers int, do func(int) error) error {
	const told = 3
	errs := make([]error, n)
	workqueue.ParallelizeUntil(context.Background(), workers, n, func(i int) { errs[i] = do(i) })
	failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(failed) > told {
		return fmt.Errorf("%w\nand %d more", errors.Join(failed[:told]...), len(failed)-told)
	}
	return errors.Join(failed...)
}
