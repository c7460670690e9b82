package convert

import (
	"errors"
	"regexp"
	"unique"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// saturation is where an amount counts as unlimited. The test uses an approximation, so saturation is a quarter of a
// percent below 2^63: what passes certainly fits.
const saturation = 9.2e18

// Amounts returns a Kubernetes resource list in the units of the core: cpu in milli-cores, everything else in whole
// units, both rounded up as kube-scheduler does. `pods` is left out: it is a limit of each node and not shared between
// queues. Negative amounts count as 0 and very large ones saturate, because this also reads objects that were never
// validated.
func Amounts(list corev1.ResourceList) resource.List {
	entries := make([]resource.Entry, 0, len(list))
	for name, quantity := range list {
		if name == corev1.ResourcePods {
			continue
		}
		entries = append(entries, resource.Entry{Name: named(name), Value: amount(name, quantity)})
	}
	return resource.Of(entries...) // sorts, so the order of the map does not matter
}

// named makes equal names one string. Names are compared for every pod and node, and comparing a string with itself ends
// at once.
func named(name corev1.ResourceName) resource.Name {
	return resource.Name(unique.Make(string(name)).Value())
}

func amount(name corev1.ResourceName, q apiresource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return scaled(q, apiresource.Milli, saturation/1000)
	}
	return scaled(q, 0, saturation)
}

// scaled reads a quantity at a scale. Quantity.ScaledValue alone answers 0, or wraps, when the value does not fit.
func scaled(q apiresource.Quantity, scale apiresource.Scale, limit float64) int64 {
	switch {
	case q.Sign() <= 0:
		return 0
	case q.AsApproximateFloat64() >= limit:
		return resource.Unlimited
	}
	return q.ScaledValue(scale)
}

// longExponent matches what the schema of a Queue refuses as well: an exponent of more than two digits.
var longExponent = regexp.MustCompile(`[eE][-+]?[0-9]{3,}$`)

// parse reads a quantity that a person wrote. The API server refuses a Queue with a long exponent, but a file may have one, and
// ParseQuantity takes minutes for 1e-2000000000.
func parse(text string) (apiresource.Quantity, error) {
	if longExponent.MatchString(text) {
		return apiresource.Quantity{}, errors.New("an exponent has at most two digits")
	}
	return apiresource.ParseQuantity(text)
}

// ResourceList returns a list of the core as Kubernetes spells it, in canonical form, with the suffixes that the core prints: "1500m"
// cpu, "20Gi" or "100G" memory, "3" devices.
func ResourceList(l resource.List) corev1.ResourceList {
	if l.Len() == 0 {
		return nil
	}
	out := make(corev1.ResourceList, l.Len())
	for i := range l.Len() {
		e := l.At(i)
		out[corev1.ResourceName(e.Name)] = quantity(e)
	}
	return out
}

func quantity(e resource.Entry) apiresource.Quantity {
	switch {
	case e.Name == resource.CPU:
		return *apiresource.NewMilliQuantity(e.Value, apiresource.DecimalSI)
	case resource.HasBinarySuffix(e.Name, e.Value):
		return *apiresource.NewQuantity(e.Value, apiresource.BinarySI)
	default:
		return *apiresource.NewQuantity(e.Value, apiresource.DecimalSI)
	}
}

// withoutZeros drops amounts of 0. Nodes list huge pages and devices that they do not have; these would only be noise.
func withoutZeros(l resource.List) resource.List {
	entries := make([]resource.Entry, 0, l.Len())
	for i := range l.Len() {
		if e := l.At(i); e.Value != 0 {
			entries = append(entries, e)
		}
	}
	return resource.Of(entries...)
}
