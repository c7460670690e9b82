package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

const (
	node  = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"un"}}`
	podA  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns","uid":"ua"}}`
	podB  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"ns","uid":"ub"}}`
	queue = `{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"Queue","metadata":{"name":"root","uid":"uq"}}`
	class = `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu","uid":"uc"}}`

	podGroup = `{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","metadata":{"name":"a","namespace":"ns"}}`
	inTree   = `{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"a","namespace":"ns"}}`
)

// without are kinds that are taken and have no effect.
const without = `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"a"},"value":-5}`

const budget = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"a","namespace":"ns"}}`

// read reads one stream. Errors have no line here: TestErrorsHaveTheirLine is about lines.
func read(name string, from io.Reader, whole int) (*Set, error) {
	s, _, err := readFiles([]File{{name, from}}, nil, whole)
	var placed *Problem
	if errors.As(err, &placed) {
		placed.Line = 0
	}
	return s, err
}

// names of what a set holds, in its order.
func names(s *Set) (all []string) {
	for _, q := range s.Queues {
		all = append(all, "Queue "+q.GetName())
	}
	for _, n := range s.Nodes {
		all = append(all, "Node "+n.Name)
	}
	for _, p := range s.Pods {
		all = append(all, "Pod "+p.Namespace+"/"+p.Name)
	}
	for _, c := range s.DeviceClasses {
		all = append(all, "DeviceClass "+c.Name)
	}
	for _, g := range s.PodGroups {
		all = append(all, g.GetKind()+" "+convert.GangKey(g))
	}
	for _, o := range s.Owners {
		all = append(all, o.Kind+" "+o.Namespace+"/"+o.Name)
	}
	return all
}

func inYAML(objects string) string {
	text, err := yaml.JSONToYAML([]byte(objects))
	if err != nil {
		panic(err)
	}
	return string(text)
}

func listOf(kind, apiVersion string, items ...string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"items":[%s],"kind":%q,"metadata":{"resourceVersion":""}}`, apiVersion, strings.Join(items, ","), kind)
}

// typed is what a client of one type writes of the objects.
func typed(objects ...string) (all []string) {
	for _, o := range objects {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(o), &m); err != nil {
			panic(err)
		}
		delete(m, "kind")
		delete(m, "apiVersion")
		text, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		all = append(all, string(text))
	}
	return all
}

// modes are the sizes from which a YAML document is read item by item: at once, and never here.
var modes = []int{0, 1 << 20}

