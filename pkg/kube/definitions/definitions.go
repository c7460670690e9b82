// Package definitions judges objects of the shipped kinds as the API server would, before anybody applies them.
//
// In: an object as it was decoded. Out: what the API server would refuse in it, each with its field: unknown fields, wrong
// types and values, and broken rules of the definition. The library is the API server's own. A definition is read and
// compiled when the first object of its kind is judged. The package reads nothing else, and changes no object.
package definitions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/manifests"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// shipped are the definitions by kind and apiVersion.
var shipped = map[string]func() (*definition, error){
	"Queue scheduling.fairway.dev/v1alpha1":           sync.OnceValues(func() (*definition, error) { return parse(manifests.Queues) }),
	"PlacementPolicy scheduling.fairway.dev/v1alpha1": sync.OnceValues(func() (*definition, error) { return parse(manifests.PlacementPolicies) }),
	"Reservation scheduling.fairway.dev/v1alpha1":     sync.OnceValues(func() (*definition, error) { return parse(manifests.Reservations) }),
	"PodGroup scheduling.x-k8s.io/v1alpha1":           sync.OnceValues(func() (*definition, error) { return parse(manifests.PodGroups) }),
}

// check returns the faults of an object of a shipped kind. The error is about the definition, not about the object.
func check(kind, apiVersion string, object map[string]any) ([]objects.Fault, error) {
	d, err := shipped[kind+" "+apiVersion]()
	if err != nil {
		return nil, err
	}
	object["kind"], object["apiVersion"] = kind, apiVersion
	return d.check(object), nil
}

// definition is one kind as the API server judges it.
type definition struct {
	namespaced bool
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

func parse(text []byte) (*definition, error) {
	var shipped apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &shipped); err != nil {
		return nil, err
	}
	var crd apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&shipped, &crd, nil); err != nil {
		return nil, err
	}
	properties, err := apiextensions.GetSchemaForVersion(&crd, crd.Spec.Versions[0].Name)
	if err != nil {
		return nil, err
	}
	d := &definition{namespaced: crd.Spec.Scope == apiextensions.NamespaceScoped}
	if d.structural, err = schema.NewStructural(properties.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	if d.validator, _, err = validation.NewSchemaValidator(properties.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	d.rules = cel.NewValidator(d.structural, true, celconfig.PerCallLimit)
	return d, nil
}

// check goes in the order of the API server. The rules of a definition are judged only of an object of the right shape.
func (d *definition) check(object map[string]any) []objects.Fault {
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return []objects.Fault{{Field: "metadata", Message: err.Error()}}
	}
	unknown = append(unknown, pruning.PruneWithOptions(object, d.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	var faults []objects.Fault
	for _, name := range unknown {
		faults = append(faults, objects.Fault{Field: name, Message: "there is no such field"})
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structural)
	defaulting.Default(object, d.structural)
	wrong := append(d.checkName(meta), validation.ValidateCustomResource(nil, object, d.validator)...)
	wrong = append(wrong, objectmeta.Validate(nil, object, d.structural, true)...)
	wrong = append(wrong, listtype.ValidateListSetsAndMaps(nil, d.structural, object)...)
	if len(wrong) == 0 {
		wrong, _ = d.rules.Validate(context.Background(), nil, d.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	for _, err := range wrong {
		faults = append(faults, fault(err))
	}
	return faults
}

func (d *definition) checkName(meta *metav1.ObjectMeta) field.ErrorList {
	if d.namespaced && meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault
	}
	return apivalidation.ValidateObjectMeta(meta, d.namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// maxValue is how much of a wrong value a message shows.
const maxValue = 64

// types are what the API server's library puts in the place of a value that it does not show.
var types = []string{"", "array", "boolean", "integer", "number", "object", "string"}

// fault is the message of the API server, with its field apart and no more of a value than helps.
func fault(err *field.Error) objects.Fault {
	short := *err
	short.Field = strings.TrimPrefix(short.Field, "<nil>") // the object itself
	// A rule of the whole object names the field in its sentence.
	if name, detail, ok := strings.Cut(short.Detail, ": "); ok && name == "metadata.name" && short.Field == "" {
		short.Field, short.Detail = name, detail
	}
	short.Detail = strings.TrimPrefix(short.Detail, short.Field+" in body ")
	text, isText := short.BadValue.(string)
	if short.BadValue == nil || short.BadValue == (field.OmitValueType{}) || isText && slices.Contains(types, text) {
		if kind := short.Type; kind == field.ErrorTypeInvalid || kind == field.ErrorTypeTypeInvalid {
			return objects.Fault{Field: short.Field, Message: short.Detail}
		}
	}
	if isText && len(text) > maxValue {
		short.BadValue = reason.Beginning(text, maxValue) + fmt.Sprintf("... (%d bytes)", len(text))
	}
	return objects.Fault{Field: short.Field, Message: short.ErrorBody()}
}
