package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// refused is the error about files that the API server would refuse. unread: there is no answer but this.
type refused struct {
	problems []objects.Problem
	unread   bool
}

func (r *refused) Error() string {
	count := "1 problem"
	if n := len(r.problems); n != 1 {
		count = strconv.Itoa(n) + " problems"
	}
	var files []string
	for _, p := range r.problems {
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	if r.unread {
		return count + " in " + strings.Join(files, ", ") + ", so there is no answer"
	}
	return count + " in " + strings.Join(files, ", ") + ": the answer is about what can be read of it"
}

// lines are the problems, one in each.
func (r *refused) lines() string {
	var text strings.Builder
	for i := range r.problems {
		text.WriteString(bounded(reason.Printable(report.FileProblem(r.problems[i]).String())) + "\n")
	}
	return text.String()
}

// noAnswer makes an error of all that is wrong with files, if err is about a place in one; any other error stays as it is.
func noAnswer(err error, before ...objects.Problem) error {
	var p *objects.Problem
	switch {
	case err == nil && len(before) > 0:
		return &refused{before, true}
	case !errors.As(err, &p):
		return err
	case slices.Contains(before, *p):
		return &refused{before, true}
	}
	return &refused{append(before, *p), true}
}

// answer prints a document about files, and what is wrong with these.
func (o *options) answer(d report.Document, now time.Time, problems []objects.Problem) error {
	d = judged(d, problems)
	if len(problems) == 0 {
		return o.print(d, now)
	}
	r := &refused{problems: problems}
	fmt.Fprint(o.Err, r.lines())
	return errors.Join(o.print(d, now), r)
}

func judged(d report.Document, problems []objects.Problem) report.Judged {
	return report.Judged{Document: d, Problems: fileProblems(problems)}
}

// refuse prints why there is no answer. Programs get it as they get an answer. If files have problems, these may be why.
func (o *options) refuse(err error, problems ...objects.Problem) error {
	var r *refused
	switch {
	case errors.As(err, &r):
	case len(problems) > 0:
		r = &refused{problems, true}
		err = fmt.Errorf("%w; %w", err, r)
	default:
		return err
	}
	fmt.Fprint(o.Err, r.lines())
	if !o.forPrograms() {
		return err
	}
	return errors.Join(o.print(judged(nil, r.problems), o.Now()), err)
}

func (o *options) forPrograms() bool { return o.output.value == "json" || o.output.value == "yaml" }

// ofPolicy is what is wrong with a PlacementPolicy that the API server would take, and that puts no policy in force.
func ofPolicy(set *objects.Set) []objects.Problem {
	if set.PlacementPolicy == nil {
		return nil
	}
	rules := convert.PlacementPolicy(set.PlacementPolicy)
	if rules.Problem == nil || rules.Spec != nil {
		return nil
	}
	return []objects.Problem{set.PolicyProblem(rules.Problem)}
}
