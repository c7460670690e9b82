package writing

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// Named returns the context with a name for its logger.
func Named(ctx context.Context, name string) context.Context {
	return klog.NewContext(ctx, klog.FromContext(ctx).WithName(name))
}

// complaintEvery is how often the same failure may be logged. When an API server is down, thousands of writes fail for
// one reason.
const complaintEvery = time.Minute

// Complaints says which failures to log: the first for each reason, then at most one a minute. The zero value is ready; it is for one
// goroutine.
type Complaints struct {
	kinds map[metav1.StatusReason]*complaint
}

type complaint struct {
	last  time.Time
	quiet int
}

// Due reports whether to log the failure, and how many of its kind were not logged since the last one.
func (c *Complaints) Due(err error, now time.Time) (unmentioned int, due bool) {
	kind := apierrors.ReasonForError(err)
	k := c.kinds[kind]
	if k == nil {
		k = &complaint{last: now.Add(-complaintEvery)}
		if c.kinds == nil {
			c.kinds = map[metav1.StatusReason]*complaint{}
		}
		c.kinds[kind] = k
	}
	if now.Sub(k.last) < complaintEvery {
		k.quiet++
		return 0, false
	}
	unmentioned, k.quiet, k.last = k.quiet, 0, now
	return unmentioned, true
}

// Log logs the failure if it is due. pairs name the object. The end of the context is no failure.
func (c *Complaints) Log(ctx context.Context, now time.Time, err error, what string, pairs ...any) {
	if ctx.Err() != nil {
		return
	}
	if unmentioned, due := c.Due(err, now); due {
		klog.FromContext(ctx).Error(err, what, append(pairs, "unmentioned", unmentioned)...)
	}
}
