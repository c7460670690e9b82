package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

const (
	queues  = "/apis/scheduling.fairway.dev/v1alpha1/queues"
	nodes   = "/api/v1/nodes"
	pods    = "/api/v1/pods"
	classes = "/apis/resource.k8s.io/v1/deviceclasses"
	groups  = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups"
	inTree  = "/apis/scheduling.k8s.io/v1alpha2/podgroups"
	jobs    = "/apis/batch/v1/jobs"
	sets    = "/apis/apps/v1/replicasets"
	states  = "/apis/apps/v1/statefulsets"
	rcs     = "/api/v1/replicationcontrollers"
	policy  = "/apis/scheduling.fairway.dev/v1alpha1/placementpolicies/default"
	booked  = "/apis/scheduling.fairway.dev/v1alpha1/reservations"
	budgets = "/apis/policy/v1/poddisruptionbudgets"
)

// server is an API server with some objects of each kind.
type server struct {
	count   map[string]int // by path
	refusal map[string]int // codes instead of an answer
	policy  string         // of all Queues
	expires string         // path whose second page is forgotten
	asked   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, q := r.URL.Path, r.URL.Query()
	s.asked = append(s.asked, fmt.Sprintf("%s limit=%s from=%s", path, q.Get("limit"), q.Get("continue")))
	if code := s.refusal[path]; code != 0 {
		refuse(w, code)
		return
	}
	if path == policy {
		answer(w, http.StatusOK, map[string]any{"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "PlacementPolicy", "metadata": map[string]any{"name": "default"}})
		return
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	if from > 0 && s.expires == path {
		refuse(w, http.StatusGone)
		return
	}
	end := s.count[path]
	next := ""
	if limit > 0 && from+limit < end {
		end, next = from+limit, strconv.Itoa(from+limit)
	}
	items := []any{}
	for i := from; i < end; i++ {
		items = append(items, map[string]any{
			"apiVersion": "v1", "kind": "X",
			"metadata": map[string]any{"name": "x-" + strconv.Itoa(i), "managedFields": []any{map[string]any{"manager": "m"}}},
			"spec":     map[string]any{"policy": s.policy},
		})
	}
	kind := map[string]string{queues: "QueueList", nodes: "NodeList", pods: "PodList", classes: "DeviceClassList", groups: "PodGroupList", inTree: "PodGroupList",
		jobs: "JobList", sets: "ReplicaSetList", states: "StatefulSetList", booked: "ReservationList", budgets: "PodDisruptionBudgetList", rcs: "ReplicationControllerList"}[path]
	group := strings.TrimPrefix(strings.TrimPrefix(path[:strings.LastIndex(path, "/")], "/apis/"), "/api/")
	answer(w, http.StatusOK, map[string]any{"apiVersion": group, "kind": kind, "metadata": map[string]any{"continue": next}, "items": items})
}

func refuse(w http.ResponseWriter, code int) {
	reason := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusGone: metav1.StatusReasonExpired,
	}[code]
	answer(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "so it is",
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client would complain
}

func (s *server) read(t *testing.T, with ...*objects.Set) (*objects.Set, error) {
	t.Helper()
	front := httptest.NewServer(s)
	defer front.Close()
	return Read(t.Context(), flagsFor(t, front.URL), with...)
}

func flagsFor(t *testing.T, url string) *Flags {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := NewFlags()
	f.APIServer, f.KubeConfig = &url, &path
	return f
}

func TestReadListsAllObjectsPageByPage(t *testing.T) {
	s := &server{count: map[string]int{queues: 1001, nodes: 500, pods: 501, classes: 2, groups: 3, inTree: 1, budgets: 2, booked: 3}}
	set, err := s.read(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Queues) != 1001 || len(set.Nodes) != 500 || len(set.Pods) != 501 || len(set.DeviceClasses) != 2 {
		t.Errorf("%d queues, %d nodes, %d pods, %d classes", len(set.Queues), len(set.Nodes), len(set.Pods), len(set.DeviceClasses))
	}
	if len(set.PodGroups) != 4 || len(set.PodDisruptionBudgets) != 2 || len(set.Reservations) != 3 {
		t.Errorf("%d pod groups, %d budgets, %d reservations", len(set.PodGroups), len(set.PodDisruptionBudgets), len(set.Reservations))
	}
	for i, p := range set.Pods {
		if p.Name != "x-"+strconv.Itoa(i) || len(p.ManagedFields) > 0 {
			t.Fatalf("pod %d is %s with %d managed fields", i, p.Name, len(p.ManagedFields))
		}
	}
	if name := set.Queues[1000].GetName(); name != "x-1000" {
		t.Errorf("the last queue is %s", name)
	}
	want := []string{
		queues + " limit=500 from=", queues + " limit=500 from=500", queues + " limit=500 from=1000",
		policy + " limit= from=", booked + " limit=500 from=", nodes + " limit=500 from=", pods + " limit=500 from=", pods + " limit=500 from=500", classes + " limit=500 from=",
		groups + " limit=500 from=", inTree + " limit=500 from=", budgets + " limit=500 from=",
	}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
}

func TestWhereAServerForgetsPagesAllAreAskedForAtOnce(t *testing.T) {
	s := &server{count: map[string]int{pods: 1200}, expires: pods}
	set, err := s.read(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Pods) != 1200 || set.Pods[0].Name != "x-0" || set.Pods[1199].Name != "x-1199" {
		t.Errorf("%d pods", len(set.Pods))
	}
	if got, want := s.asked[len(s.asked)-5], pods+" limit= from="; got != want {
		t.Errorf("at last asked for %q, want %q", got, want)
	}
}

// There may be as many Jobs as pods, so they are asked for where they matter: in a cluster, or in what a picture of it will be changed by.
func TestOwnersAreListedForAStateAwareQueueOnly(t *testing.T) {
	gated, err := (&server{count: map[string]int{queues: 1}, policy: "StateAware"}).read(t)
	if err != nil {
		t.Fatal(err)
	}
	overlay := &objects.Set{Queues: gated.Queues}
	for _, tc := range []struct {
		policy  string
		with    []*objects.Set
		refused map[string]int
		want    int
	}{
		{"Fair", nil, nil, 0},
		{"Fair", []*objects.Set{{}}, nil, 0},
		{"StateAware", nil, nil, 506},
		{"Fair", []*objects.Set{{}, overlay}, nil, 506},
		{"StateAware", nil, map[string]int{jobs: http.StatusForbidden}, 6},
		{"StateAware", nil, map[string]int{rcs: http.StatusNotFound}, 503},
		{"StateAware", nil, map[string]int{sets: http.StatusForbidden, states: http.StatusForbidden}, 503},
	} {
		s := &server{
			count: map[string]int{queues: 1, jobs: 500, sets: 1, states: 2, rcs: 3}, policy: tc.policy, refusal: tc.refused,
		}
		set, err := s.read(t, tc.with...)
		if err != nil || len(set.Owners) != tc.want {
			t.Errorf("%s, refused %v: %d owners, want %d: %v", tc.policy, tc.refused, len(set.Owners), tc.want, err)
		}
	}
	if _, err := (&server{count: map[string]int{queues: 1}, policy: "StateAware", refusal: map[string]int{states: http.StatusUnauthorized}}).read(t); err == nil || !strings.HasPrefix(err.Error(), "listing statefulsets: ") {
		t.Error(err)
	}
}

func TestOwnersOfOneKindAreForgottenByPagesAlone(t *testing.T) {
	s := &server{count: map[string]int{queues: 1, jobs: 3, sets: 1200}, policy: "StateAware", expires: sets}
	set, err := s.read(t)
	if err != nil || len(set.Owners) != 1203 || set.Owners[0].Kind != "Job" || set.Owners[3].Kind != "ReplicaSet" {
		t.Errorf("%d owners: %v", len(set.Owners), err)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	const permission = "; it takes list on queues.scheduling.fairway.dev, nodes and pods of all namespaces; see manifests/rbac/cluster-viewer.yaml"
	for _, tc := range []struct {
		path       string
		code       int
		want, tail string // "": no error
	}{
		{queues, http.StatusForbidden, "listing queues: ", permission},
		{nodes, http.StatusForbidden, "listing nodes: ", permission},
		{pods, http.StatusForbidden, "listing pods: ", permission},
		{queues, http.StatusNotFound, "listing queues: this cluster has no queues.scheduling.fairway.dev: is Fairway installed? kubectl apply -k manifests does it", ""},
		{nodes, http.StatusNotFound, "listing nodes: so it is", ""},
		{pods, http.StatusUnauthorized, "listing pods: ", ""},
		{classes, http.StatusForbidden, "", ""},
		{classes, http.StatusNotFound, "", ""},
		{classes, http.StatusUnauthorized, "listing deviceclasses: ", ""},
		{groups, http.StatusForbidden, "", ""},
		{groups, http.StatusNotFound, "", ""},
		{groups, http.StatusUnauthorized, "listing podgroups.scheduling.x-k8s.io: ", ""},
		{inTree, http.StatusForbidden, "", ""},
		{inTree, http.StatusNotFound, "", ""},
		{inTree, http.StatusUnauthorized, "listing podgroups.scheduling.k8s.io: ", ""},
		{budgets, http.StatusForbidden, "", ""},
		{budgets, http.StatusUnauthorized, "listing poddisruptionbudgets: ", ""},
	} {
		_, err := (&server{refusal: map[string]int{tc.path: tc.code}}).read(t)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%d for %s: %v", tc.code, tc.path, err)
		case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want) || !strings.HasSuffix(err.Error(), tc.tail)):
			t.Errorf("%d for %s: %v, want %s ... %s", tc.code, tc.path, err, tc.want, tc.tail)
		}
	}
}

func TestAClusterThatDoesNotAnswerIsSaidToBeSo(t *testing.T) {
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	if _, err := Read(t.Context(), flagsFor(t, front.URL)); err == nil || !strings.HasPrefix(err.Error(), "listing queues: no answer from the cluster: ") {
		t.Error(err)
	}
}

func TestPlacementTakesQueuesAndThePolicy(t *testing.T) {
	const permission = "; it takes list on queues and get on placementpolicies.scheduling.fairway.dev; see manifests/rbac/queue-viewer.yaml"
	for _, tc := range []struct {
		refusal map[string]int
		policy  bool
		err     string // prefix and suffix, around a "|"
	}{
		{nil, true, ""},
		{map[string]int{policy: http.StatusNotFound}, false, ""},
		{map[string]int{policy: http.StatusForbidden}, false, "reading the PlacementPolicy: |" + permission},
		{map[string]int{policy: http.StatusUnauthorized}, false, "reading the PlacementPolicy: |"},
		{map[string]int{queues: http.StatusForbidden}, false, "listing queues: |" + permission},
		{map[string]int{queues: http.StatusNotFound}, false, "listing queues: this cluster has no queues.|"},
	} {
		s := &server{count: map[string]int{queues: 3}, refusal: tc.refusal}
		front := httptest.NewServer(s)
		set, err := ReadPlacement(t.Context(), flagsFor(t, front.URL))
		front.Close()
		begins, ends, _ := strings.Cut(tc.err, "|")
		switch {
		case tc.err == "" && (err != nil || len(set.Queues) != 3 || (set.PlacementPolicy != nil) != tc.policy):
			t.Errorf("%v: %+v, %v", tc.refusal, set, err)
		case tc.err != "" && (err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.HasSuffix(err.Error(), ends)):
			t.Errorf("%v: %v", tc.refusal, err)
		}
	}
}
