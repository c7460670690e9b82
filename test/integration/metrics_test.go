package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// monitoring is where the dashboard and the alert rules are.
var monitoring = filepath.Join("..", "..", "manifests", "monitoring")

// target is what Prometheus adds to every series of a scrape.
var target = map[string]string{"job": "fairway-scheduler", "instance": "10.0.0.1:10259"}

// The types below are the wire format of hack/promql, as far as this test needs it.
type (
	promScrape struct {
		Time   int64             `json:"time"`
		Labels map[string]string `json:"labels"`
		Text   string            `json:"text"`
		Down   bool              `json:"down"`
	}
	promQuery struct {
		Name string `json:"name"`
		Expr string `json:"expr"`
	}
	promRequest struct {
		Scrapes []promScrape `json:"scrapes"`
		Rules   string       `json:"rules"`
		Queries []promQuery  `json:"queries"`
		At      int64        `json:"at"`
	}
	promResult struct {
		Name, Expr, Error string
		Samples           []promSample
	}
	promSample struct {
		Labels, Annotations map[string]string
		Value               string
	}
	promAlert struct {
		promResult
		For                 string
		Labels, Annotations map[string]string
		Bare                promResult
	}
	promAnswer struct {
		Queries []promResult
		Alerts  []promAlert
		Errors  []string
	}
)

// ask has Prometheus' own engine answer.
func ask(t *testing.T, r promRequest) (answer promAnswer) {
	t.Helper()
	if out, err := exec.Command(filepath.Join("..", "..", "hack", "build-promql.sh")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join("..", "..", "bin", "tools", "promql"))
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(request), &said
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	return answer
}

func scrapePage(t *testing.T) string {
	t.Helper()
	answer := httptest.NewRecorder()
	legacyregistry.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// twoScrapes are two pages of a scheduler at work, as if a minute lay between them: queue root.a is at its max, root.b below its guarantee on
// a full cluster, root.lost.child has no parent. Of 4 GPUs root.g is guaranteed 2 and root.fair.f 1; both use cpu alone, and root.a has all GPUs. The parent
// of root.fair.f looks at memory, so this guarantee does not count.
func twoScrapes(t *testing.T) []promScrape {
	w := newWorldAlone(t, 1, "10", "32Gi")
	changeStatus(&failing{world: w}, nodeNamed("node-0"), func(n *v1.Node) {
		n.Status.Capacity[gpus] = resource.MustParse("4")
		n.Status.Allocatable[gpus] = n.Status.Capacity[gpus]
	})
	w.queue("root.a max.cpu=2 max.memory=30Gi")
	w.queue("root.b guaranteed.cpu=8 guaranteed.memory=1Gi")
	w.queue("root.lost.child")
	w.queue("root.g guaranteed.nvidia.com/gpu=2")
	w.queue("root.fair weight=100 policy=Fair")
	w.queue("root.fair.f policy=Fair guaranteed.nvidia.com/gpu=1")
	w.queue("root.c weight=0")
	w.queue("root.c.x capacity=50% maxCapacity=60% defaultPriority=3")
	w.queue("root.c.y capacity=50%")
	w.state("root.c", v1alpha1.QueueStopped)
	w.scheduler(ledger.Options{})
	w.create(
		askingGPUs("2", pod("a0", "root.a", "1", "1Gi")), pod("b0", "root.b", "3", "1Gi"),
		pod("g0", "root.g", "1", "1Gi"), pod("f0", "root.fair.f", "1", "1Gi"))
	w.untilBound(4)
	first := scrapePage(t)
	for i := 1; i < 4; i++ {
		w.create(askingGPUs("2", pod(fmt.Sprint("a", i), "root.a", "1", "1Gi")), pod(fmt.Sprint("b", i), "root.b", "3", "1Gi"))
	}
	w.untilBound(6)
	for i := 1; i < 3; i++ {
		w.create(askingGPUs("1", pod(fmt.Sprint("g", i), "root.g", "1", "1Gi")), askingGPUs("1", pod(fmt.Sprint("f", i), "root.fair.f", "1", "1Gi")))
	}
	var second string
	w.until("the page shows what waits, runs and is wrong", func() (bool, string) {
		second = scrapePage(t)
		for _, line := range []string{
			`fairway_waiting_pods{reason="MaxResources"} 2`, `fairway_queue_pods{queue="root.a",state="running"} 2`,
			`fairway_queue_pods{queue="root.b",state="running"} 2`, `fairway_queue_pods{queue="root.b",state="pending"} 2`,
			`fairway_queue_pods{queue="root.g",state="pending"} 2`, `fairway_queue_pods{queue="root.fair.f",state="pending"} 2`,
			`fairway_binds_total 6`, `fairway_pod_bind_duration_seconds_count{queue="root.a"} 2`,
			`fairway_pod_release_duration_seconds_count{queue="root.a"} 2`, `fairway_queue_problems{queue="root.lost.child",reason="ParentMissing"} 1`,
		} {
			if !strings.Contains(second, line+"\n") {
				return false, "no " + line
			}
		}
		if clock := `fairway_queue_starved_seconds{kind="Guaranteed",queue="root.g"} 0`; strings.Contains(second, clock+"\n") {
			return false, clock
		}
		return true, ""
	})
	return []promScrape{{Time: 600_000, Labels: target, Text: first}, {Time: 660_000, Labels: target, Text: second}}
}

func TestDashboardAndAlertsMeanRealSeries(t *testing.T) {
	scrapes := twoScrapes(t)
	t.Run("every query of the dashboard has data", func(t *testing.T) { checkDashboard(t, scrapes) })
	t.Run("every alert can fire", func(t *testing.T) { checkAlerts(t, scrapes) })
}

// dashboardQueries are all expressions of the dashboard, as Grafana sends them with every queue chosen, and those that list the choices.
func dashboardQueries(t *testing.T) (queries []promQuery) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	values := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
	for _, v := range dashboard.Templating.List {
		if v.Type == "datasource" {
			continue
		}
		m := values.FindStringSubmatch(v.Definition)
		if m == nil {
			t.Errorf("variable %s: %q is not label_values(metric, label)", v.Name, v.Definition)
			continue
		}
		queries = append(queries, promQuery{"variable " + v.Name, fmt.Sprintf("count by (%s) (%s{%s!=\"\"})", m[2], m[1], m[2])})
	}
	fill := strings.NewReplacer("$__rate_interval", "5m", "$queue", `(root|root\\.a|root\\.b|root\\.c\\.x)`, "$resource", "cpu")
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			queries = append(queries, promQuery{p.Title + " " + target.RefID, fill.Replace(target.Expr)})
		}
	}
	return queries
}

