// Package crd tests the installed API on a real API server: that manifests/ installs, that a Queue is accepted or refused as
// queue_types.go says, with which words, and how kubectl shows it.
//
// Input are the committed manifests, output are test results. It tests no rule of the scheduler, and no scheduler runs here. The control
// plane is started once; -short leaves these tests out.
package crd

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// root of the source tree, seen from this folder, where go test runs.
const root = "../.."

var (
	cluster *localcluster.Cluster // nil with -short
	raw     dynamic.ResourceInterface
	typed   client.Client
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cluster, err = localcluster.Start(ctx, localcluster.Options{Log: os.Stderr})
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := cluster.Stop(); err == nil {
			err = stopErr
		}
	}()
	if err := connect(cluster.RESTConfig()); err != nil {
		return 1, err
	}
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "manifests")},
		{"wait", "--for=condition=Established", "--timeout=60s", "crd/queues.scheduling.fairway.dev", "crd/placementpolicies.scheduling.fairway.dev",
			"crd/reservations.scheduling.fairway.dev"},
	} {
		if out, err := kubectl(ctx, args...); err != nil {
			return 1, fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	// The API server describes a kind some time after it serves it.
	described := func(ctx context.Context) (bool, error) {
		_, err := kubectl(ctx, "explain", "queue")
		return err == nil, nil
	}
	if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, described); err != nil {
		return 1, fmt.Errorf("the API server does not describe Queues: %w", err)
	}
	return m.Run(), nil
}

func connect(config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	raw = all.Resource(v1alpha1.GroupVersion.WithResource("queues"))
	typed, err = client.New(config, client.Options{Scheme: scheme})
	return err
}

// kubectl runs the program against the cluster and returns what it printed.
func kubectl(ctx context.Context, args ...string) (string, error) {
	path := filepath.Join(root, "bin", "tools", "kubectl")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (hack/build-tools.sh makes it)", err)
	}
	command := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", cluster.Kubeconfig()}, args...)...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return out.String(), err
}

func needCluster(t *testing.T) context.Context {
	t.Helper()
	if cluster == nil {
		t.Skip("needs a control plane; left out with -short")
	}
	return t.Context()
}

// object makes a Queue of a name and the YAML of its spec, exactly as a user wrote it. "-" leaves spec out.
func object(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	fields := map[string]any{}
	if spec != "-" {
		if err := yaml.Unmarshal([]byte("spec: "+spec), &fields); err != nil {
			t.Fatal(err)
		}
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(v1alpha1.GroupVersion.String())
	u.SetKind("Queue")
	u.SetName(name)
	return u
}

// create makes a Queue and removes it at the end of the test.
func create(ctx context.Context, t *testing.T, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	out, err := raw.Create(ctx, u, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err == nil {
		t.Cleanup(func() {
			if err := raw.Delete(context.Background(), u.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	return out, err
}
