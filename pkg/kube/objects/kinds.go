package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// kinds are those that a stream may hold. Some are not kept: they do not matter to a picture, but dumps contain them.
var kinds = []struct{ kind, apiVersion string }{
	{"Queue", v1alpha1.GroupVersion.String()},
	{kindPolicy, v1alpha1.GroupVersion.String()},
	{kindReservation, v1alpha1.GroupVersion.String()},
	{"Node", "v1"},
	{"Pod", "v1"},
	{"DeviceClass", resourcev1.SchemeGroupVersion.String()},
	{convert.KindJob, "batch/v1"},
	{convert.KindReplicaSet, "apps/v1"},
	{convert.KindStatefulSet, "apps/v1"},
	{convert.KindReplicationController, "v1"},
	{convert.PodGroupKind, convert.PodGroups.GroupVersion().String()},
	{convert.PodGroupKind, convert.InTreePodGroups.GroupVersion().String()},
	{"PriorityClass", "scheduling.k8s.io/v1"},
	{kindBudget, policyv1.SchemeGroupVersion.String()},
	{kindClusterRole, rbacv1.SchemeGroupVersion.String()},
	{kindClusterRoleBinding, rbacv1.SchemeGroupVersion.String()},
	{"Role", rbacv1.SchemeGroupVersion.String()},
	{"RoleBinding", rbacv1.SchemeGroupVersion.String()},
}

const (
	kindBudget             = "PodDisruptionBudget"
	kindClusterRole        = "ClusterRole"
	kindClusterRoleBinding = "ClusterRoleBinding"
	kindPolicy             = "PlacementPolicy"
	kindReservation        = "Reservation"
)

// versionsOf returns the apiVersions of a kind, none for a kind that is unknown.
func versionsOf(kind string) (versions []string) {
	for _, k := range kinds {
		if k.kind == kind {
			versions = append(versions, k.apiVersion)
		}
	}
	return versions
}

// allowed is the end of every error about something that is not allowed in a stream.
func allowed() string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.kind+" ("+k.apiVersion+")")
	}
	return strings.Join(all, ", ") + " and Lists of them"
}

// header is what every object has, and all that errors need to name it.
type header struct {
	Kind, APIVersion string
	Namespace, Name  string
}

func (h header) String() string {
	switch {
	case h.Name == "":
		return h.Kind + " without a name"
	case h.Namespace != "":
		return h.Kind + " " + h.Namespace + "/" + h.Name
	}
	return h.Kind + " " + h.Name
}