func checkDashboard(t *testing.T, scrapes []promScrape) {
	queries := dashboardQueries(t)
	if len(queries) < 20 {
		t.Errorf("only %d queries: are they all read?", len(queries))
	}
	answer := ask(t, promRequest{Scrapes: scrapes, Queries: queries, At: scrapes[1].Time})
	if len(answer.Queries) != len(queries) {
		t.Fatalf("%d answers to %d queries", len(answer.Queries), len(queries))
	}
	for _, r := range answer.Queries {
		switch {
		case r.Error != "":
			t.Errorf("%s: %s: %s", r.Name, r.Expr, r.Error)
		case len(r.Samples) == 0:
			t.Errorf("%s: %s: no data", r.Name, r.Expr)
		case slices.ContainsFunc(r.Samples, func(s promSample) bool { return s.Value == "NaN" }):
			t.Errorf("%s: %s: not a number: %v", r.Name, r.Expr, r.Samples)
		}
	}
}

// setSeries replaces the value of one series of a page.
func setSeries(t *testing.T, page *promScrape, series, value string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` .*$`)
	if n := len(line.FindAllString(page.Text, -1)); n != 1 {
		t.Fatalf("%s stands on the page %d times", series, n)
	}
	page.Text = line.ReplaceAllLiteralString(page.Text, series+" "+value)
}

