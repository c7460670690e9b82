package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

//go:embed teams.yaml
var teamsYAML []byte

// teams is the demo of identity, access and placement.
var teams = show{
	objects: teamsYAML, nodes: 4, cores: 4 * podCores, gib: 4 * podGiB, aim: "all scenes had come true",
	checkAccess: true, install: installTeams, open: openTeams,
}

// everyoneSubmits is the binding of manifests/access that opens the tree to everybody.
const everyoneSubmits = "fairway-everyone-submits"

// installTeams installs manifests/identity and manifests/access as they are, closes the tree, and returns when all of it is in force.
func installTeams(ctx context.Context, d *demo) error {
	for _, folder := range []string{"identity", "access"} {
		d.say("kubectl apply -k manifests/%s", folder)
		if out, err := d.run(ctx, filepath.Join(d.root, "bin", "tools", "kubectl"), d.cluster.Kubeconfig(), "apply", "-k", filepath.Join(d.root, "manifests", folder)); err != nil {
			return fmt.Errorf("install manifests/%s: %w\n%s", folder, err, out)
		}
	}
	d.say("kubectl delete clusterrolebinding %s", everyoneSubmits)
	if err := d.pods.RbacV1().ClusterRoleBindings().Delete(ctx, everyoneSubmits, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := d.cluster.PoliciesSettle(ctx); err != nil {
		return err
	}
	for _, right := range []struct {
		user, verb, queue string
		want              bool
	}{{carl, "administer", "root." + ads, true}, {ann, "submit", "root." + ads, true}, {bob, "submit", "root." + web, true}, {bob, "submit", v1alpha1.RootQueue, false}} {
		err := awaitRight(ctx, d.pods.AuthorizationV1().SubjectAccessReviews(), right.want, authorizationv1.SubjectAccessReviewSpec{
			User: right.user, Groups: []string{groupOf[right.user], "system:authenticated"}, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: right.verb, Group: v1alpha1.GroupName, Resource: v1alpha1.QueueResource.Resource, Name: right.queue,
			},
		})
		if err != nil {
			return fmt.Errorf("wait until the rights of %s are in force: %w", right.user, err)
		}
	}
	for _, namespace := range []string{ads, web} {
		if err := d.awaitAccount(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// awaitAccount returns when a new namespace has the service account without which no pod can be created in it.
func (d *demo) awaitAccount(ctx context.Context, namespace string) error {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, grantLimit, true, func(ctx context.Context) (bool, error) {
		_, err := d.pods.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait until namespace %s has a service account: %w", namespace, err)
	}
	return nil
}

// run runs a program with a kubeconfig, and returns all that it prints. What it caches is in the directory of the cluster.
func (d *demo) run(ctx context.Context, program, kubeconfig string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, append(args, "--kubeconfig", kubeconfig)...)
	command.Dir = d.dir()
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir(), "TZ=UTC"}
	out, err := command.CombinedOutput()
	return string(out), err
}

// teamsPlayer does what the story decides, each scene as its user.
type teamsPlayer struct {
	demo     *demo
	observer *observer
	fairway  string // the program kubectl-fairway
	users    map[string]teamUser
	story    teamsStory
	reply    *reply
	view     view // what was last shown
}

// teamUser is a user with a client certificate.
type teamUser struct {
	kubeconfig string
	objects    dynamic.Interface
}

func openTeams(ctx context.Context, d *demo) (player, error) {
	p := &teamsPlayer{demo: d, users: map[string]teamUser{}, story: teamsStory{once: d.options.Once, limit: d.options.Deadline, scenes: teamsScenes()}}
	var err error
	if p.fairway, err = program(d.root, "kubectl-fairway"); err != nil {
		return nil, err
	}
	for name, group := range groupOf {
		if p.users[name], err = d.user(name, group); err != nil {
			return nil, err
		}
	}
	if p.observer, err = observe(ctx, d.pods, d.objects); err != nil {
		return nil, err
	}
	d.say("%s is in team %s, %s in team %s; %s of group %s administers root.%s;", ann, ads, bob, web, carl, ops, ads)
	d.say("  all of them have client certificates")
	return p, nil
}

// user gives somebody a client certificate.
func (d *demo) user(name, group string) (u teamUser, err error) {
	if u.kubeconfig, err = d.cluster.KubeconfigFor(name, group); err != nil {
		return u, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", u.kubeconfig)
	if err != nil {
		return u, err
	}
	config.WarningHandler = rest.NoWarnings{}
	u.objects, err = dynamic.NewForConfig(config)
	return u, err
}

func (p *teamsPlayer) leave() { p.demo.keepLastView(p.view) }

func (p *teamsPlayer) step(ctx context.Context) (done bool, err error) {
	now := time.Now()
	world, err := p.observer.world(now)
	if err := p.demo.handleError(err); err != nil {
		return false, err
	}
	turn := p.story.step(now, seen{reply: p.reply, pods: p.observer.all(), queues: world.queues})
	if p.story.begun {
		p.view = view{title: p.story.headline(), elapsed: now.Sub(p.demo.began), body: teamRows{world.queues}, hints: p.hints()}
		p.demo.screen.show(now, p.view)
	}
	for _, line := range turn.say {
		p.demo.say("%s", line)
	}
	if turn.done || turn.err != nil || turn.begin == nil {
		return turn.done, turn.err
	}
	p.reply, err = p.do(ctx, turn.begin)
	return false, p.demo.handleError(err)
}

// do does what a user does in a scene. An error says that there was no answer.
func (p *teamsPlayer) do(ctx context.Context, c *scene) (*reply, error) {
	user := p.users[c.who]
	if c.command != nil {
		out, err := p.demo.run(ctx, p.fairway, user.kubeconfig, c.command...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &reply{text: out, failed: err != nil}, nil
	}
	var err error
	if objects := resourceOf(user.objects, c.object); c.patch != "" {
		_, err = objects.Patch(ctx, c.object.GetName(), types.MergePatchType, []byte(c.patch), metav1.PatchOptions{})
	} else {
		_, err = objects.Create(ctx, c.object, metav1.CreateOptions{})
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return &reply{text: err.Error(), failed: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.who, c.title(), err)
	}
	return &reply{}, nil
}

// hints suggest what to try, when all is told.
func (p *teamsPlayer) hints() []string {
	if p.demo.options.Once || !p.story.over {
		return nil
	}
	return teamsHints(p.demo.cluster.Kubeconfig(), tool(p.demo.root, "bin", "tools", "kubectl"), tool(p.demo.root, "bin", "kubectl-fairway"))
}

func teamsHints(kubeconfig, kubectl, fairway string) []string {
	return hints(kubeconfig, fairway+inBrowser, fairway+" access "+bob+" --groups "+web, fairway+" why probe -n "+ads,
		kubectl+" --as "+carl+" delete queue root.ads.nightly", kubectl+" --as "+carl+" delete queue root.web.bob   # is refused")
}

// teamRows are the queues. When they change, they need not be printed again: the scenes say what happens.
type teamRows struct{ queueRows }

func (teamRows) essence() string { return "" }
