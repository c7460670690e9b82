package plan

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Schema is which fields there are. The zero value has all fields.
type Schema struct {
	kinds map[string]map[string]any // the openAPIV3Schema of each kind
}

// ParseSchema reads CustomResourceDefinitions.
func ParseSchema(definitions ...[]byte) (Schema, error) {
	s := Schema{kinds: map[string]map[string]any{}}
	for _, text := range definitions {
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return Schema{}, err
		}
		if crd.Spec.Names.Kind == "" || len(crd.Spec.Versions) == 0 {
			return Schema{}, fmt.Errorf("not a CustomResourceDefinition: %.60q", text)
		}
		s.kinds[crd.Spec.Names.Kind] = crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	return s, nil
}

// has reports whether the kind has the field.
func (s Schema) has(kind string, path []string) bool {
	if s.kinds == nil {
		return true
	}
	at := s.kinds[kind]
	for _, name := range path {
		properties, _ := at["properties"].(map[string]any)
		next, ok := properties[name].(map[string]any)
		if !ok {
			next, ok = at["additionalProperties"].(map[string]any)
		}
		if !ok {
			return false
		}
		at = next
	}
	return at != nil
}
