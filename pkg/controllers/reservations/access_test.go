package reservations

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	coreaccess "github.com/fairway-scheduler/fairway/pkg/core/access"
)

// authorizer grants what is in yes, and notes what it is asked.
type authorizer struct {
	yes   map[string]bool // "USER VERB QUEUE"
	asked []string
	fail  error
}

func (a *authorizer) review(_ context.Context, who coreaccess.Subject, what coreaccess.Grant) (bool, error) {
	question := strings.Join([]string{who.User, string(what.Verb), string(what.Queue)}, " ")
	a.asked = append(a.asked, question)
	return a.yes[question], a.fail
}

func newCheckedWorld(t *testing.T) (*world, *authorizer) {
	w, a := newWorld(t), &authorizer{yes: map[string]bool{}}
	w.c.o.Review = a.review
	w.to(0, "+default")
	return w, a
}

// reserveAs creates a Reservation with the stamp of a user.
func (w *world) reserveAs(user, name string, cores int) {
	w.reserve(name, cores)
	u := w.server["ns/"+name].DeepCopy()
	u.SetAnnotations(map[string]string{v1alpha1.KeyUser: user})
	w.put(u)
	w.show()
}

// Anyone who may neither reserve in the queue nor administer it is refused, and each grant is asked for once.
func TestAUserWhoMayNotReserveIsRefused(t *testing.T) {
	w, a := newCheckedWorld(t)
	w.reserveAs("ann", "night", 6)
	w.to(1, "")
	w.says("night", "Rejected Accepted=False ReserveForbidden")
	want := []string{"ann reserve root", "ann reserve root.plan", "ann administer root", "ann administer root.plan"}
	if w.to(100, ""); !slices.Equal(a.asked, want) {
		t.Errorf("asked %q", a.asked)
	}
	if got := w.events(); len(got) != 1 || got[0] != "Warning Rejected user ann may not reserve in queue root.plan: this takes the verb reserve or administer "+
		"on queues.scheduling.fairway.dev, for root.plan or a queue above it" {
		t.Errorf("%q", got)
	}
}

// Each of the verbs suffices, on the queue or above; without a stamp, that of the default service account.
func TestAUserWhoMayReserveIsAccepted(t *testing.T) {
	for _, grant := range []string{"ann reserve root", "ann reserve root.plan", "ann administer root", "ann administer root.plan"} {
		w, a := newCheckedWorld(t)
		a.yes[grant] = true
		w.reserveAs("ann", "night", 1)
		w.reserveAs("bob", "other", 1)
		w.to(1, "")
		w.says("night", "Accepted Accepted=True Reserved")
		w.says("other", "Rejected Accepted=False ReserveForbidden")
	}
	w, a := newCheckedWorld(t)
	a.yes["system:serviceaccount:ns:default reserve root.plan"] = true
	w.reserve("night", 1)
	w.to(1, "")
	w.says("night", "Accepted Accepted=True Reserved")
}

// As long as nobody answers, nothing is decided, and nobody else has to wait.
func TestUnansweredItWaits(t *testing.T) {
	w, a := newCheckedWorld(t)
	a.yes["ann reserve root"], a.fail = true, errors.New("down")
	w.reserveAs("ann", "night", 6)
	w.to(1, "")
	if phase, _, _ := unstructured.NestedString(w.server["ns/night"].Object, "status", "phase"); phase == "Accepted" || phase == "Rejected" {
		t.Errorf("it is %s", phase)
	}
	a.fail = nil
	w.to(20, "")
	w.says("night", "Accepted Accepted=True Reserved")
}

// What was accepted stays so when the grant goes. A spec that is new is asked about again, and the old one stays in force.
func TestEachSpecIsAskedAboutOnce(t *testing.T) {
	w, a := newCheckedWorld(t)
	a.yes["ann reserve root"] = true
	w.reserveAs("ann", "night", 6)
	w.to(1, "")
	clear(a.yes)
	w.to(2, "")
	w.says("night", "Accepted Accepted=True Reserved")
	u := w.server["ns/night"].DeepCopy()
	requests, _, _ := unstructured.NestedSlice(u.Object, "spec", "requests")
	requests[0].(map[string]any)["pods"] = int64(7)
	_ = unstructured.SetNestedSlice(u.Object, requests, "spec", "requests")
	u.SetGeneration(2)
	w.put(u)
	w.show()
	w.to(3, "")
	w.says("night", "Accepted Accepted=False ReserveForbidden")
	w.to(100-lead, "+ns-night(6)")
}

// Another stamp is another user, also before anything was decided.
func TestAnotherStampIsAskedAboutAgain(t *testing.T) {
	w, a := newCheckedWorld(t)
	a.yes["ann reserve root"] = true
	plan := w.server["root.plan"].DeepCopy()
	w.server["root.plan"].Object["spec"] = map[string]any{}
	w.show()
	w.reserveAs("ann", "night", 6)
	w.to(1, "-default")
	w.says("night", "Pending Accepted=False QueueNotReservable")
	u := w.server["ns/night"].DeepCopy()
	u.SetAnnotations(map[string]string{v1alpha1.KeyUser: "bob"})
	w.put(u)
	w.put(plan)
	w.show()
	w.to(2, "+default")
	w.says("night", "Rejected Accepted=False ReserveForbidden")
}
