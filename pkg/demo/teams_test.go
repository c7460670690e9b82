package demo

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// teamsToy is an API server and a scheduler that know nothing but scenes: what a scene says must come of it, comes of it. other makes the toy play
// another scene than the story tells.
type teamsToy struct {
	other func(scene) scene
	stamp string // of all pods, if not that of their user
	slow  bool   // Queue.status shows no pods
	pods  map[string]*corev1.Pod
	names []string // of queues
}

func newTeamsToy() *teamsToy {
	return &teamsToy{
		other: func(c scene) scene { return c }, pods: map[string]*corev1.Pod{},
		names: []string{v1alpha1.RootQueue, "root.ads", "root.ads.etl", "root.web", v1alpha1.DefaultQueue},
	}
}

func (y *teamsToy) do(c scene) *reply {
	c = y.other(c)
	switch {
	case c.refused != "":
		return &reply{text: "something is forbidden: " + c.refused, failed: true}
	case c.command != nil:
		return &reply{text: "QUEUE\n\n" + strings.ReplaceAll(strings.Join(c.prints, "\n"), " no", "   no") + "\n"}
	case c.object.GetKind() == "Queue":
		y.names = append(y.names, c.object.GetName())
		return &reply{}
	}
	if c.queue != "" && !slices.Contains(y.names, c.queue) {
		y.names = append(y.names, c.queue)
	}
	for i := range max(c.pods, 1) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.object.GetNamespace(), Name: c.object.GetName()}}
		if c.object.GetKind() != "Pod" {
			p.Name += "-" + string(rune('a'+i))
		}
		p.Annotations = map[string]string{v1alpha1.KeyPlacedQueue: c.queue, v1alpha1.KeyPlacedUser: c.user, v1alpha1.KeyUser: c.user}
		if y.stamp != "" {
			p.Annotations[v1alpha1.KeyUser] = y.stamp
		}
		if p.Spec.NodeName = "node"; c.blocked != "" {
			p.Spec.NodeName = ""
			p.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.PodConditionQueued, Status: corev1.ConditionTrue, Message: c.blocked}}
		}
		y.pods[p.Namespace+"/"+p.Name] = p
	}
	return &reply{}
}

func (y *teamsToy) seen(r *reply) seen {
	w := seen{reply: r}
	runs, waits := map[string]int{}, map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(y.pods)) {
		p := y.pods[name]
		w.pods = append(w.pods, p)
		if queue := p.Annotations[v1alpha1.KeyPlacedQueue]; p.Spec.NodeName != "" {
			runs[queue]++
		} else {
			waits[queue]++
		}
	}
	for _, name := range y.names {
		q := report.Queue{Name: name, FairShare: podSize(1)}
		held := 0
		for below := range runs {
			if below == name || strings.HasPrefix(below, name+".") {
				held += runs[below]
			}
		}
		for below := range waits {
			if below == name || strings.HasPrefix(below, name+".") {
				q.Pending += waits[below]
			}
		}
		if held > 0 && !y.slow {
			q.Allocated = podSize(held)
		}
		w.queues = append(w.queues, q)
	}
	return w
}

// tellTeams tells the story on the toy to its end.
func tellTeams(t *testing.T, s *teamsStory, y *teamsToy) (said []string, err error) {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var r *reply
	for range 10_000 {
		turn := s.step(now, y.seen(r))
		said = append(said, turn.say...)
		if turn.done || turn.err != nil || s.over {
			return said, turn.err
		}
		if turn.begin != nil {
			r = y.do(*turn.begin)
		}
		now = now.Add(stepEvery)
	}
	t.Fatalf("no end:\n%s", strings.Join(said, "\n"))
	return nil, nil
}

func newTeamsStory(once bool) *teamsStory {
	return &teamsStory{once: once, limit: 10 * time.Second, scenes: teamsScenes()}
}

