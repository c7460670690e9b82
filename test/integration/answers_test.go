package integration

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// answers judges what `kubectl fairway why` and `order` say of pods by what the pods were before and after, and by what becomes of them.
//
//   - Once a pod has run for a while, why says that it runs, and order does not name it. Of a pod without a node after the answer, why does not say that it runs.
//   - No pod is about to be released for long.
//   - The reason that why gives does not differ from that of the pod's condition for long.
type answers struct {
	*churn
	promised, differ map[string]time.Time // by UID: since when it is always about to be released, since when the reasons differ
	asked, orders    int                  // how many pods why was asked about, and how often order was asked
}

// askedWaiting is how many waiting pods are asked about at a time, askedRunning how many that run.
const askedWaiting, askedRunning = 8, 2

type answer struct{ Pod, Verdict, Reason, Message string }

// look asks about some pods, and for the order.
func (a *answers) look(placed map[string]time.Time) {
	a.t.Helper()
	known := a.sample(placed)
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return
	}
	var said []answer
	if !a.ask(&said, append([]string{"why", "-n", "default"}, names...)...) {
		return // a pod is gone
	}
	for _, s := range said {
		if p := known[s.Pod]; p != nil {
			a.asked++
			a.judge(p, s)
		}
	}
	a.order(known)
}

// sample is the pods that have waited for longest, and some that have run for long enough for all to know, by name.
func (a *answers) sample(placed map[string]time.Time) map[string]*v1.Pod {
	pods, err := a.pods.List(labels.Everything())
	a.must(err)
	slices.SortFunc(pods, func(p, o *v1.Pod) int { return strings.Compare(p.Name, o.Name) }) // the number of a job grows
	known, waiting, running := map[string]*v1.Pod{}, 0, 0
	for _, p := range pods {
		switch at, has := placed[string(p.UID)]; {
		case p.DeletionTimestamp != nil || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed:
		case p.Spec.NodeName == "" && waiting < askedWaiting:
			known[p.Name], waiting = p, waiting+1
		case p.Spec.NodeName != "" && running < askedRunning && has && time.Since(at) > 2*time.Second:
			known[p.Name], running = p, running+1
		}
	}
	return known
}

// ask runs a command, and reads its answer; false: it names a pod that is gone or has ended by now.
func (a *answers) ask(into any, args ...string) bool {
	a.t.Helper()
	out, wrong := a.tryFairway("", append(args, "--kubeconfig", a.cluster.Kubeconfig(), "-o", "json")...)
	if wrong != "" {
		if !strings.Contains(wrong, "does not exist") && !strings.Contains(wrong, "has ended") {
			a.t.Fatalf("kubectl fairway %s: %s", strings.Join(args, " "), wrong)
		}
		return false
	}
	a.must(json.Unmarshal([]byte(out), into))
	return true
}

// judge compares an answer with the pod as it is after it, and with earlier answers.
func (a *answers) judge(before *v1.Pod, s answer) {
	uid := string(before.UID)
	p, err := a.kube.CoreV1().Pods("default").Get(a.ctx, before.Name, metav1.GetOptions{})
	if err != nil || p.UID != before.UID || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		return // it ended meanwhile
	}
	runs := s.Verdict == "running"
	if before.Spec.NodeName != "" && !runs || p.Spec.NodeName == "" && runs {
		a.t.Errorf("%s had node %q before and %q after, and why says: %s %s", p.Name, before.Spec.NodeName, p.Spec.NodeName, s.Verdict, s.Message)
	}
	if since := lasting(a.promised, uid, s.Verdict == "next" && p.Spec.NodeName == ""); since > longest {
		a.t.Errorf("%s is about to be released for %s: %s", p.Name, since, s.Message)
	}
	c := queuedCondition(p)
	if since := lasting(a.differ, uid, p.Spec.NodeName == "" && s.Reason != "" && blocked(p) && c.Reason != s.Reason); since > longest {
		a.t.Errorf("%s for %s: why says %s: %s; its condition says %s: %s", p.Name, since, s.Reason, s.Message, c.Reason, c.Message)
	}
}

// lasting is for how long something has been so of a pod at every look.
func lasting(since map[string]time.Time, uid string, is bool) time.Duration {
	if !is {
		delete(since, uid)
		return 0
	}
	if _, known := since[uid]; !known {
		since[uid] = time.Now()
	}
	return time.Since(since[uid])
}

// order asks for the next releases: no pod is among them that has run for a while, and they are numbered from 1.
func (a *answers) order(known map[string]*v1.Pod) {
	var shown struct {
		Order []struct {
			Position int
			Pod      string
		}
	}
	if !a.ask(&shown, "order", "--next", "20") {
		return
	}
	a.orders++
	for i, o := range shown.Order {
		if p := known[o.Pod]; p != nil && p.Spec.NodeName != "" {
			a.t.Errorf("%s is on node %s, and number %d of the next releases", o.Pod, p.Spec.NodeName, o.Position)
		}
		if o.Position != i+1 {
			a.t.Errorf("row %d of the order has position %d", i+1, o.Position)
		}
	}
}
