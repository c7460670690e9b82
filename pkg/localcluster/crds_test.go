package localcluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

const crdText = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec: {group: example.org, names: {kind: Thing, plural: things}, versions: [{name: v1}]}
`

func TestCRDsAreInstalledWhenTheirObjectsAreServed(t *testing.T) {
	things := schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "things"}
	for _, tc := range []struct {
		name, text string
		answers    []error // of kube-apiserver when it is asked for things
		want       string
	}{
		{"served after a while", crdText, []error{notServed(), notServed(), nil}, ""},
		{"refused", crdText, []error{notServed(), errors.New("who are you?")}, "wait until things.example.org are served: who are you?"},
		{"no CRD", "{}", nil, "thing.yaml:  has no version"},
		{"no YAML", "[", nil, "thing.yaml: "},
		{"no file", "", nil, "no CRDs in "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			if tc.text != "" {
				if err := os.WriteFile(filepath.Join(folder, "thing.yaml"), []byte(tc.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"})
			asked := 0
			client.PrependReactor("list", "things", func(clienttesting.Action) (bool, runtime.Object, error) {
				err := tc.answers[asked]
				asked++
				return err != nil, nil, err
			})
			err := InstallCRDs(t.Context(), client, folder)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got error %v", err)
			}
			if asked != len(tc.answers) {
				t.Errorf("asked %d times, want %d", asked, len(tc.answers))
			}
		})
	}
}

func notServed() error { return apierrors.NewNotFound(schema.GroupResource{}, "") }