func TestTheStoryOfTeamsIsTold(t *testing.T) {
	s := newTeamsStory(true)
	said, err := tellTeams(t, s, newTeamsToy())
	if err != nil || s.broken != 0 || s.headline() != "two teams, three users: all 20 scenes came true" {
		t.Fatalf("%v, %q", err, s.headline())
	}
	all := strings.Join(said, "\n") + "\n"
	for _, want := range []string{
		"ann of ads runs kubectl fairway access\n  QUEUE\n  root   no   no   no\n  root.ads yes   no   no\n",
		"ann of ads creates pod report, which names no queue\n  it runs in queue root.ads.ann, and counts for ann\n  the queue was created for it\n",
		"carl of ops scales Deployment loader to 3 pods\n  3 pods run in queue root.ads.etl, and count for ann\n",
		"bob of web creates pod page with annotation fairway.dev/user: ann\n  it runs in queue root.web.bob, and counts for bob\n",
		"carl of ops creates Queue root.ads.nightly\n  allowed\n",
		"carl of ops creates pod probe, which names no queue\n  the scheduler blocks it: user carl may not submit to queue root.default",
		"bob of web creates Deployment theft for queue ads.etl\n  refused: something is forbidden: user bob may not submit to queue root.ads.etl",
		"\neach pod that runs is in its team's queues, and counts for its user\n",
	} {
		if !strings.Contains(strings.Join(strings.Fields(all), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("not said: %q in\n%s", want, all)
		}
	}
	for _, line := range said {
		if len(line) > lineWidth {
			t.Errorf("too long for %d columns: %q", plainWidth, line)
		}
	}
}

// What comes out otherwise than the story says ends a run with Once, and is said once without it.
func TestWhatDoesNotComeTrueIsAnError(t *testing.T) {
	when := func(name string, change func(*scene)) func(*teamsToy) {
		return func(y *teamsToy) {
			y.other = func(c scene) scene {
				if c.title() == name {
					change(&c)
				}
				return c
			}
		}
	}
	const (
		theft = "creates pod theft for queue ads.etl"
		index = "creates pod index for queue ads.nightly"
		probe = "creates pod probe, which names no queue"
	)
	for about, c := range map[string]struct {
		toy  func(*teamsToy)
		want string
	}{
		"what must be refused is allowed": {
			when(theft, func(c *scene) { c.refused, c.pods, c.queue, c.user = "", 1, "root.ads.etl", bob }), "bob " + theft + ": it was allowed\nexpected: refused: ... user bob may not",
		},
		"it is refused in other words":    {when(theft, func(c *scene) { c.refused = "no" }), "refused: something is forbidden: no\nexpected: "},
		"what is allowed is refused":      {when(index, func(c *scene) { c.refused = "no" }), "refused: something is forbidden: no\nexpected: allowed"},
		"a pod runs in another queue":     {when(index, func(c *scene) { c.queue = "root.ads.etl" }), `in queue "root.ads.etl", and counts for "ann", stamped "ann"` + "\nexpected: in root.ads.nightly"},
		"it counts for another user":      {when(index, func(c *scene) { c.user = bob }), `counts for "bob"`},
		"it has the stamp of another":     {func(y *teamsToy) { y.stamp = carl }, `and counts for "ann", stamped "carl"`},
		"a pod is missing":                {when("scales Deployment loader to 3 pods", func(c *scene) { c.pods = 2 }), "it did not come true within 10s\nads/loader-a runs in queue"},
		"a pod waits":                     {when(index, func(c *scene) { c.blocked = "no room" }), "=True : no room; it has no node"},
		"a pod that must be blocked runs": {when(probe, func(c *scene) { c.blocked, c.user = "", carl }), `runs in queue "root.default"`},
		"it is blocked for another rule":  {when(probe, func(c *scene) { c.blocked = "no room" }), "carl " + probe + ": it did not come true within 10s"},
		"a command prints something else": {when("runs kubectl fairway access", func(c *scene) { c.prints = []string{"root yes yes yes"} }), "it does not print: root no no no"},
		"the queue was there":             {func(y *teamsToy) { y.names = append(y.names, "root.ads.ann") }, "queue root.ads.ann existed before"},
		"a queue is never there":          {when("creates Queue root.ads.nightly", func(c *scene) { c.object = teamQueue("root.other") }), "it did not come true within 10s"},
		"a queue too many":                {func(y *teamsToy) { y.names = append(y.names, "root.ops") }, "queue root.ops exists, and nobody should have it"},
		"the status shows no pods":        {func(y *teamsToy) { y.slow = true }, "queue root (exists: true) holds 0 and 1 pods wait; expected: 16c 64Gi and 1"},
	} {
		toy := newTeamsToy()
		c.toy(toy)
		if _, err := tellTeams(t, newTeamsStory(true), toy); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: it ends with %v, want %q", about, err, c.want)
		}
		toy, s := newTeamsToy(), newTeamsStory(false)
		c.toy(toy)
		said, err := tellTeams(t, s, toy)
		if n := strings.Count(strings.Join(said, "\n"), c.want); err != nil || !s.over || s.broken == 0 || n == 0 || !strings.Contains(s.headline(), "did not come true") {
			t.Errorf("%s: it ends with %v, %q, and says it %d times:\n%s", about, err, s.headline(), n, strings.Join(said, "\n"))
		}
	}
}

