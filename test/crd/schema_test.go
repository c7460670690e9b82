package crd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

const (
	queueCRD       = "manifests/crds/scheduling.fairway.dev_queues.yaml"
	policyCRD      = "manifests/crds/scheduling.fairway.dev_placementpolicies.yaml"
	reservationCRD = "manifests/crds/scheduling.fairway.dev_reservations.yaml"
)

// The API server's own validation of the committed definitions, the cost of their rules included; without a control plane.
func TestCommittedDefinitionIsValid(t *testing.T) {
	for _, file := range []string{queueCRD, policyCRD, reservationCRD} {
		checkDefinition(t, file)
	}
}

func checkDefinition(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1alpha1"} // the API server does that
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
		t.Error(err)
	}
}

const (
	wantPath   = `<nil>: Invalid value: metadata.name: a queue's name is its path and starts at the root: "root", or "root." followed by the names of the queues down to this one, such as root.analytics.adhoc`
	wantDNS    = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	wantWeight = `must be a number from 0 to 1000000 with at most three decimals, such as 2, "0.25" or 250m`
	unchecked  = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
)

func notDNS(name string) string {
	return fmt.Sprintf("metadata.name: Invalid value: %q: %s", name, wantDNS)
}

// levels is a path that many levels deep, root included.
func levels(n int) string { return "root" + strings.Repeat(".a", n-1) }

// refusal is a Queue that nobody can create, and why.
type refusal struct {
	queue, spec string
	want        []string // all of them, after `Queue.scheduling.fairway.dev "<name>" is invalid: `
}