// doctored are pages on which all is well but for one thing, and the alert that fires for it. What is not here fires as it is; see asTheyAre.
var doctored = []struct {
	alert, name string
	doctor      func(set func(page int, series, value string), scrapes []promScrape)
	queue       string // that the fired alert names
}{
	{"", "nothing", func(func(int, string, string), []promScrape) {}, ""},
	{"", "a queue that drains", func(_ func(int, string, string), scrapes []promScrape) {
		scrapes[1].Text += "fairway_queue_problems{queue=\"root.old\",reason=\"Deleting\"} 1\n"
	}, ""},
	{"FairwayNoLeader", "the only replica does not lead", func(set func(int, string, string), _ []promScrape) { set(1, "fairway_leading", "0") }, ""},
	{"FairwayNoLeader", "nothing answers", func(_ func(int, string, string), scrapes []promScrape) {
		scrapes[0].Down, scrapes[1].Down = true, true
	}, ""},
	{"FairwayNothingReleased", "pods wait for their turn and none is let through", func(set func(int, string, string), _ []promScrape) {
		set(0, "fairway_releases_total", "4")
		set(1, "fairway_releases_total", "4")
		set(1, `fairway_waiting_pods{reason="WaitingTurn"}`, "3")
	}, ""},
	{"FairwayQueueBelowGuarantee", "root.g has none of 2 GPUs, and cpu", func(set func(int, string, string), _ []promScrape) {
		set(1, `fairway_queue_allocated{queue="root.g",resource="nvidia.com/gpu"}`, "0")
	}, "root.g"},
	{"FairwayQueueBelowGuarantee", "root.fair.f has no GPU, and its guarantee of one does not count", func(set func(int, string, string), _ []promScrape) {
		set(1, `fairway_queue_allocated{queue="root.fair.f",resource="nvidia.com/gpu"}`, "0")
	}, "root.fair.f"},
	{"", "root.g asks for 1 of 2 GPUs and has it", func(set func(int, string, string), _ []promScrape) {
		set(1, `fairway_queue_allocated{queue="root.g",resource="nvidia.com/gpu"}`, "1")
		set(1, `fairway_queue_demand{queue="root.g",resource="nvidia.com/gpu"}`, "1")
	}, ""},
	{"FairwayQueueBelowGuarantee", "root.b at 7.5 of 8", func(set func(int, string, string), _ []promScrape) {
		set(1, `fairway_queue_allocated{queue="root.b",resource="cpu"}`, "7.5")
	}, "root.b"},
	{"FairwayClaimUnpaid", "root.b claims", func(set func(int, string, string), _ []promScrape) {
		set(1, `fairway_queue_claims_open{queue="root.b"}`, "1")
	}, "root.b"},
	{"", "root.b claims, and preemption only observes", func(set func(int, string, string), _ []promScrape) {
		set(1, `fairway_queue_claims_open{queue="root.b"}`, "1")
		set(1, "fairway_preemption_observe_only", "1")
	}, ""},
	{"FairwayPlanViolation", "a plan broke an invariant", func(set func(int, string, string), _ []promScrape) {
		set(1, "fairway_preemption_plan_violations_total", "1")
	}, ""},
	{"FairwayLedgerViolation", "an account is wrong", func(set func(int, string, string), _ []promScrape) {
		set(1, "fairway_ledger_violations_total", "1")
	}, ""},
	{"FairwaySweeperRepairs", "a pod was lost", func(set func(int, string, string), _ []promScrape) {
		set(1, "fairway_sweeper_repairs_total", "1")
	}, ""},
	{"FairwayManyAttemptsPerBind", "four attempts for each bind", func(set func(int, string, string), _ []promScrape) {
		set(0, "fairway_binds_total", "0")
		set(1, "fairway_binds_total", "100")
		set(0, "fairway_attempts_total", "0")
		set(1, "fairway_attempts_total", "400")
	}, ""},
	{"FairwayLedgerLockWait", "three callers wait at any time", func(set func(int, string, string), _ []promScrape) {
		set(0, "fairway_ledger_lock_wait_seconds_total", "0")
		set(1, "fairway_ledger_lock_wait_seconds_total", "180")
	}, ""},
}

// asTheyAre are the alerts that fire for the state of twoScrapes itself.
var asTheyAre = []string{
	"FairwayQueueBelowGuarantee root.b", "FairwayQueueBelowGuarantee root.fair.f", "FairwayQueueBelowGuarantee root.g", "FairwayQueueProblem root.lost.child",
}