func TestEveryWayToWriteObjectsIsRead(t *testing.T) {
	both := []string{"Pod ns/a", "Pod ns/b"}
	all := []string{"Queue root", "Node n", "Pod ns/a", "Pod ns/b", "DeviceClass gpu"}
	for what, tc := range map[string]struct {
		stream string
		want   []string
	}{
		"nothing":                            {"", nil},
		"white space":                        {" \n\t\n", nil},
		"empty documents":                    {"---\n\n---\n# nothing\n...\n", nil},
		"JSON objects":                       {node + "\n" + podA + podB + queue + class + without, all},
		"YAML documents":                     {"---\n" + inYAML(node) + "---\n" + inYAML(podA) + "--- # b\n" + inYAML(podB) + "...\n" + inYAML(queue) + "---\r\n" + inYAML(class), all},
		"a YAML List":                        {inYAML(listOf("List", "v1", node, podA, queue, podB, class)), all},
		"a JSON List":                        {listOf("List", "v1", node, podA, queue, podB, class), all},
		"a List, kind first":                 {`{"kind":"List","apiVersion":"v1","items":[` + podA + `,` + podB + `]}`, both},
		"a List of nothing":                  {listOf("List", "v1"), nil},
		"a List of nothing in YAML":          {inYAML(listOf("List", "v1")), nil},
		"a List of nothing, as Go has it":    {`{"kind":"PodList","apiVersion":"v1","items":null}`, nil},
		"a List without items":               {`{"kind":"PodList","apiVersion":"v1"}`, nil},
		"a null List in YAML":                {"apiVersion: v1\nitems:\nkind: List\n", nil},
		"a list of one type":                 {listOf("PodList", "v1", podA, podB), both},
		"a list of one type in YAML":         {inYAML(listOf("PodList", "v1", podA, podB)), both},
		"a list of one type, kinds left":     {`{"kind":"PodList","apiVersion":"v1","items":[` + strings.Join(typed(podA, podB), ",") + `]}`, both},
		"kinds left and the List's last":     {listOf("PodList", "v1", typed(podA, podB)...), both},
		"the same in YAML":                   {inYAML(listOf("PodList", "v1", typed(podA, podB)...)), both},
		"nodes, kinds left":                  {listOf("NodeList", "v1", typed(node)...), []string{"Node n"}},
		"queues, kinds left":                 {listOf("QueueList", "scheduling.fairway.dev/v1alpha1", typed(queue)...), []string{"Queue root"}},
		"pod groups of both kinds":           {listOf("List", "v1", inTree, podGroup), []string{"PodGroup ns/a (scheduling.k8s.io)", "PodGroup ns/a"}},
		"pod groups, kinds left":             {listOf("PodGroupList", "scheduling.x-k8s.io/v1alpha1", typed(podGroup)...), []string{"PodGroup ns/a"}},
		"in-tree pod groups, kinds left":     {listOf("PodGroupList", "scheduling.k8s.io/v1alpha2", typed(inTree)...), []string{"PodGroup ns/a (scheduling.k8s.io)"}},
		"the same, and the version last":     {`{"kind":"PodGroupList","items":[` + typed(inTree)[0] + `],"apiVersion":"scheduling.k8s.io/v1alpha2"}`, []string{"PodGroup ns/a (scheduling.k8s.io)"}},
		"a pod group without a namespace":    {strings.Replace(podGroup, `,"namespace":"ns"`, "", 1), []string{"PodGroup default/a"}},
		"a pod group that makes no sense":    {strings.Replace(podGroup, `"metadata"`, `"spec":{"minMember":"x"},"metadata"`, 1), []string{"PodGroup ns/a"}},
		"Lists in Lists":                     {listOf("List", "v1", listOf("List", "v1", podA), listOf("PodList", "v1", typed(podB)...)), both},
		"Lists in Lists in YAML":             {inYAML(listOf("List", "v1", listOf("List", "v1", podA), listOf("PodList", "v1", typed(podB)...))), both},
		"JSON, then YAML":                    {podA + "\n---\n" + inYAML(podB), both},
		"JSON, then YAML at once":            {podA + "\n" + inYAML(podB), both},
		"JSON documents in YAML":             {"---\n" + podA + "\n---\n" + podB + "\n", both},
		"several JSON objects in one":        {"---\n" + podA + podB, both},
		"flow style":                         {"{kind: Pod, apiVersion: v1, metadata: {name: a, namespace: ns}}", []string{"Pod ns/a"}},
		"the namespace is left out":          {"{kind: Pod, apiVersion: v1, metadata: {name: a}}", []string{"Pod default/a"}},
		"a byte order mark":                  {"\xef\xbb\xbf" + podA, []string{"Pod ns/a"}},
		"indented items":                     {"apiVersion: v1\nitems:\n  - " + podA + "\n  # b\n  -\n    " + podB + "\nkind: List\n", both},
		"a key that is quoted":               {"apiVersion: v1\n\"items\":\n- " + podA + "\nkind: List\n", []string{"Pod ns/a"}},
		"Windows lines":                      {strings.ReplaceAll(inYAML(listOf("List", "v1", podA, podB)), "\n", "\r\n"), both},
		"texts that look like a structure":   {"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: ns\n    annotations:\n      x: |\n        - kind: Pod\n        items:\n        ---\n\n      y: \"- b\n        - c\"\n- " + podB + "\n\n# end\nkind: List\n", both},
		"a List and a document":              {inYAML(listOf("List", "v1", podA)) + "---\n" + inYAML(podB), both},
		"a List, items last, and a document": {"kind: List\napiVersion: v1\nitems:\n- " + podA + "\n---\n" + inYAML(podB), both},
		"a List that is ended":               {inYAML(listOf("List", "v1", podA)) + "...\n" + inYAML(podB), both},
		"two Lists":                          {inYAML(listOf("List", "v1", podA)) + "---\n" + inYAML(listOf("List", "v1", podB)), both},
		"items first":                        {"items:\n- " + podA + "\n- " + podB + "\nkind: List\napiVersion: v1\n", both},
		"keys with texts before the items":   {"apiVersion: v1\nkind: List\nmetadata:\n  x: |\n    items:\n    - a\n\n\nitems:\n# a\n- " + podA + "\n- " + podB, both},
		"directives":                         {"%YAML 1.1\n---\n" + inYAML(podA) + "...\n%YAML 1.1\n---\n" + inYAML(podB), both},
		"without a last line end":            {strings.TrimSuffix(inYAML(listOf("List", "v1", podA, podB)), "\n"), both},
	} {
		for _, whole := range modes {
			s, err := read("dump", strings.NewReader(tc.stream), whole)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if got := names(s); !cmp.Equal(got, tc.want) {
				t.Errorf("%s: read %v, want %v", what, got, tc.want)
			}
		}
	}
}

