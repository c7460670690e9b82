// Package writing holds what the writers of this floor have in common: the name they write under, the loop and its pace, the pause after a
// failure, and how often a failure is worth a line in the log.
//
// In: options, errors, functions that write, and statuses with the client that writes them. Out: loops, limiters, pauses, log lines, and what a server
// answered. It has no client of its own, and reads only the clock that it is given.
package writing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// FieldManager is the name under which the scheduler owns what it writes.
const FieldManager = "fairway-scheduler"

// Timeout bounds one request. An API server that does not answer within it is treated as one that failed.
const Timeout = 10 * time.Second

// AtOnce bounds the requests under way.
const AtOnce = 4

// Send makes writes, a few at a time, and then passes the result of each to note, one after the other. If the context
// has ended, it passes none: some were not even tried.
func Send[T any](ctx context.Context, due []T, write func(context.Context, T) (*unstructured.Unstructured, error),
	note func(context.Context, T, *unstructured.Unstructured, error)) {
	answers, errs := make([]*unstructured.Unstructured, len(due)), make([]error, len(due))
	workqueue.ParallelizeUntil(ctx, AtOnce, len(due), func(i int) { answers[i], errs[i] = write(ctx, due[i]) })
	if ctx.Err() != nil {
		return
	}
	for i, d := range due {
		note(ctx, d, answers[i], errs[i])
	}
}

// IsForAnother reports whether a patch that states a UID met another object with the same name. The API server answers
// that a UID cannot be changed.
func IsForAnother(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// cutMark ends a text that was cut.
const cutMark = "..."

// Cut makes a text printable and shortens it to at most limit bytes, whole characters: sentences may quote what a user wrote, which has no
// bound and may hold anything.
func Cut(text string, limit int) string {
	text = reason.Printable(text)
	if len(text) <= limit {
		return text
	}
	return strings.TrimRight(reason.Beginning(text, limit-len(cutMark)), " ") + cutMark
}