// calm sets what would make one of asTheyAre fire: all queues have what they are guaranteed.
func calm(set func(int, string, string)) {
	set(1, `fairway_queue_allocated{queue="root.g",resource="nvidia.com/gpu"}`, "2")
	set(1, `fairway_queue_allocated{queue="root.fair.f",resource="nvidia.com/gpu"}`, "1")
	set(1, `fairway_queue_allocated{queue="root.b",resource="cpu"}`, "7.7")
	set(1, `fairway_queue_problems{queue="root.lost.child",reason="ParentMissing"}`, "0")
}

func checkAlerts(t *testing.T, scrapes []promScrape) {
	rules, err := os.ReadFile(filepath.Join(monitoring, "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	fired := func(scrapes []promScrape) (names []string, answer promAnswer) {
		answer = ask(t, promRequest{Scrapes: scrapes, Rules: string(rules), At: scrapes[1].Time})
		for _, a := range answer.Alerts {
			for _, s := range a.Samples {
				names = append(names, strings.TrimSpace(a.Name+" "+s.Labels["queue"]))
				checkAnnotations(t, a, s)
			}
		}
		return names, answer
	}
	names, answer := fired(scrapes)
	for _, problem := range answer.Errors {
		t.Error(problem)
	}
	if !slices.Equal(slices.Sorted(slices.Values(names)), asTheyAre) {
		t.Errorf("as it is, %v fire, want %v", names, asTheyAre)
	}
	for _, a := range answer.Alerts {
		checkAlert(t, a, slices.ContainsFunc(asTheyAre, func(s string) bool { return strings.HasPrefix(s, a.Name+" ") }))
	}
	for _, d := range doctored {
		edited := slices.Clone(scrapes)
		set := func(page int, series, value string) { setSeries(t, &edited[page], series, value) }
		calm(set)
		d.doctor(set, edited)
		var want []string
		if d.alert != "" {
			want = []string{strings.TrimSpace(d.alert + " " + d.queue)}
		}
		if names, _ := fired(edited); !slices.Equal(names, want) {
			t.Errorf("%s: %v fire, want %v", d.name, names, want)
		}
	}
}

// checkAlert looks at what an alert says of itself, and at its expression without comparisons: without data that could never fire.
func checkAlert(t *testing.T, a promAlert, fires bool) {
	t.Helper()
	if a.Error != "" || a.Bare.Error != "" || len(a.Bare.Samples) == 0 {
		t.Errorf("%s: %q %q; without its thresholds it has %d samples: %s", a.Name, a.Error, a.Bare.Error, len(a.Bare.Samples), a.Bare.Expr)
	}
	if wait, err := time.ParseDuration(a.For); err != nil || wait < time.Minute {
		t.Errorf("%s fires after %q", a.Name, a.For)
	}
	if s := a.Labels["severity"]; s != "critical" && s != "warning" {
		t.Errorf("%s is of severity %q", a.Name, s)
	}
	if a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
		t.Errorf("%s does not say what it is about, and what to do", a.Name)
	}
	for _, d := range doctored {
		fires = fires || d.alert == a.Name
	}
	if !fires {
		t.Errorf("nothing here makes %s fire", a.Name)
	}
}

// checkAnnotations looks at the sentences of an alert that fires. Of a guarantee that does not count, none says that the queue comes first.
func checkAnnotations(t *testing.T, a promAlert, s promSample) {
	t.Helper()
	if a.Name == "FairwayQueueBelowGuarantee" {
		wants := map[string]string{
			"root.b":      "Its pods that ask for cpu come first",
			"root.g":      "Its pods that ask for nvidia.com/gpu come first",
			"root.fair.f": "its pods are not served before those of other queues",
		}
		text, queue := s.Annotations["description"], s.Labels["queue"]
		if want := wants[queue]; want == "" || !strings.Contains(text, want) || strings.Contains(text, "first") != (queue != "root.fair.f") {
			t.Errorf("of %s the alert says %q, want %q", queue, text, want)
		}
	}
	for name, text := range s.Annotations {
		if text == "" || strings.Contains(text, "no value") || strings.Contains(text, "{{") || strings.Contains(text, "  ") {
			t.Errorf("%s: %s is %q", a.Name, name, text)
		}
		if q := s.Labels["queue"]; !strings.Contains(text, q) {
			t.Errorf("%s: %s does not name queue %s: %q", a.Name, name, q, text)
		}
	}
}
