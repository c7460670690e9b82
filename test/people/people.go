// Package people runs a real control plane on which real users act, for the tests of identity and access.
//
// A World is etcd, kube-apiserver with RBAC and kube-controller-manager. A User of it is a person with a client certificate, a service account
// with a token, or either of them impersonating somebody else; RBAC allows a new user nothing. What a test cannot do it reports by t.Fatal.
//
// The package knows how to become somebody, not what Fairway decides about them: it must not import the scheduler's rules.
package people

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// patience bounds every wait. It is for a machine that is busy with other things; what is waited for comes in a second or two.
const patience = time.Minute

// root of the source tree, seen from a folder of test/, where go test runs.
var root = filepath.Join("..", "..")

// World is a control plane and its administrator.
type World struct {
	Cluster *localcluster.Cluster
	// Admin is in system:masters, which may do everything whatever RBAC says.
	Admin *User
}

// User is somebody who sends requests.
type User struct {
	// Name and Groups are what the API server knows the user by.
	Name   string
	Groups []string
	Config *rest.Config
	Kube   kubernetes.Interface
	// Client reads and writes objects of any kind, Queues included.
	Client client.Client
}

// Start runs a control plane until Stop. ControllerManager need not be set.
func Start(ctx context.Context, options localcluster.Options) (*World, error) {
	options.ControllerManager = true
	cluster, err := localcluster.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	w := &World{Cluster: cluster}
	if w.Admin, err = newUser(cluster.RESTConfig()); err == nil {
		err = w.Admin.learnName(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return w, nil
}

// Stop ends the control plane.
func (w *World) Stop() error { return w.Cluster.Stop() }

func newUser(config *rest.Config) (*User, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	u := &User{Config: config}
	var err error
	if u.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	u.Client, err = client.New(config, client.Options{Scheme: scheme})
	return u, err
}

// learnName asks the API server who this is.
func (u *User) learnName(ctx context.Context) error {
	review, err := u.Kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	u.Name, u.Groups = review.Status.UserInfo.Username, review.Status.UserInfo.Groups
	return nil
}

func known(t testing.TB, config *rest.Config) *User {
	t.Helper()
	u, err := newUser(config)
	must(t, err)
	must(t, u.learnName(t.Context()))
	return u
}

// Person is a user with a client certificate that the cluster's authority has signed.
func (w *World) Person(t testing.TB, name string, groups ...string) *User {
	t.Helper()
	path, err := w.Cluster.KubeconfigFor(name, groups...)
	must(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	must(t, err)
	return known(t, config)
}

// Account is a service account with a token. The account is created if it is not there.
func (w *World) Account(t testing.TB, namespace, name string) *User {
	t.Helper()
	return w.account(t, namespace, name, nil)
}

// Inside is what runs in a pod: the service account of the pod, with a token that is bound to the pod.
func (w *World) Inside(t testing.TB, pod *corev1.Pod) *User {
	t.Helper()
	return w.account(t, pod.Namespace, pod.Spec.ServiceAccountName,
		&authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID})
}

func (w *World) account(t testing.TB, namespace, name string, bound *authenticationv1.BoundObjectReference) *User {
	t.Helper()
	accounts := w.Admin.Kube.CoreV1().ServiceAccounts(namespace)
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	token, err := accounts.CreateToken(t.Context(), name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: bound}}, metav1.CreateOptions{})
	must(t, err)
	config := rest.AnonymousClientConfig(w.Cluster.RESTConfig())
	config.BearerToken = token.Status.Token
	return known(t, config)
}

// Kubeconfig is a file with which a program acts as this user. It is gone after the test.
func (u *User) Kubeconfig(t testing.TB) string {
	t.Helper()
	const name = "people"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: u.Config.Host, CertificateAuthorityData: u.Config.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token: u.Config.BearerToken, ClientCertificateData: u.Config.CertData, ClientKeyData: u.Config.KeyData,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, path))
	return path
}

// As is this user impersonating another. Whether that is allowed shows at the first request.
func (u *User) As(t testing.TB, name string, groups ...string) *User {
	t.Helper()
	config := rest.CopyConfig(u.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	as, err := newUser(config)
	must(t, err)
	as.Name, as.Groups = name, groups
	return as
}

// Namespace creates a namespace with a name of its own and its default service account.
func (w *World) Namespace(t testing.TB, prefix string) string {
	t.Helper()
	made, err := w.Admin.Kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}, metav1.CreateOptions{})
	must(t, err)
	Until(t, "namespace "+made.Name+" has a service account", func() error {
		_, err := w.Admin.Kube.CoreV1().ServiceAccounts(made.Name).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return made.Name
}

// Kubectl runs kubectl as the administrator and returns what it printed. It is for TestMain, too.
func (w *World) Kubectl(ctx context.Context, args ...string) (string, error) {
	return kubectl(ctx, w.Cluster.Kubeconfig(), "", args...)
}

// Apply installs text, YAML of any number of objects, as a user would: by kubectl, validated strictly.
func (w *World) Apply(t testing.TB, text string) {
	t.Helper()
	if out, err := kubectl(t.Context(), w.Cluster.Kubeconfig(), text, "apply", "--validate=strict", "-f", "-"); err != nil {
		t.Fatalf("apply: %v\n%s\n%s", err, out, text)
	}
}

func kubectl(ctx context.Context, kubeconfig, input string, args ...string) (string, error) {
	path := filepath.Join(root, "bin", "tools", "kubectl")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (hack/build-tools.sh makes it)", err)
	}
	command := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", kubeconfig}, args...)...)
	command.Stdin = strings.NewReader(input)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String(), nil
}

// Until repeats a check until it gives no error.
func Until(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if t.Context().Err() != nil || time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Annotate is a merge patch that sets an annotation at a path, "" for the object's own: "spec.template".
func Annotate(at, key, value string) client.Patch {
	text := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	steps := strings.FieldsFunc(at, func(r rune) bool { return r == '.' })
	for _, step := range slices.Backward(steps) {
		text = fmt.Sprintf(`{%q:%s}`, step, text)
	}
	return client.RawPatch(types.MergePatchType, []byte(text))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