// headerOf fails only if the text is no object, or its kind is no string.
func headerOf(raw []byte) (header, error) {
	var top struct {
		Kind       string          `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	if len(raw) == 0 || raw[0] != '{' {
		return header{}, fmt.Errorf("%.40s is not an object; allowed are %s", raw, allowed())
	}
	if err := utiljson.Unmarshal(raw, &top); err != nil {
		return header{}, err
	}
	h := header{Kind: top.Kind, APIVersion: top.APIVersion}
	metadata := map[string]json.RawMessage{}
	if json.Unmarshal(top.Metadata, &metadata) == nil { // else the object has no name, which is found later
		_ = json.Unmarshal(metadata["name"], &h.Name)
		_ = json.Unmarshal(metadata["namespace"], &h.Namespace)
	}
	return h, nil
}

func isList(h header) bool { return strings.HasSuffix(h.Kind, "List") }

// known returns an error for a kind that a stream may not hold.
func (h header) known() error {
	switch want := versionsOf(h.Kind); {
	case h.Kind == "":
		return fmt.Errorf("an object without a kind; allowed are %s", allowed())
	case want == nil:
		return fmt.Errorf("%v: the kind, of apiVersion %q, is unknown; allowed are %s", h, h.APIVersion, allowed())
	case !slices.Contains(want, h.APIVersion):
		return fmt.Errorf("%v: apiVersion is %q; allowed is %s", h, h.APIVersion, strings.Join(want, " or "))
	}
	return nil
}

// guessed takes in raw if it is a pod. Nearly all objects of a large stream are pods, and finding the kind first would
// mean to read each of them twice. of is the kind of the List if it leaves out the kinds of its items.
func (r *reader) guessed(raw []byte, of string) bool {
	if r.guess != "Pod" {
		return false
	}
	p := &corev1.Pod{}
	if utiljson.Unmarshal(raw, p) != nil || p.Name == "" {
		return false
	}
	if (p.Kind != "Pod" || p.APIVersion != "v1") && (p.Kind != "" || of != "Pod") || r.judge != nil && p.UID == "" {
		return false
	}
	return r.pod(p) == nil // else the long way finds the same error, and says where
}

// object takes in one object that is no List.
func (r *reader) object(h header, raw []byte) error {
	if err := h.known(); err != nil {
		return r.at(err)
	}
	if h.Name == "" {
		return r.at(fmt.Errorf("%v: allowed as metadata.name is any text that is not empty", h))
	}
	r.guess = h.Kind
	if err := r.decode(h, raw); err != nil {
		return r.atField(fieldIn(err), fmt.Errorf("%v: %w", h, err))
	}
	return r.judgeObject(h, raw)
}

func (r *reader) owner(kind string, raw []byte) error {
	o := &convert.Owner{}
	if err := utiljson.Unmarshal(raw, o); err != nil {
		return err
	}
	if o.Namespace == "" {
		o.Namespace = metav1.NamespaceDefault
	}
	return keep(r, &r.set.Owners, kind, convert.NewOwner(kind, &o.ObjectMeta, o.Spec))
}

func (r *reader) decode(h header, raw []byte) error {
	switch s, kind := r.set, h.Kind; kind {
	case "Queue":
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(raw, &u.Object); err != nil {
			return err
		}
		return keep(r, &s.Queues, kind, u)
	case kindPolicy:
		return r.placementPolicy(h, raw)
	case kindReservation:
		return r.untyped(h, raw, &s.Reservations, kind)
	case "Node":
		n := &corev1.Node{}
		if err := utiljson.Unmarshal(raw, n); err != nil {
			return err
		}
		if err := checkNode(n); err != nil {
			return err
		}
		n.TypeMeta = metav1.TypeMeta{}
		return keep(r, &s.Nodes, kind, n)
	case "Pod":
		p := &corev1.Pod{}
		if err := utiljson.Unmarshal(raw, p); err != nil {
			return err
		}
		return r.pod(p)
	case "DeviceClass":
		c := &resourcev1.DeviceClass{}
		if err := utiljson.Unmarshal(raw, c); err != nil {
			return err
		}
		c.TypeMeta = metav1.TypeMeta{}
		return keep(r, &s.DeviceClasses, kind, c)
	case convert.PodGroupKind:
		return r.podGroup(h, raw)
	case kindBudget:
		b := &policyv1.PodDisruptionBudget{}
		if err := utiljson.Unmarshal(raw, b); err != nil {
			return err
		}
		return r.budget(b)
	case kindClusterRole:
		return take(r, &s.ClusterRoles, kind, &rbacv1.ClusterRole{}, raw)
	case kindClusterRoleBinding:
		return take(r, &s.ClusterRoleBindings, kind, &rbacv1.ClusterRoleBinding{}, raw)
	case convert.KindJob, convert.KindReplicaSet, convert.KindStatefulSet, convert.KindReplicationController:
		return r.owner(kind, raw)
	}
	if !slices.Contains(r.set.others, h.Kind) {
		r.set.others = append(r.set.others, h.Kind)
	}
	return nil
}

// take decodes an object that needs no further look.
func take[T metav1.Object](r *reader, list *[]T, kind string, o T, raw []byte) error {
	if err := utiljson.Unmarshal(raw, o); err != nil {
		return err
	}
	return keep(r, list, kind, o)
}

// placementPolicy takes in the only PlacementPolicy that there may be.
func (r *reader) placementPolicy(h header, raw []byte) error {
	if h.Name != v1alpha1.PlacementPolicyName {
		return fmt.Errorf("allowed as metadata.name is only %s: there is one PlacementPolicy for the cluster", v1alpha1.PlacementPolicyName)
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &u.Object); err != nil {
		return err
	}
	var list []*unstructured.Unstructured
	if r.set.PlacementPolicy != nil {
		list = append(list, r.set.PlacementPolicy)
	}
	err := keep(r, &list, h.Kind, u)
	if r.set.PlacementPolicy = list[0]; list[0] == u {
		r.set.policyAt = Problem{File: r.file, Line: r.lineOf("spec.rules")}
	}
	return err
}

// podGroup takes in a pod group of either kind. The apiVersion tells which; an item of a list may leave it out.
func (r *reader) podGroup(h header, raw []byte) error {
	group, _, _ := strings.Cut(h.APIVersion, "/")
	return r.untyped(h, raw, &r.set.PodGroups, h.Kind+" "+group)
}

// untyped takes in an object of a namespace that is not decoded.
func (r *reader) untyped(h header, raw []byte, list *[]*unstructured.Unstructured, kind string) error {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &u.Object); err != nil {
		return err
	}
	u.SetAPIVersion(h.APIVersion)
	u.SetKind(h.Kind)
	if u.GetNamespace() == "" {
		u.SetNamespace(metav1.NamespaceDefault)
	}
	return keep(r, list, kind, u)
}

func (r *reader) budget(b *policyv1.PodDisruptionBudget) error {
	if _, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	if b.Namespace == "" {
		b.Namespace = metav1.NamespaceDefault
	}
	b.TypeMeta = metav1.TypeMeta{}
	return keep(r, &r.set.PodDisruptionBudgets, kindBudget, b)
}

func (r *reader) pod(p *corev1.Pod) error {
	if err := checkPod(p); err != nil {
		return err
	}
	if p.Namespace == "" {
		p.Namespace = metav1.NamespaceDefault
	}
	p.TypeMeta = metav1.TypeMeta{}
	return keep(r, &r.set.Pods, "Pod", p)
}

type key struct{ kind, namespace, name string }

// stand-in for a missing UID. No real UID has a slash.
func (k key) uid() types.UID { return types.UID(k.kind + "/" + k.namespace + "/" + k.name) }

// keep puts o into list. If another state of the same object is there already, the newer one stays.
func keep[T metav1.Object](r *reader, list *[]T, kind string, o T) error {
	o.SetManagedFields(nil) // a third of a pod, and of no use
	k := key{kind, o.GetNamespace(), o.GetName()}
	if o.GetUID() == "" {
		o.SetUID(k.uid())
	}
	i, again := r.seen[k]
	if !again {
		r.seen[k] = len(*list)
		*list = append(*list, o)
		return nil
	}
	before := (*list)[i]
	if o.GetUID() == k.uid() {
		o.SetUID(before.GetUID())
	}
	if a, b := before.GetUID(), o.GetUID(); a != b && a != k.uid() {
		return fmt.Errorf("uid is %s here and %s before: the stream holds two clusters, or one at two times; allowed is one picture of one cluster", b, a)
	}
	if !older(o, before) {
		(*list)[i] = o
	}
	return nil
}

// older compares resource versions if both objects have one; otherwise the later object in the stream is newer.
func older(o, than metav1.Object) bool {
	a, errA := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	b, errB := strconv.ParseUint(than.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && a < b
}

// checkNode refuses what no API server would accept, and a hand-written node that would silently offer nothing: the
// scheduler counts only nodes that say they are Ready.
func checkNode(n *corev1.Node) error {
	if n.UID == "" && len(n.Status.Conditions) == 0 && len(n.Status.Allocatable) > 0 {
		return errors.New(`status.conditions are missing, so no scheduler would use it; allowed is a list with {type: Ready, status: "True"}, or "False"`)
	}
	if err := checkAmounts("status.allocatable", n.Status.Allocatable); err != nil {
		return err
	}
	return checkTime(n.CreationTimestamp)
}

func checkPod(p *corev1.Pod) error {
	if err := checkTime(p.CreationTimestamp); err != nil {
		return err
	}
	if err := checkAmounts("spec.overhead", p.Spec.Overhead); err != nil {
		return err
	}
	if p.Spec.Resources != nil {
		if err := checkAmounts("spec.resources.requests", p.Spec.Resources.Requests); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		field string
		all   []corev1.Container
	}{{"spec.initContainers", p.Spec.InitContainers}, {"spec.containers", p.Spec.Containers}} {
		for i := range of.all {
			if err := checkAmounts("resources.requests", of.all[i].Resources.Requests); err != nil {
				return fmt.Errorf("%s[%d].%w", of.field, i, err)
			}
		}
	}
	return checkStatuses(p)
}

// checkStatuses checks the amounts that count while a pod is resized in place.
func checkStatuses(p *corev1.Pod) error {
	for _, of := range []struct {
		field string
		all   []corev1.ContainerStatus
	}{{"status.initContainerStatuses", p.Status.InitContainerStatuses}, {"status.containerStatuses", p.Status.ContainerStatuses}} {
		for i := range of.all {
			err := checkAmounts("allocatedResources", of.all[i].AllocatedResources)
			if r := of.all[i].Resources; err == nil && r != nil {
				err = checkAmounts("resources.requests", r.Requests)
			}
			if err != nil {
				return fmt.Errorf("%s[%d].%w", of.field, i, err)
			}
		}
	}
	return nil
}

// checkAmounts names the first wrong amount in name order.
func checkAmounts(field string, amounts corev1.ResourceList) error {
	var wrong []corev1.ResourceName
	for name, q := range amounts {
		if q.Sign() < 0 || q.Format == resource.DecimalExponent && isHuge(q) {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	name := slices.Min(wrong)
	q := amounts[name]
	return fmt.Errorf("%s: %s is %s; allowed is 0 or more, with an exponent of at most %d", field, name, q.String(), maxExponent)
}

// maxExponent bounds amounts like 1e999999999, whose sum with another amount would need too much memory. Amounts
// saturate long before.
const maxExponent = 99

func isHuge(q resource.Quantity) bool { return -q.AsDec().Scale() > maxExponent }

func checkTime(created metav1.Time) error {
	if created.IsZero() || !created.Time.Before(earliest) && created.Time.Before(latest) {
		return nil
	}
	return fmt.Errorf("metadata.creationTimestamp is %s; allowed are times from %d to %d", created.UTC().Format("2006-01-02"), earliest.UTC().Year(), latest.Year()-1)
}
