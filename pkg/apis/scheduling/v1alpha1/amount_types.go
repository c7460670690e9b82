package v1alpha1

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// A Percentage is a part of the parent, such as "12.5%".
//
// +kubebuilder:validation:MaxLength=8
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,2}([.][0-9]{1,2})?|100([.]0{1,2})?)%$')",message="must be a percentage from 0% to 100% with at most two decimals, such as \"12.5%\""
type Percentage string

// Amounts are amounts of resources: quantities, or percentages of the cluster such as "12.5%".
//
// The bounds on their number and length keep the rules within what the API server lets rules cost; 32 characters hold any amount there is.
//
// +kubebuilder:validation:MaxProperties=32
// +kubebuilder:validation:XValidation:rule="self.all(name, string(self[name]).matches('^[0-9]*[.]?[0-9]+([numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,2})?$|^([0-9]{1,2}([.][0-9]{1,3})?|100([.]0{1,3})?)%$'))",messageExpression="self.filter(name, !string(self[name]).matches('^[0-9]*[.]?[0-9]+([numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,2})?$|^([0-9]{1,2}([.][0-9]{1,3})?|100([.]0{1,3})?)%$'))[0] + ': an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi, or a percentage of the cluster from 0% to 100% with at most three decimals'",message="an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi, or a percentage of the cluster from 0% to 100% with at most three decimals"
// +kubebuilder:validation:XValidation:rule="self.all(name, !format.qualifiedName().validate(name).hasValue())",messageExpression="self.filter(name, format.qualifiedName().validate(name).hasValue())[0] + ' is not the name of a resource, such as cpu, memory or example.com/gpu'",message="names must be names of resources, such as cpu, memory or example.com/gpu"
// +kubebuilder:validation:XValidation:rule="!('pods' in self)",message="pods: their number is a limit of each node and is not shared between queues"
type Amounts map[corev1.ResourceName]Amount

// An Amount is a quantity, such as 8, "500m" or 64Gi, or a percentage of the cluster, such as "12.5%".
//
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=32
type Amount struct {
	// Text is the amount as it was written. An IntOrString would hold a number in 32 bits, which are too few for bytes.
	Text string `json:"-"`
}

// UnmarshalJSON takes a number as its own text.
func (a *Amount) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &a.Text)
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return err
	}
	a.Text = number.String()
	return nil
}

// MarshalJSON writes text.
func (a Amount) MarshalJSON() ([]byte, error) { return json.Marshal(a.Text) }
