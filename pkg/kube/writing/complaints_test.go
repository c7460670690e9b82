package writing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

func TestComplaintsAreMadeOncePerReasonAndMinute(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	forbidden := apierrors.NewForbidden(resource, "a", errors.New("no"))
	var c Complaints
	now := time.Unix(0, 0)
	expect := func(err error, unmentioned int, due bool) {
		t.Helper()
		if n, d := c.Due(err, now); n != unmentioned || d != due {
			t.Errorf("at %v: got %d, %v, want %d, %v", now, n, d, unmentioned, due)
		}
	}
	expect(forbidden, 0, true)
	expect(forbidden, 0, false)
	expect(apierrors.NewForbidden(resource, "b", errors.New("no")), 0, false)
	expect(errors.New("connection refused"), 0, true)
	now = now.Add(time.Minute)
	expect(forbidden, 2, true)
	expect(forbidden, 0, false)
}

func TestComplaintsLogWhatIsDueUntilTheContextEnds(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	var c Complaints
	now := time.Unix(0, 0)
	c.Log(ctx, now, errors.New("refused"), "It is tried again", "pod", "a")
	c.Log(ctx, now, errors.New("refused"), "It is tried again", "pod", "b")
	now = now.Add(time.Minute)
	c.Log(ctx, now, errors.New("refused"), "It is tried again", "pod", "c")
	cancel()
	c.Log(ctx, now.Add(time.Minute), errors.New("canceled"), "It is tried again", "pod", "d")
	want := []string{
		`"msg"="It is tried again" "error"="refused" "pod"="a" "unmentioned"=0`,
		`"msg"="It is tried again" "error"="refused" "pod"="c" "unmentioned"=1`,
	}
	if !slices.EqualFunc(lines, want, strings.HasSuffix) {
		t.Errorf("got %q", lines)
	}
}
