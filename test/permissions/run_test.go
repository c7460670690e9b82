package permissions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

// cores of the one node.
const cores = 8

// The scheduler runs with the roles of manifests/rbac: it is refused nothing, and it needs all that they give. Both replicas run as the Deployment has
// them, and check access, too. The second lists before it watches, as client-go does with API servers that cannot begin a watch with what there is.
func TestTheSchedulerMayDoWhatItDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	flags, log := startAudit(t)
	w, err := people.Start(context.Background(), localcluster.Options{
		AccountPerController: true, KWOK: true,
		// With the PodGroups of Kubernetes itself.
		APIServerFlags: append(flags, "--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha2=true"),
	})
	must(t, err)
	t.Cleanup(func() { must(t, w.Stop()) })
	must(t, w.Cluster.AddNodes(t.Context(), "node", 1, corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("32Gi"),
	}))
	kubeconfig := install(t, w).Kubeconfig(t)
	log.forget(t)
	r := &run{T: t, w: w, log: log, home: w.Namespace(t, "home")}
	t.Cleanup(func() {
		if t.Failed() {
			log.read(t)
			t.Logf("refused:\n%s", strings.Join(log.refused[:min(5, len(log.refused))], ""))
		}
	})
	first := startReplica(t, "first", kubeconfig)
	r.until("the first replica leads", func() error { return r.used(right{"create", "coordination.k8s.io", "leases", namespace, ""}) })
	second := startReplica(t, "second", kubeconfig, "--feature-gates=WatchListClient=false")
	r.until("root.default is created", func() error {
		_, err := w.Kubectl(t.Context(), "get", "queue", v1alpha1.DefaultQueue)
		return err
	})
	r.apply(tree)

	r.volumes()
	// Nobody has asked for metrics yet.
	r.until("the scheduler asks who may submit", func() error {
		return r.used(right{"create", "authorization.k8s.io", "subjectaccessreviews", "", ""})
	})
	r.devices()
	r.gangs()
	r.deletion()
	r.placement()
	r.reservations()
	r.events()
	r.failingBindings()
	r.preemption()
	people.Until(t, "somebody without the right asks for metrics", func() error { return first.scrape(t, w.Account(t, r.home, "nobody")) })
	first.resign(t)
	r.apply(`{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: late, labels: {fairway.dev/queue: root.nowhere}}, spec: SPEC}`)
	r.until("the second replica leads, and says why a pod waits", func() error {
		pod, err := w.Admin.Kube.CoreV1().Pods(r.home).Get(t.Context(), "late", metav1.GetOptions{})
		if err == nil && len(pod.Status.Conditions) == 0 {
			err = errors.New("it has no condition yet")
		}
		return err
	})
	second.resign(t)
	log.verdict(t, grants(t, w))
}

// tree has what the stages below need. root.state has the scheduler watch Jobs.
const tree = `
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root}, spec: {preemption: {interval: 1s, maxWaitBeforeKill: 2s}}}
---
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.a}}
---
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.b}, spec: {preemption: {fairShareThreshold: "0.5", fairShareTimeout: 2s}}}
---
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.leaving}}
---
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.state}, spec: {policy: StateAware}}
`

// run is what all stages share.
type run struct {
	*testing.T
	w    *people.World
	log  *audit
	home string // the namespace of the pods
}

// pods are what SPEC stands for: a small pod, and more.
const spec = `{schedulerName: fairway, terminationGracePeriodSeconds: 1, containers: [{name: c, image: none, resources: {requests: {cpu: 10m}}}]`

// apply creates objects. In the text, NS is the namespace of the run, SPEC a small pod and SPEC+{...} one with more fields.
func (r *run) apply(text string) {
	r.Helper()
	r.w.Apply(r.T, strings.NewReplacer("NS", r.home, "SPEC+{", spec+", ", "SPEC", spec+"}").Replace(text))
}

func (r *run) until(what string, check func() error) {
	r.Helper()
	people.Until(r.T, what, check)
}