// Nothing is tried before the scheduler has divided the cluster.
func TestTheStoryOfTeamsWaitsForTheScheduler(t *testing.T) {
	s, now := newTeamsStory(true), time.Unix(0, 0)
	if turn := s.step(now, seen{}); turn.begin != nil || len(turn.say) > 0 || s.begun {
		t.Errorf("%+v", turn)
	}
	if turn := s.step(now.Add(time.Second), newTeamsToy().seen(nil)); turn.begin == nil || !s.begun {
		t.Errorf("%+v", turn)
	}
}

// The sentences are those that the scheduler says, and the pods have the size that the last table is compared with.
func TestScenesSayWhatTheSchedulerSays(t *testing.T) {
	want := reason.Reason{Code: reason.SubmitForbidden, Queue: "root.a", Details: reason.Submitter{User: "dan"}}.Text()
	if got := mayNotSubmit("dan", "root.a"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(teamPod("a", "b", "", nil).Object, pod); err != nil {
		t.Fatal(err)
	}
	if got := report.Amounts(convert.PodRequest(pod)); got != report.Amounts(podSize(1)) {
		t.Errorf("a pod is %s", got)
	}
	for _, c := range teamsScenes() {
		if groupOf[c.who] == "" || c.command == nil == (c.object == nil) {
			t.Errorf("%s %s: %+v", c.who, c.title(), c)
		}
	}
}

// teams.yaml has the queues with which the last table is compared, and grants to the groups of the users.
func TestTheTeamsAreThoseOfTheStory(t *testing.T) {
	objects, err := decode(teamsYAML)
	if err != nil {
		t.Fatal(err)
	}
	var queues, groups []string
	for _, object := range objects {
		if object.GetKind() == "Queue" {
			queues = append(queues, object.GetName())
		}
		subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
		for _, s := range subjects {
			if subject, ok := s.(map[string]any); ok && subject["kind"] == "Group" {
				groups = append(groups, subject["name"].(string))
			}
		}
	}
	slices.Sort(queues)
	slices.Sort(groups)
	if want := (&teamsStory{}).queues(); !slices.Equal(queues, want) {
		t.Errorf("queues %v, want %v", queues, want)
	}
	if got := slices.Compact(groups); !slices.Equal(got, []string{ads, ops, web}) {
		t.Errorf("groups %v", got)
	}
}

func TestTheSchedulerIsConfiguredAsInstalled(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join("..", "..", "manifests", "scheduler", "configuration.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := configure(manifest, "/tmp/x/kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ClientConnection struct{ Kubeconfig string }
		LeaderElection   struct{ LeaderElect bool }
		Profiles         []struct {
			PluginConfig []struct{ Args struct{ CheckAccess bool } }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.ClientConnection.Kubeconfig != "/tmp/x/kubeconfig" || got.LeaderElection.LeaderElect || !got.Profiles[0].PluginConfig[0].Args.CheckAccess {
		t.Errorf("%+v in\n%s", got, text)
	}
	if _, err := configure([]byte("{kind: ConfigMap, data: {config.yaml: ''}}"), ""); err == nil {
		t.Error("a configuration that says nothing is taken")
	}
}

func TestOneDemoAtATime(t *testing.T) {
	for about, c := range map[string]struct {
		options Options
		aim     string
	}{
		"none": {Options{}, shares.aim}, "teams": {Options{Teams: true}, teams.aim}, "the storm": {Options{DriverStorm: true}, driverStorm.aim},
		"preemption": {Options{Preemption: true}, preemption.aim}, "two": {Options{Teams: true, Preemption: true}, ""},
	} {
		if got, err := c.options.show(); got.aim != c.aim || (err != nil) != (c.aim == "") {
			t.Errorf("%s: %q, %v", about, got.aim, err)
		}
	}
}

func TestLongLinesAreFoldedInTheirLastColumn(t *testing.T) {
	for line, want := range map[string][]string{
		"short":               {"  short"},
		"NAME   " + "OUTCOME": {"  NAME   OUTCOME"},
		"NAME   " + strings.TrimSpace(strings.Repeat("word ", 14)): {
			"  NAME   " + strings.TrimSpace(strings.Repeat("word ", 12)), "           word word",
		},
	} {
		if got := folded(line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
