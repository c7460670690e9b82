package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// boundByExtender is a resource: pods that ask for it are bound by the extender, not by us.
const boundByExtender = "example.com/bound-by-extender"

// extender answers kube-scheduler as it is told to.
type extender struct {
	mu     sync.Mutex
	filter func(names []string) (*extenderv1.ExtenderFilterResult, error)
	bind   func(b *extenderv1.ExtenderBindingArgs) error
}

func acceptAll(names []string) (*extenderv1.ExtenderFilterResult, error) {
	return &extenderv1.ExtenderFilterResult{NodeNames: &names}, nil
}

func (e *extender) set(filter func(names []string) (*extenderv1.ExtenderFilterResult, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.filter = filter
}

func (e *extender) setBind(bind func(b *extenderv1.ExtenderBindingArgs) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bind = bind
}

func (e *extender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	filter, bind := e.filter, e.bind
	e.mu.Unlock()
	var result any
	var err error
	if r.URL.Path == "/bind" {
		args := &extenderv1.ExtenderBindingArgs{}
		if err = json.NewDecoder(r.Body).Decode(args); err == nil {
			err = bind(args)
			result = &extenderv1.ExtenderBindingResult{}
		}
	} else {
		args := &extenderv1.ExtenderArgs{}
		if err = json.NewDecoder(r.Body).Decode(args); err == nil {
			result, err = filter(*args.NodeNames)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(result) // kube-scheduler has hung up: nobody to tell
}

// Every way in which an extender fails, on one control plane.
func TestEveryWayAnExtenderFails(t *testing.T) {
	e := &extender{filter: acceptAll}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	config := strings.ReplaceAll(`
extenders:
- {urlPrefix: URL, filterVerb: filter, nodeCacheCapable: true, httpTimeout: 1s}
- {urlPrefix: URL, bindVerb: bind, nodeCacheCapable: true, managedResources: [{name: `+boundByExtender+`, ignoredByScheduler: true}]}
profiles:
- schedulerName: fairway
  plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}
`, "URL", server.URL)
	f := failingWorld(t, 3, config)
	f.scene("extender-errs", func(f *failing) { f.extenderErrs(e) })
	f.scene("extender-hangs", func(f *failing) { f.extenderHangs(e) })
	f.scene("extender-refuses", func(f *failing) { f.extenderRefuses(e) })
	f.scene("extender-cannot-bind", func(f *failing) { f.extenderCannotBind(e) })
}

// extenderErrs: the pod backs off, says so, and holds no place in the window.
func (f *failing) extenderErrs(e *extender) {
	defer e.set(acceptAll)
	e.set(func([]string) (*extenderv1.ExtenderFilterResult, error) { return nil, fmt.Errorf("away") })
	p := f.pod("a")
	f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	if n := f.s.Ledger.Snapshot().InWindow; n != 0 {
		f.t.Errorf("%d pods in the window", n)
	}
	f.untilCondition(p, v1.PodReasonSchedulerError)
	e.set(acceptAll)
	f.untilRuns(p, f.leaf())
}

func (f *failing) extenderHangs(e *extender) {
	answer := make(chan struct{})
	var once sync.Once
	free := func() { once.Do(func() { close(answer) }); e.set(acceptAll) }
	defer free()
	e.set(func(names []string) (*extenderv1.ExtenderFilterResult, error) {
		<-answer
		return acceptAll(names)
	})
	p := f.pod("a")
	f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	f.untilCondition(p, v1.PodReasonSchedulerError)
	free()
	f.untilRuns(p, f.leaf())
}

// extenderRefuses: no node is left, and that is no error. Any event may have changed the extender's mind.
func (f *failing) extenderRefuses(e *extender) {
	defer e.set(acceptAll)
	e.set(func(names []string) (*extenderv1.ExtenderFilterResult, error) {
		refused := extenderv1.FailedNodesMap{}
		for _, n := range names {
			refused[n] = "not this one"
		}
		return &extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: refused}, nil
	})
	p := f.pod("a")
	f.untilUnschedulable(p, f.leaf())
	f.settled()
	e.set(acceptAll)
	change(f, nodeNamed("node-0"), func(n *v1.Node) { n.Labels["changed"] = f.name })
	f.untilRuns(p, f.leaf())
}

// extenderCannotBind: the extender fails to bind, then it binds; without our annotation, so the pod counts where it asks to be.
func (f *failing) extenderCannotBind(e *extender) {
	e.setBind(func(*extenderv1.ExtenderBindingArgs) error { return fmt.Errorf("away") })
	p := f.pod("a", func(p *v1.Pod) {
		one := v1.ResourceList{boundByExtender: resource.MustParse("1")}
		p.Spec.Containers[0].Resources.Requests[boundByExtender] = one[boundByExtender]
		p.Spec.Containers[0].Resources.Limits = one
	})
	f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	if n := f.s.Ledger.Snapshot().InWindow; n != 0 {
		f.t.Errorf("%d pods in the window", n)
	}
	e.setBind(func(b *extenderv1.ExtenderBindingArgs) error {
		return f.kube.CoreV1().Pods(b.PodNamespace).Bind(f.ctx, &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: b.PodName, Namespace: b.PodNamespace, UID: b.PodUID},
			Target:     v1.ObjectReference{Kind: "Node", Name: b.Node},
		}, metav1.CreateOptions{})
	})
	f.untilRuns(p, f.leaf())
}
