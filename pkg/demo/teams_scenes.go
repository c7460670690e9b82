package demo

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// The users, each of one group. teams.yaml says what they may do.
const (
	ann, ads  = "ann", "ads"
	bob, web  = "bob", "web"
	carl, ops = "carl", "ops"
)

// groupOf is the one group of each user.
var groupOf = map[string]string{ann: ads, bob: web, carl: ops}

// scene is what a user does, and what must come of it.
type scene struct {
	who string
	// One of these is done: a command of `kubectl fairway`, or a request about an object, which is created or, with a merge patch, changed.
	command []string
	object  *unstructured.Unstructured
	patch   string
	what    string // the request in words

	// What must come of it. The zero scene is one that is allowed.
	prints  []string // lines that the command prints, blanks apart
	refused string   // how the API server's message ends
	blocked string   // what the pod says for which the scheduler blocks it
	// So many pods of the object run in this queue, and count for this user.
	pods        int
	queue, user string
	creates     bool // the queue did not exist before
}

// teamsScenes is the story in its order.
func teamsScenes() []scene {
	return append(append(teamsRights(), teamsPods()...), teamsRefusals()...)
}

// teamsRights: what each may do, and where pods that name no queue go.
func teamsRights() []scene {
	return []scene{
		{who: ann, command: []string{"access"}, prints: []string{
			"root no no no", "root.ads yes no no", "root.ads.etl from root.ads no no", "root.default no no no", "root.web no no no",
		}},
		{who: bob, command: []string{"access"}, prints: []string{
			"root no no no", "root.ads no no no", "root.ads.etl no no no", "root.default no no no", "root.web yes no no",
		}},
		{who: carl, command: []string{"access"}, prints: []string{
			"root no no no", "root.ads yes yes yes", "root.ads.etl from root.ads from root.ads from root.ads", "root.default no no no", "root.web no no no",
		}},
		{who: ann, command: []string{"place", "--user", ann, "--groups", ads}, prints: []string{
			"queue root.ads.ann, by rule NestedUserQueue; created for it: root.ads.ann",
		}},
		{who: carl, command: []string{"place", "--user", carl, "--groups", ops}, prints: []string{"queue root.default, by rule Default"}},
	}
}

// teamsPods: where pods land, and for which user they count.
func teamsPods() []scene {
	return []scene{
		{
			who: ann, what: "creates pod report, which names no queue", object: teamPod(ads, "report", "", nil),
			pods: 1, queue: "root.ads.ann", user: ann, creates: true,
		}, {
			who: ann, what: "creates Deployment loader of 2 pods for queue ads.etl", object: teamDeployment(ads, "loader", "ads.etl", 2),
			pods: 2, queue: "root.ads.etl", user: ann,
		}, {
			who: carl, what: "scales Deployment loader to 3 pods", object: teamDeployment(ads, "loader", "", 0), patch: `{"spec":{"replicas":3}}`,
			pods: 3, queue: "root.ads.etl", user: ann,
		}, {
			who: bob, what: "creates Deployment shop of 2 pods, which names no queue", object: teamDeployment(web, "shop", "", 2),
			pods: 2, queue: "root.web.bob", user: bob, creates: true,
		}, {
			who: bob, what: "creates pod page with annotation fairway.dev/user: ann", object: teamPod(web, "page", "", map[string]any{
				v1alpha1.KeyUser: ann, v1alpha1.KeyGroups: ads,
			}),
			pods: 1, queue: "root.web.bob", user: bob,
		}, {
			who: carl, what: "creates Queue root.ads.nightly", object: teamQueue("root.ads.nightly"),
		}, {
			who: ann, what: "creates pod index for queue ads.nightly", object: teamPod(ads, "index", "ads.nightly", nil),
			pods: 1, queue: "root.ads.nightly", user: ann,
		}, {
			who: carl, what: "creates pod probe, which names no queue", object: teamPod(ads, "probe", "", nil),
			queue: "root.default", blocked: mayNotSubmit(carl, "root.default"),
		},
	}
}

// teamsRefusals: what the API server refuses.
func teamsRefusals() []scene {
	return []scene{
		{
			who: bob, what: "creates pod theft for queue ads.etl", object: teamPod(web, "theft", "ads.etl", nil),
			refused: mayNotSubmit(bob, "root.ads.etl"),
		}, {
			who: bob, what: "creates Deployment theft for queue ads.etl", object: teamDeployment(web, "theft", "ads.etl", 2),
			refused: mayNotSubmit(bob, "root.ads.etl"),
		}, {
			who: bob, what: "creates pod theft with a placed-queue of root.ads.etl", object: teamPod(web, "theft", "", map[string]any{
				v1alpha1.KeyPlacedQueue: "root.ads.etl",
			}),
			refused: "annotations fairway.dev/placed-... of a pod are written by the scheduler only; take them out of this pod or of its template",
		}, {
			who: bob, what: "sets fairway.dev/user: ann on pod page, which runs", object: teamPod(web, "page", "", nil),
			patch:   `{"metadata":{"annotations":{"` + v1alpha1.KeyUser + `":"` + ann + `"}}}`,
			refused: "fairway.dev/user, fairway.dev/groups and fairway.dev/creator-pod of a pod are written when it is created and stay as they are",
		}, {
			who: ann, what: "creates Queue root.ads.mine", object: teamQueue("root.ads.mine"),
			refused: `User "ann" cannot create resource "queues" in API group "scheduling.fairway.dev" at the cluster scope`,
		}, {
			who: carl, what: "creates Queue root.web.more", object: teamQueue("root.web.more"),
			refused: mayNot(carl, "create", "root.web.more", "root.web or a queue above it"),
		}, {
			who: carl, what: "gives Queue root.ads a weight of 10", object: teamQueue("root.ads"), patch: `{"spec":{"weight":10}}`,
			refused: mayNot(carl, "change", "root.ads", "root"),
		},
	}
}

// mayNotSubmit is the sentence of docs/access.md about submissions.
func mayNotSubmit(user, queue string) string {
	return "user " + user + " may not submit to queue " + queue +
		": this takes the verb submit or administer on queues.scheduling.fairway.dev, for " + queue + " or a queue above it"
}

// mayNot is that about Queues.
func mayNot(user, verb, queue, on string) string {
	return "user " + user + " may not " + verb + " queue " + queue + ": this takes the verb administer on queues.scheduling.fairway.dev, for " + on
}

func teamQueue(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue", "metadata": map[string]any{"name": name}, "spec": map[string]any{},
	}}
}

func teamPod(namespace, name, queue string, annotations map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"namespace": namespace, "name": name, "labels": queueLabels(queue), "annotations": annotations}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": teamPodSpec()}}
}

func teamDeployment(namespace, name, queue string, replicas int64) *unstructured.Unstructured {
	labels := queueLabels(queue)
	labels["app"] = name
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{
			"replicas": replicas, "selector": map[string]any{"matchLabels": map[string]any{"app": name}},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": teamPodSpec()},
		},
	}}
}

func queueLabels(queue string) map[string]any {
	if queue == "" {
		return map[string]any{}
	}
	return map[string]any{v1alpha1.KeyQueue: queue}
}

// teamPodSpec is a pod of podSize(1).
func teamPodSpec() map[string]any {
	return map[string]any{
		"schedulerName": v1alpha1.SchedulerName, "terminationGracePeriodSeconds": int64(0), "automountServiceAccountToken": false,
		"containers": []any{map[string]any{
			"name": "task", "image": "simulated", // no container is started
			"resources": map[string]any{"requests": map[string]any{"cpu": int64(podCores), "memory": "8Gi"}},
		}},
	}
}