func nested(levels int) string {
	return strings.Repeat(`{"kind":"List","apiVersion":"v1","items":[`, levels) + podA + strings.Repeat("]}", levels)
}

func TestListsInListsAreBounded(t *testing.T) {
	if s, err := Read("dump", strings.NewReader(nested(maxLevels))); err != nil || len(s.Pods) != 1 {
		t.Errorf("%d levels: %v", maxLevels, err)
	}
	_, err := Read("dump", strings.NewReader(nested(maxLevels+1)))
	if err == nil || !strings.Contains(err.Error(), "there are 9 levels of Lists in Lists; allowed are 8") {
		t.Errorf("%d levels: %v", maxLevels+1, err)
	}
}

func podWith(more string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns"},` + more + `}`
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	const all = "allowed are Queue (scheduling.fairway.dev/v1alpha1), PlacementPolicy (scheduling.fairway.dev/v1alpha1), Reservation (scheduling.fairway.dev/v1alpha1), Node (v1), Pod (v1), DeviceClass (resource.k8s.io/v1), " +
		"Job (batch/v1), ReplicaSet (apps/v1), StatefulSet (apps/v1), ReplicationController (v1), " +
		"PodGroup (scheduling.x-k8s.io/v1alpha1), PodGroup (scheduling.k8s.io/v1alpha2), PriorityClass (scheduling.k8s.io/v1), PodDisruptionBudget (policy/v1), " +
		"ClusterRole (rbac.authorization.k8s.io/v1), ClusterRoleBinding (rbac.authorization.k8s.io/v1), " +
		"Role (rbac.authorization.k8s.io/v1), RoleBinding (rbac.authorization.k8s.io/v1) and Lists of them"
	for stream, want := range map[string]string{
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"r","namespace":"ns"}}`: `document 1: Deployment ns/r: the kind, of apiVersion "apps/v1", is unknown; ` + all,
		podA + `{"apiVersion":"v1","kind":"Queue","metadata":{"name":"root"}}`:                  `document 2: Queue root: apiVersion is "v1"; allowed is scheduling.fairway.dev/v1alpha1`,
		`{"apiVersion":"v2","kind":"Pod","metadata":{"name":"a"}}`:                              `document 1: Pod a: apiVersion is "v2"; allowed is v1`,
		listOf("List", "v1", podA, `{"kind":"Node","metadata":{"name":"n"}}`):                   `document 1, item 2: Node n: apiVersion is ""; allowed is v1`,
		listOf("DeploymentList", "apps/v1", typed(podA)...):                                     `document 1: Deployment without a name: the kind, of apiVersion "apps/v1", is unknown; ` + all,
		listOf("PodGroupList", "v1", typed(podGroup)...):                                        `document 1: PodGroup without a name: apiVersion is "v1"; allowed is scheduling.x-k8s.io/v1alpha1 or scheduling.k8s.io/v1alpha2`,
		listOf("PodList", "v2", typed(podA)...):                                                 `document 1: Pod without a name: apiVersion is "v2"; allowed is v1`,
		listOf("List", "v1", typed(podA)...):                                                    `document 1: 1 items have no kind; ` + all,
		listOf("PodList", "v1", append(typed(podA), podB)...):                                   `document 1: 1 items have no kind; ` + all,
		`{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`:                 `document 1, item 1: an object without a kind; ` + all,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"items":[]}`:                   `document 1: kind Pod has items; allowed in a List only`,
		`{"kind":"List","apiVersion":"v1","items":{}}`:                                          `document 1: items is {; allowed is a list of objects`,
		`{"kind":"List","apiVersion":"v1","items":[7]}`:                                         `document 1, item 1: 7 is not an object; ` + all,
		listOf("List", "v1", listOf("List", "v1", podA, `[]`)):                                  `document 1, item 1, item 2: [] is not an object; ` + all,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns"}}`:                        `document 1: Pod without a name: allowed as metadata.name is any text that is not empty`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":7}}`:                                `document 1: Pod without a name: allowed as metadata.name`,
		`{"apiVersion":"v1","kind":"Pod","metadata":"a"}`:                                       `document 1: Pod without a name: allowed as metadata.name`,
		`{"apiVersion":"v1","kind":7}`:                                                          `document 1: json: cannot unmarshal number into Go struct field .kind of type string`,
		`{}`:                                                                                    `document 1: an object without a kind; ` + all,
		"- a\n- b\n":                                                                            `document 1: [ is not an object; ` + all,
		"just words":                                                                            `document 1: just words is not an object; ` + all,
		podA + "\n7":                                                                            `document 2: 7 is not an object; ` + all,
		podA + "}":                                                                              `document 1: invalid character '}'`,
		podA[:40]:                                                                               `document 1: the stream ends in the middle of an object: is it cut off?`,
		podA + podB[:1]:                                                                         `document 2: the stream ends in the middle of an object: is it cut off?`,
		listOf("List", "v1", podA, podB)[:150]:                                                  `document 1, item 2: the stream ends in the middle of an object: is it cut off?`,
		`{"kind":"List","apiVersion":"v1","items":[` + podA:                                     `document 1: the stream ends in the middle of an object: is it cut off?`,
		`{"kind":"List","apiVersion":"v1","items":`:                                             `document 1: the stream ends in the middle of an object: is it cut off?`,
		`{"items":[` + podA + `]}`:                                                              `document 1: there are items, but no kind: allowed is List; is the stream cut off?`,
		"apiVersion: v1\nitems:\n- " + podA + "\n":                                              `document 1: there are items, but no kind: allowed is List; is the stream cut off?`,
		`{"kind":"Pod",,}`:                                                                      `document 1: invalid character ','`,
		inYAML(podA) + "---\na: b: c\n":                                                         `document 2: yaml: mapping values are not allowed in this context`,
		"kind: Pod\nkind: Node\n":                                                               `document 1: yaml: unmarshal errors:`,
		"\tkind: Pod\n":                                                                         `document 1: yaml: found character that cannot start any token`,
		"\xff\xfek\x00":                                                                         `the stream is UTF-16; only UTF-8 can be read`,
		"--- " + inYAML(podA):                                                                   `document 1: invalid Yaml document separator: apiVersion: v1`,
		"---\n" + podA + "\nx":                                                                  `document 1: something follows the object that is none`,
		podWith(`"spec":{"priority":"high"}`):                                                   `document 1: Pod ns/a: json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32`,
		podWith(`"spec":{"containers":[{"resources":{"requests":{"cpu":"lots"}}}]}`):            `document 1: Pod ns/a: quantities must match`,
		podWith(`"spec":{"containers":[{},{"resources":{"requests":{"memory":"-1","cpu":"-2"}}}]}`):              `document 1: Pod ns/a: spec.containers[1].resources.requests: cpu is -2; allowed is 0 or more`,
		podWith(`"spec":{"initContainers":[{"resources":{"requests":{"cpu":"-1"}}}]}`):                           `document 1: Pod ns/a: spec.initContainers[0].resources.requests: cpu is -1; allowed is 0 or more`,
		podWith(`"spec":{"containers":[{"resources":{"requests":{"cpu":"1e999999999"}}}]}`):                      `document 1: Pod ns/a: spec.containers[0].resources.requests: cpu is 1e999999999; allowed is 0 or more, with an exponent of at most 99`,
		podWith(`"status":{"containerStatuses":[{"allocatedResources":{"cpu":"-1"}}]}`):                          `document 1: Pod ns/a: status.containerStatuses[0].allocatedResources: cpu is -1; allowed`,
		podWith(`"status":{"initContainerStatuses":[{"resources":{"requests":{"cpu":"-1"}}}]}`):                  `document 1: Pod ns/a: status.initContainerStatuses[0].resources.requests: cpu is -1; allowed`,
		podWith(`"spec":{"overhead":{"cpu":"-1"}}`):                                                              `document 1: Pod ns/a: spec.overhead: cpu is -1; allowed is 0 or more`,
		podWith(`"spec":{"resources":{"requests":{"cpu":"-1"}}}`):                                                `document 1: Pod ns/a: spec.resources.requests: cpu is -1; allowed is 0 or more`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"9999-01-01T00:00:00Z"}}`:    `document 1: Pod a: metadata.creationTimestamp is 9999-01-01; allowed are times from 1970 to 2261`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"yesterday"}}`:               `document 1: Pod a: parsing time "yesterday"`,
		"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: -1}, conditions: [{}]}}": `document 1: Node n1: status.allocatable: cpu is -1; allowed is 0 or more`,
		"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1}}}":                    `document 1: Node n1: status.conditions are missing, so no scheduler would use it; allowed is a list with {type: Ready, status: "True"}, or "False"`,
		podA + strings.Replace(podA, "ua", "uz", 1):                                                              `document 2: Pod ns/a: uid is uz here and ua before: the stream holds two clusters, or one at two times; allowed is one picture of one cluster`,
		listOf("List", "v1", queue, node, strings.Replace(queue, "uq", "other", 1)):                              `document 1, item 3: Queue root: uid is other here and uq before: the stream holds two clusters`,
	} {
		for _, whole := range modes {
			s, err := read("dump", strings.NewReader(stream), whole)
			if err == nil {
				t.Errorf("%s\nis read as %v, want: %s", stream, names(s), want)
			} else if !strings.HasPrefix(err.Error(), "dump: "+want) {
				t.Errorf("%s\n got: %v\nwant: dump: %s", stream, err, want)
			}
		}
	}
}

// What a large document is refused for though a small one would be read.
func TestWhatIsInNoItemIsRefused(t *testing.T) {
	for stream, want := range map[string]string{
		"kind: List\nitems:\n  - " + podA + "\n - " + podB + "\n":                        `document 1: after item 1: a line that belongs neither to items nor to what follows them: " - {`,
		"kind: List\nitems:\n- " + podA + "\nitems:\n- " + podB + "\n":                   "document 1: beside its items: yaml: unmarshal errors:\n  line 5: key \"items\" already set in map",
		"kind: List\nitems:\n- " + podA + "\n- a: b: c\n":                                `document 1, item 2: yaml: mapping values are not allowed in this context`,
		"kind: List\nx: &x {}\nitems:\n- {metadata: *x}\n":                               `document 1, item 1: yaml: unknown anchor 'x' referenced`,
		"kind: List\nitems:\n- " + podA + "\nkind: List\n":                               `document 1: beside its items: yaml: unmarshal errors:`,
		"kind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: \"a\n- \"}}": `document 1, item 1: yaml:`,
	} {
		if _, err := read("dump", strings.NewReader(stream), 0); err == nil || !strings.HasPrefix(err.Error(), "dump: "+want) {
			t.Errorf("%s\n got: %v\nwant: dump: %s", stream, err, want)
		}
	}
}

func TestAStreamThatBreaksIsNotAShortOne(t *testing.T) {
	for _, begun := range []string{"", podA, podA[:20], "---\n" + inYAML(podA), listOf("List", "v1", podA)[:60]} {
		broken := io.MultiReader(strings.NewReader(begun), brokenReader{})
		if _, err := Read("dump", broken); err == nil || !strings.Contains(err.Error(), "the disk is gone") || !strings.HasPrefix(err.Error(), "dump: ") {
			t.Errorf("after %q: %v", begun, err)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("the disk is gone") }