// used is nil once the scheduler used the right.
func (r *run) used(want right) error {
	r.log.read(r.T)
	if !r.log.uses(want) {
		return fmt.Errorf("the scheduler did not %s", want)
	}
	return nil
}

// untilUsed repeats an attempt, every few seconds, until the scheduler has used all these rights.
func (r *run) untilUsed(attempt func(i int), rights ...right) {
	r.Helper()
	var missing error
	for i := range 20 {
		attempt(i)
		for begun := time.Now(); time.Since(begun) < 4*time.Second; time.Sleep(100 * time.Millisecond) {
			missing = nil
			for _, want := range rights {
				if err := r.used(want); err != nil {
					missing = err
				}
			}
			if missing == nil {
				return
			}
		}
	}
	r.Fatal(missing)
}

func (r *run) untilBound(names ...string) {
	r.Helper()
	for _, name := range names {
		r.until("pod "+name+" is bound", func() error {
			pod, err := r.w.Admin.Kube.CoreV1().Pods(r.home).Get(r.Context(), name, metav1.GetOptions{})
			if err == nil && pod.Spec.NodeName == "" {
				err = fmt.Errorf("it has no node: %v", pod.Status.Conditions)
			}
			return err
		})
	}
}

// volumes: one that is there, and one that is made for the node of the pod.
func (r *run) volumes() {
	r.apply(`
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: found}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: volumes.example.com, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: found}, spec: {storageClassName: found, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /none}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: NS, name: found}, spec: {storageClassName: found, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: NS, name: made}, spec: {storageClassName: made, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: volume-found, labels: {fairway.dev/queue: root.a}}, spec: SPEC+{volumes: [{name: v, persistentVolumeClaim: {claimName: found}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: volume-made, labels: {fairway.dev/queue: root.a}}, spec: SPEC+{volumes: [{name: v, persistentVolumeClaim: {claimName: made}}]}}
`)
	claims := r.w.Admin.Kube.CoreV1().PersistentVolumeClaims(r.home)
	var uid types.UID
	r.until("the scheduler names a node for the volume", func() error {
		claim, err := claims.Get(r.Context(), "made", metav1.GetOptions{})
		if err == nil && claim.Annotations["volume.kubernetes.io/selected-node"] == "" {
			err = fmt.Errorf("it says %v", claim.Annotations)
		}
		if err == nil {
			uid = claim.UID
		}
		return err
	})
	r.apply(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: made, annotations: {pv.kubernetes.io/provisioned-by: volumes.example.com}}
spec: {storageClassName: made, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /none}, claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: NS, name: made, uid: %s}}
`, uid))
	r.untilBound("volume-found", "volume-made")
}

// devices: by a claim, and as an extended resource, for which the scheduler makes the claim.
func (r *run) devices() {
	r.apply(`
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: widgets}, spec: {extendedResourceName: example.com/widget}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: widgets}
spec:
  driver: widgets.example.com
  nodeName: node-0
  pool: {name: node-0, generation: 1, resourceSliceCount: 1}
  devices: [{name: w0}, {name: w1}, {name: w2}, {name: w3}, {name: w4}, {name: w5}, {name: w6}, {name: w7}]
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: NS, name: shared}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: widgets}}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: device, labels: {fairway.dev/queue: root.a}}, spec: SPEC+{resourceClaims: [{name: d, resourceClaimName: shared}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: NS, name: widget, labels: {fairway.dev/queue: root.a}}
spec: {schedulerName: fairway, containers: [{name: c, image: none, resources: {limits: {example.com/widget: 1}}}]}
`)
	r.untilBound("device", "widget")

	// Somebody else writes the claim all the time: the scheduler's cache is late, its update conflicts, and it reads the claim.
	ctx, stop := context.WithCancel(r.Context())
	done := make(chan error)
	go func() {
		claims := r.w.Admin.Kube.ResourceV1().ResourceClaims(r.home)
		var err error
		for i := 0; ctx.Err() == nil; i++ {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/stirred":"%d"}}}`, i)
			if _, err = claims.Patch(ctx, "shared", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				break
			}
		}
		if ctx.Err() != nil {
			err = nil
		}
		done <- err
	}()
	r.untilUsed(func(i int) {
		r.apply(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: sharing-%d, labels: {fairway.dev/queue: root.a}},
spec: SPEC+{resourceClaims: [{name: d, resourceClaimName: shared}]}}`, i))
	}, right{"get", "resource.k8s.io", "resourceclaims", "", ""})
	stop()
	must(r.T, <-done)
}

// gangs of both kinds.
func (r *run) gangs() {
	r.apply(`
{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {namespace: NS, name: plugins}, spec: {minMember: 2}}
---
{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {namespace: NS, name: kubernetes}, spec: {schedulingPolicy: {gang: {minCount: 2}}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: plugins-0, labels: {fairway.dev/queue: root.a, scheduling.x-k8s.io/pod-group: plugins}}, spec: SPEC}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: plugins-1, labels: {fairway.dev/queue: root.a, scheduling.x-k8s.io/pod-group: plugins}}, spec: SPEC}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: kubernetes-0, labels: {fairway.dev/queue: root.a}}, spec: SPEC+{schedulingGroup: {podGroupName: kubernetes}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: kubernetes-1, labels: {fairway.dev/queue: root.a}}, spec: SPEC+{schedulingGroup: {podGroupName: kubernetes}}}
`)
	r.untilBound("plugins-0", "plugins-1", "kubernetes-0", "kubernetes-1")
	r.until("the status of the pod group", func() error { return r.used(right{"patch", "scheduling.x-k8s.io", "podgroups/status", "", ""}) })
}

// deletion of a Queue that still has a pod.
func (r *run) deletion() {
	r.apply(`{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: staying, labels: {fairway.dev/queue: root.leaving}}, spec: SPEC}`)
	r.untilBound("staying")
	_, err := r.w.Kubectl(r.Context(), "delete", "queue", "root.leaving", "--wait=false")
	must(r.T, err)
	queue := &v1alpha1.Queue{}
	must(r.T, r.w.Admin.Client.Get(r.Context(), types.NamespacedName{Name: "root.leaving"}, queue))
	must(r.T, r.w.Admin.Kube.CoreV1().Pods(r.home).Delete(r.Context(), "staying", metav1.DeleteOptions{}))
	r.until("the queue is gone", func() error {
		err := r.w.Admin.Client.Get(r.Context(), types.NamespacedName{Name: "root.leaving"}, queue)
		if err == nil {
			return fmt.Errorf("it has finalizers %v", queue.Finalizers)
		}
		return client.IgnoreNotFound(err)
	})
}

// placement: a queue is created for a pod, and removed when it is empty.
func (r *run) placement() {
	r.apply(`
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.users}, spec: {children: {}}}
---
apiVersion: scheduling.fairway.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: default}
spec: {rules: [{type: Specified, create: false}, {type: User, parent: root.users}], removeEmptyAfter: 1s}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: placed, annotations: {fairway.dev/user: ada}}, spec: SPEC}
`)
	r.untilBound("placed")
	r.until("the status of the policy", func() error { return r.used(right{"patch", v1alpha1.GroupName, "placementpolicies/status", "", ""}) })
	must(r.T, r.w.Admin.Kube.CoreV1().Pods(r.home).Delete(r.Context(), "placed", metav1.DeleteOptions{}))
	r.until("the queue is gone", func() error {
		err := r.w.Admin.Client.Get(r.Context(), types.NamespacedName{Name: "root.users.ada"}, &v1alpha1.Queue{})
		if err == nil {
			return errors.New("it is there")
		}
		return client.IgnoreNotFound(err)
	})
	_, err := r.w.Kubectl(r.Context(), "delete", "placementpolicy", v1alpha1.PlacementPolicyName)
	must(r.T, err)
}

// reservations: one that begins some day is accepted.
func (r *run) reservations() {
	r.apply(`
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.plan}, spec: {reservable: true}}
---
apiVersion: scheduling.fairway.dev/v1alpha1
kind: Reservation
metadata: {namespace: NS, name: some-day}
spec:
  queue: root.plan
  arrival: ` + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339) + `
  deadline: ` + time.Now().Add(48*time.Hour).UTC().Format(time.RFC3339) + `
  requests: [{pods: 1, resources: {cpu: 1m}, duration: 1h}]