// checkRefusals: every refusal says which object, which field and what is allowed, in exactly these words.
func checkRefusals(t *testing.T, cases map[string]refusal) {
	ctx := needCluster(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := create(ctx, t, object(t, tc.queue, tc.spec))
			if err == nil {
				t.Fatal("accepted")
			}
			want := fmt.Sprintf("Queue.scheduling.fairway.dev %q is invalid: ", tc.queue)
			if len(tc.want) == 1 {
				want += tc.want[0]
			} else {
				want += "[" + strings.Join(tc.want, ", ") + "]"
			}
			if err.Error() != want {
				t.Errorf("refused with\n%s\nwant\n%s", err, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	checkRefusals(t, map[string]refusal{
		"a name outside the tree":          {"busy", "{}", []string{wantPath}},
		"a name that only starts like it":  {"rootbase", "{}", []string{wantPath}},
		"a level without a name, at last":  {"root.", "{}", []string{notDNS("root.")}},
		"a level without a name, between":  {"root..a", "{}", []string{notDNS("root..a")}},
		"a capital letter":                 {"Root.a", "{}", []string{notDNS("Root.a"), wantPath}},
		"an underscore":                    {"root.a_b", "{}", []string{notDNS("root.a_b")}},
		"13 levels":                        {levels(13), "{}", []string{"<nil>: Invalid value: metadata.name: queues nest at most 12 levels deep, root included"}},
		"a level of 64 characters":         {"root." + strings.Repeat("a", 64), "{}", []string{"<nil>: Invalid value: metadata.name: each name between two dots has at most 63 characters"}},
		"a negative weight":                {"root.a", `{weight: -1}`, []string{"spec.weight: Invalid value: -1: " + wantWeight}},
		"a weight that is no number":       {"root.a", `{weight: abc}`, []string{`spec.weight: Invalid value: "abc": ` + wantWeight}},
		"a weight in percent":              {"root.a", `{weight: 50%}`, []string{`spec.weight: Invalid value: "50%": ` + wantWeight}},
		"a weight with four decimals":      {"root.a", `{weight: "0.0001"}`, []string{`spec.weight: Invalid value: "0.0001": ` + wantWeight}},
		"a weight just too large":          {"root.a", `{weight: 1000001}`, []string{"spec.weight: Invalid value: 1000001: must be at most 1000000"}},
		"a weight too large by a fraction": {"root.a", `{weight: "1000000.001"}`, []string{`spec.weight: Invalid value: "1000000.001": must be at most 1000000`}},
		"a weight too large by its suffix": {"root.a", `{weight: 2M}`, []string{`spec.weight: Invalid value: "2M": must be at most 1000000`}},
		"an unknown policy":                {"root.a", `{policy: Best}`, []string{`spec.policy: Unsupported value: "Best": supported values: "DominantResourceFairness", "Fair", "FIFO", "StateAware"`, unchecked}},
		"a policy in other letters":        {"root.a", `{policy: fifo}`, []string{`spec.policy: Unsupported value: "fifo": supported values: "DominantResourceFairness", "Fair", "FIFO", "StateAware"`, unchecked}},
		"a state that only shows":          {"root.a", `{state: Draining}`, []string{`spec.state: Unsupported value: "Draining": supported values: "Running", "Stopped"`, unchecked}},
		"a state in other letters":         {"root.a", `{state: STOPPED}`, []string{`spec.state: Unsupported value: "STOPPED": supported values: "Running", "Stopped"`, unchecked}},
	})
}

func TestRefusalOfOtherShapes(t *testing.T) {
	ctx := needCluster(t)
	var many []string
	for i := range 33 {
		many = append(many, fmt.Sprintf("example.com/r%d: 1", i))
	}
	for name, tc := range map[string]struct{ spec, want string }{
		"a field that is not there":         {`{wieght: 2}`, `unknown field "spec.wieght"`},
		"YARN's name of a field":            {`{maxRunningApps: 2}`, `unknown field "spec.maxRunningApps"`},
		"33 resources":                      {"{max: {" + strings.Join(many, ", ") + "}}", `spec.max: Too many: 33: must have at most 32 items`},
		"a weight without quotes":           {`{weight: 0.25}`, `spec.weight in body must be of type integer,string: "number"`},
		"a threshold without quotes":        {`{preemption: {fairShareThreshold: 0.5}}`, `spec.preemption.fairShareThreshold in body must be of type integer,string: "number"`},
		"seconds as in YARN's file":         {`{preemption: {fairShareTimeout: 60}}`, `spec.preemption.fairShareTimeout in body must be of type string: "integer"`},
		"YARN's name in preemption":         {`{preemption: {fairSharePreemptionTimeout: 60s}}`, `unknown field "spec.preemption.fairSharePreemptionTimeout"`},
		"a driver share without quotes":     {`{maxDriverShare: 0.3}`, `spec.maxDriverShare in body must be of type integer,string: "number"`},
		"an amount without quotes":          {`{max: {cpu: 0.5}}`, `spec.max.cpu in body must be of type integer,string: "number"`},
		"amounts of both in one text":       {`{max: "2000000 mb, 1000 vcores"}`, `spec.max in body must be of type object: "string"`},
		"half an application":               {`{maxRunningApplications: 0.5}`, `spec.maxRunningApplications in body must be of type integer: "number"`},
		"a number of applications in words": {`{maxRunningApplications: "10"}`, `spec.maxRunningApplications in body must be of type integer: "string"`},
		"half a priority":                   {`{defaultPriority: 0.5}`, `spec.defaultPriority in body must be of type integer: "number"`},
		"a priority by its class":           {`{defaultPriority: high}`, `spec.defaultPriority in body must be of type integer: "string"`},
		"half an application that starts":   {`{maxStarting: 0.5}`, `spec.maxStarting in body must be of type integer: "number"`},
		"a timeout as a number of seconds":  {`{startingTimeout: 300}`, `spec.startingTimeout in body must be of type string: "integer"`},
		"two resources at a time":           {`{fairResource: [cpu, memory]}`, `spec.fairResource in body must be of type string: "array"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(ctx, t, object(t, "root.a", tc.spec))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("refused with\n%v\nwant in it\n%s", err, tc.want)
			}
		})
	}
}

// acceptance is a Queue that can be created, and what the conversion reads it as: see spell.
type acceptance struct {
	queue, spec, want string
}

// What the schema lets pass, the conversion reads, and reads as it was meant.
func TestAccepted(t *testing.T) {
	checkAccepted(t, map[string]acceptance{
		"root":                                {"root", "{}", "weight=1000"},
		"no spec at all":                      {"root.a", "-", "weight=1000"},
		"an empty spec":                       {"root.a", "{}", "weight=1000"},
		"12 levels":                           {levels(12), "{}", "weight=1000"},
		"a level of 63 characters":            {"root." + strings.Repeat("a", 63), "{}", "weight=1000"},
		"dashes and digits":                   {"root.0-a.b-1", "{}", "weight=1000"},
		"weight 0":                            {"root.a", `{weight: 0}`, "weight=0"},
		"weight as a fraction":                {"root.a", `{weight: "0.25"}`, "weight=250"},
		"weight in milli":                     {"root.a", `{weight: 250m}`, "weight=250"},
		"the smallest step of weight":         {"root.a", `{weight: "0.001"}`, "weight=1"},
		"the largest weight":                  {"root.a", `{weight: 1000000}`, "weight=1000000000"},
		"the largest weight, as Go spells it": {"root.a", `{weight: 1M}`, "weight=1000000000"},
		"all kinds of amounts": {"root.a", `{guaranteed: {cpu: 500m, memory: 1.5Gi, ephemeral-storage: "1e9", example.com/gpu: 0}, max: {cpu: ".5", memory: "123456789"}}`,
			"weight=1000 guaranteed(cpu=500m ephemeral-storage=1G example.com/gpu=0 memory=1536Mi) max(cpu=500m memory=123456789)"},
		"bytes as a number":    {"root.a", `{max: {memory: 68719476736}}`, "weight=1000 max(memory=64Gi)"},
		"amounts past 64 bits": {"root.a", `{max: {memory: "1e30"}}`, "weight=1000 max(memory=unlimited)"},
		"empty lists":          {"root.a", `{guaranteed: {}, max: {}, maxPodResources: {}}`, "weight=1000"},
		"max below guaranteed": {"root.a", `{guaranteed: {cpu: 2}, max: {cpu: 1}}`, "weight=1000 guaranteed(cpu=2) max(cpu=1)"}, // a condition, not a refusal: see core/queue
		"parts of the cluster": {"root.a", `{guaranteed: {cpu: "12.5%"}, max: {cpu: 50%}, maxPodResources: {cpu: "0.001%"}}`,
			"weight=1000 guaranteed(cpu=12.5%) max(cpu=50%) maxPod(cpu=0.001%)"},
		"nothing and all of it":          {"root.a", `{guaranteed: {cpu: 0%}, max: {cpu: 100%}, maxPodResources: {cpu: "100.000%"}}`, "weight=1000 guaranteed(cpu=0%) max(cpu=100%) maxPod(cpu=100%)"},
		"parts and amounts side by side": {"root.a", `{max: {cpu: 50%, memory: 1Ti}}`, "weight=1000 max(memory=1Ti cpu=50%)"},
		"limits on applications":         {"root.a", `{maxRunningApplications: 10, maxDriverShare: "0.3"}`, "weight=1000 applications=10 drivers=300"},
		"applications that it takes in":  {"root.a", `{maxApplications: 500}`, "weight=1000 takes=500"},
		"no applications at all":         {"root.a", `{maxRunningApplications: 0, maxDriverShare: 0}`, "weight=1000 applications=0 drivers=0"},
		"the most applications":          {"root.a", `{maxRunningApplications: 2147483647, maxDriverShare: 1}`, "weight=1000 applications=2147483647 drivers=1000"},
		"a driver share in milli":        {"root.a", `{maxDriverShare: 300m}`, "weight=1000 drivers=300"},
		"all for drivers, with decimals": {"root.a", `{maxDriverShare: "1.000"}`, "weight=1000 drivers=1000"},
		"a driver share without its 0":   {"root.a", `{maxDriverShare: ".5"}`, "weight=1000 drivers=500"},
		"applications of each user":      {"root", `{users: {maxRunningApplications: 5}}`, "weight=1000 of-a-user=5"},
		"users without a limit":          {"root.a", `{users: {}}`, "weight=1000"},
		"a default priority":             {"root.a", `{defaultPriority: 10}`, "weight=1000 priority=10"},
		"the lowest default priority":    {"root.a", `{defaultPriority: -2147483648}`, "weight=1000 priority=-2147483648"},
		"the highest cap of priorities":  {"root", `{maxPriority: 1000000000}`, "weight=1000 max-priority=1000000000"},
		"no priority above 0":            {"root", `{maxPriority: 0}`, "weight=1000 max-priority=0"},
		"memory alone counts":            {"root", `{resourceCalculator: Memory}`, "weight=1000 calculator=Memory"},
		"all resources count":            {"root", `{resourceCalculator: Dominant}`, "weight=1000"},
		"policy StateAware":              {"root.a", `{policy: StateAware}`, "weight=1000 policy=StateAware"},
		"few starters, for a while":      {"root.a", `{policy: StateAware, maxStarting: 1, startingTimeout: 1s}`, "weight=1000 policy=StateAware starting=1 for=1s"},
		"many starters, for long":        {"root.a", `{policy: StateAware, maxStarting: 1000, startingTimeout: 24h}`, "weight=1000 policy=StateAware starting=1000 for=24h0m0s"},
		"a timeout in seconds":           {"root.a", `{policy: StateAware, startingTimeout: 90s}`, "weight=1000 policy=StateAware for=1m30s"},
		"a timeout in minutes":           {"root.a", `{policy: StateAware, startingTimeout: 5m}`, "weight=1000 policy=StateAware for=5m0s"},
		"a timeout in all three":         {"root.a", `{policy: StateAware, startingTimeout: 1h30m10s}`, "weight=1000 policy=StateAware for=1h30m10s"},
		"a timeout in many seconds":      {"root.a", `{policy: StateAware, startingTimeout: 86400s}`, "weight=1000 policy=StateAware for=24h0m0s"},
		"a timeout that is learnt":       {"root.a", `{policy: StateAware, startingTimeout: adaptive}`, "weight=1000 policy=StateAware for=adaptive"},
		"policy FIFO":                    {"root.a", `{policy: FIFO}`, "weight=1000 policy=FIFO"},
		"policy Fair":                    {"root.a", `{policy: Fair}`, "weight=1000 policy=Fair"},
		"policy Fair over cpu":           {"root.a", `{policy: Fair, fairResource: cpu}`, "weight=1000 policy=Fair fair=cpu"},
		"policy Fair over a device":      {"root.a", `{policy: Fair, fairResource: example.com/gpu}`, "weight=1000 policy=Fair fair=example.com/gpu"},
	})
}

func checkAccepted(t *testing.T, cases map[string]acceptance) {
	ctx := needCluster(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stored, err := create(ctx, t, object(t, tc.queue, tc.spec))
			if err != nil {
				t.Fatal(err)
			}
			q, err := convert.DecodeQueue(stored)
			if err != nil {
				t.Fatal(err)
			}
			d, err := convert.Declaration(q)
			if err != nil {
				t.Fatal(err)
			}
			if got := spell(d); got != tc.want {
				t.Errorf("read as %s\nwant    %s", got, tc.want)
			}
		})
	}
}

// spell writes down everything that a declaration states; weights and ratios in thousandths.
func spell(d queue.Declaration) string {
	out := []string{fmt.Sprintf("weight=%d", d.Spec.Weight)}
	list := func(name string, absolute, percent resource.List) {
		entries := strings.Fields(absolute.String())
		for i := range percent.Len() {
			e := percent.At(i)
			entries = append(entries, fmt.Sprintf("%s=%g%%", e.Name, float64(e.Value)/1000))
		}
		if absolute.Len()+percent.Len() > 0 {
			out = append(out, name+"("+strings.Join(entries, " ")+")")
		}
	}
	list("guaranteed", d.Spec.Guaranteed, d.Percent.Guaranteed)
	list("max", d.Spec.Max, d.Percent.Max)
	list("maxPod", d.Spec.MaxPod, d.Percent.MaxPod)
	limit := func(name string, l queue.Limit) {
		if l.Stated {
			out = append(out, fmt.Sprintf("%s=%d", name, l.Most))
		}
	}
	limit("capacity", d.Spec.Capacity)
	limit("maxCapacity", d.Spec.MaxCapacity)
	limit("applications", d.Spec.MaxRunningApplications)
	limit("takes", d.Spec.MaxApplications)
	limit("drivers", d.Spec.MaxDriverShare)
	limit("of-a-user", d.Spec.MaxRunningApplicationsPerUser)
	if d.Spec.DefaultPriority != 0 {
		out = append(out, fmt.Sprintf("priority=%d", d.Spec.DefaultPriority))
	}
	limit("max-priority", d.Spec.MaxPriority)
	out = append(out, spellUsers(d.Spec.Users)...)
	if d.Spec.Policy != queue.Unstated {
		out = append(out, "policy="+d.Spec.Policy.String())
	}
	if d.Spec.FairResource != "" {
		out = append(out, "fair="+string(d.Spec.FairResource))
	}
	if d.Spec.Calculator != queue.DominantCalculator {
		out = append(out, "calculator="+d.Spec.Calculator.String())
	}
	limit("starting", d.Spec.MaxStarting)
	switch d.Spec.StartingTimeout {
	case queue.StartingTimeout{}:
	case queue.StartingTimeout{Adaptive: true}:
		out = append(out, "for=adaptive")
	default:
		out = append(out, "for="+time.Duration(d.Spec.StartingTimeout.Nanoseconds).String())
	}
	return strings.Join(append(out, spellPreemption(d.Spec.Preemption)...), " ")
}
