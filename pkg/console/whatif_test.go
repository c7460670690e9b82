package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// ask posts a text to the form.
func (s served) ask(text string, change func(*http.Request)) (status int, body string) {
	r := s.request(http.MethodPost, "/whatif", strings.NewReader(url.Values{"yaml": {text}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+r.Host)
	if change != nil {
		change(r)
	}
	status, body, _ = s.do(r)
	return status, body
}

const heavier = "apiVersion: scheduling.fairway.dev/v1alpha1\nkind: Queue\nmetadata: {name: root.busy}\nspec: {weight: \"9\"}\n"

// With weight 9 beside 3, root.busy has three quarters of 200 cores instead of a quarter.
func TestWhatIfShowsBeforeAndAfter(t *testing.T) {
	s := serve(t, dump(t, "scenario-a.yaml"))
	status, body := s.ask(heavier, nil)
	for _, want := range []string{"Queues before and after", "50c 200Gi → 150c 600Gi", "1 → 9", "kubectl apply -f FILE", "data-still", ">root.busy<", `weight: &#34;9&#34;`} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("status %d, and no %q in %s", status, want, body)
		}
	}
	if strings.Contains(body, "CSV") {
		t.Error("an answer has no address, and so no other format")
	}
	checkElements(t, "what if", body)
	if got := s.moments.current().world.Tree(queue.Root).Queues[1]; got.Weight != 1000 {
		t.Errorf("asking has changed the weight to %d", got.Weight)
	}
}

func TestWhatIfRefuses(t *testing.T) {
	s := serve(t, dump(t, "scenario-a.yaml"))
	for name, c := range map[string]struct {
		text   string
		change func(*http.Request)
		status int
		want   string
	}{
		"10 MB":                  {"# " + strings.Repeat("x", 10_000_000), nil, http.StatusRequestEntityTooLarge, "at most 1 MiB"},
		"a little too much":      {strings.Repeat("x", mostYAML), nil, http.StatusRequestEntityTooLarge, "at most 1 MiB"},
		"another origin":         {heavier, header("Origin", "http://evil.example"), http.StatusForbidden, "another page"},
		"no origin":              {heavier, func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden, "another page"},
		"no token":               {heavier, func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized, "Open the address"},
		"a token in the address": {heavier, func(r *http.Request) { r.Header.Del("Cookie"); r.URL.RawQuery = "token=" + s.guard.token }, http.StatusUnauthorized, "Open the address"},
		"no YAML":                {"a: b: c", nil, http.StatusOK, "The API server would refuse this"},
		"an unknown field":       {strings.ReplaceAll(heavier, "weight", "wieght"), nil, http.StatusOK, "spec.wieght: there is no such field"},
		"a weight below 0":       {strings.ReplaceAll(heavier, `"9"`, `"-9"`), nil, http.StatusOK, "spec.weight"},
		"a pod":                  {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n", nil, http.StatusOK, "only Queues and a PlacementPolicy are allowed here"},
		"an alias that explodes": {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n", nil, http.StatusOK, "The API server would refuse this"},
	} {
		status, body := s.ask(c.text, c.change)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: status %d, want %d with %q: %.2000s", name, status, c.status, c.want, body)
		}
		if strings.Contains(body, "Queues before and after") {
			t.Errorf("%s has an answer", name)
		}
	}
}

// The form begins with the Queue as it is declared, without what the API server fills in. That changes nothing.
func TestWhatIfBeginsWithTheQueue(t *testing.T) {
	s := serve(t, dump(t, "scenario-a.yaml"))
	body := s.get(whatIfLink("root.busy"))
	if !strings.Contains(body, "name: root.busy") || strings.Contains(body, "creationTimestamp") {
		t.Error(body)
	}
	text := body[strings.Index(body, "<textarea"):strings.Index(body, "</textarea>")]
	text = text[strings.Index(text, ">")+1:]
	if _, answer := s.ask(text, nil); !strings.Contains(answer, "Nothing would change.") {
		t.Errorf("%q: %s", text, answer)
	}
	if status, _, _ := s.do(s.request(http.MethodGet, whatIfLink("root.none"), nil)); status != http.StatusNotFound {
		t.Errorf("status %d for a queue that is not there", status)
	}
}
