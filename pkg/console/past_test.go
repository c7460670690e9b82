package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/world"
)

// The tree of an earlier moment is the one that was shown then; it does not change while it is looked at.
func TestThePastIsShownAsItWas(t *testing.T) {
	set := dump(t, "scenario-a.yaml")
	s := serve(t, set)
	if body := s.get("/queues"); strings.Contains(body, `type="range"`) {
		t.Error("one moment is nothing to choose from")
	}
	began := set.Newest()
	fewer := *set
	fewer.Pods = slices.DeleteFunc(slices.Clone(set.Pods), func(o *corev1.Pod) bool { return o.Namespace == "day" })
	s.moments.publish(&moment{look: &look{world: world.New(&fewer, []string{"fairway"}, began.Add(time.Minute))}})
	if body := s.get("/queues"); !strings.Contains(body, `type="range"`) || strings.Contains(body, "<td>180c 720Gi</td>") || strings.Contains(body, "data-still") {
		t.Errorf("the present: %s", body)
	}
	body := s.get("/queues?at=" + strconv.FormatInt(began.Unix()+30, 10))
	for _, want := range []string{"<td>180c 720Gi</td>", "data-still", "the past", `value="` + strconv.FormatInt(began.Unix(), 10) + `"`, "starved"} {
		if !strings.Contains(body, want) {
			t.Errorf("the past has no %q: %s", want, body)
		}
	}
	for _, odd := range []string{"-1", "0", "x", "99999999999999999999", "9223372036854775807"} {
		if status, _, _ := s.do(s.request(http.MethodGet, "/queues?at="+odd, nil)); status != http.StatusOK {
			t.Errorf("at %s: status %d", odd, status)
		}
	}
	page := s.get("/queue?name=root.busy")
	if !strings.Contains(page, `<polyline class="allocated" points="0,20 1000,200"/>`) { // 90% of the height, then nothing
		t.Errorf("no course of root.busy: %s", page)
	}
	csv := s.get("/queue?name=root.busy&format=csv&table=history")
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 3 || !strings.Contains(lines[2], "cpu=180 memory=720Gi") {
		t.Errorf("%q", lines)
	}
}