`)
	r.until("the status of the reservation", func() error {
		return r.used(right{"patch", v1alpha1.GroupName, "reservations/status", "", ""})
	})
}

// events: the queue of a pod comes and goes, and what happens to the pod again is counted in the same event.
func (r *run) events() {
	r.apply(`{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: waiting, labels: {fairway.dev/queue: root.fleeting}}, spec: SPEC+{nodeSelector: {no: such}}}`)
	r.untilUsed(func(i int) {
		if i%2 == 0 {
			r.apply(`{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.fleeting}}`)
			return
		}
		_, err := r.w.Kubectl(r.Context(), "delete", "queue", "root.fleeting")
		must(r.T, err)
	}, right{"patch", "events.k8s.io", "events", "", ""})
}

// failingBindings: the API server answers bindings in a namespace with an error, so that the scheduler must find out whether it bound the pod, and
// take back what it did before for the pod: reservations, and claims that it made.
func (r *run) failingBindings() {
	there := &run{T: r.T, w: r.w, log: r.log, home: r.w.Namespace(r.T, "failing")}
	there.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: failing}
webhooks:
- name: failing.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods/binding], operations: [CREATE]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 1
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: NS, name: alone}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: widgets}}]}}}
`)
	there.untilUsed(func(i int) { // the API server may learn of the webhook late
		there.apply(strings.ReplaceAll(`
{apiVersion: v1, kind: Pod, metadata: {namespace: NS, name: device-N, labels: {fairway.dev/queue: root.a}}, spec: SPEC+{resourceClaims: [{name: d, resourceClaimName: alone}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: NS, name: widget-N, labels: {fairway.dev/queue: root.a}}
spec: {schedulerName: fairway, containers: [{name: c, image: none, resources: {limits: {example.com/widget: 1}}}]}
`, "-N", fmt.Sprint("-", i)))
	},
		right{"get", "", "pods", "", ""},
		right{"patch", "resource.k8s.io", "resourceclaims/status", "", ""},
		right{"delete", "resource.k8s.io", "resourceclaims", "", ""},
	)
	must(r.T, r.w.Admin.Kube.CoreV1().Pods(there.home).DeleteCollection(r.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// preemption: root.b gets its share from root.a, then an important pod its place from others of its queue.
func (r *run) preemption() {
	fill := func(queue string, n int, class string) {
		for i := range n {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: r.home, GenerateName: strings.ReplaceAll(queue, ".", "-") + "-", Labels: map[string]string{v1alpha1.KeyQueue: queue, "n": fmt.Sprint(i)},
				},
				Spec: corev1.PodSpec{
					SchedulerName: v1alpha1.SchedulerName, PriorityClassName: class, TerminationGracePeriodSeconds: new(int64),
					Containers: []corev1.Container{{Name: "c", Image: "none", Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
					}}},
				},
			}
			must(r.T, r.w.Admin.Client.Create(r.Context(), pod))
		}
	}
	running := func(queue string, want int) {
		r.until(fmt.Sprintf("%d pods of %s run", want, queue), func() error {
			list, err := r.w.Admin.Kube.CoreV1().Pods(r.home).List(r.Context(), metav1.ListOptions{LabelSelector: v1alpha1.KeyQueue + "=" + queue + ",n"})
			n := 0
			for i := range list.Items {
				if list.Items[i].Spec.NodeName != "" {
					n++
				}
			}
			if err == nil && n < want {
				err = fmt.Errorf("%d do", n)
			}
			return err
		})
	}
	fill("root.a", cores, "")
	running("root.a", cores-1)
	fill("root.b", cores/2-1, "")
	running("root.b", cores/2-1)
	if err := r.used(right{"create", "", "pods/eviction", "", ""}); err != nil {
		r.Error(err)
	}
	r.untilUsed(func(int) { fill("root.b", 1, "system-cluster-critical") }, right{"delete", "", "pods", "", ""})
}
