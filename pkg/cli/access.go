package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	coreaccess "github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

const accessLong = `Show the queues, and what USER may do with them: submit (run pods there), reserve (capacity of
them) and administer (all of that, and create, change and delete the queues below). Without USER it shows what you may do.

A grant on a queue counts for all queues below it: "from root.ads" names the queue on which it was given. On a live
cluster the API server answers, whatever authorizers it has. From a file the ClusterRoles and ClusterRoleBindings in
the file do.

What you may do yourself takes no permission but to list Queues. To ask about others takes create on
subjectaccessreviews.authorization.k8s.io, as ClusterRole fairway-access-reviewer grants.

Groups are named with --groups. Those that every user has are added: system:authenticated, and those of a service
account.`

const accessExample = `  # What may I do?
  kubectl fairway access

  # What may somebody else, or a service account?
  kubectl fairway access ada --groups ads,research
  kubectl fairway access system:serviceaccount:team:spark

  # Before it is applied
  kubectl get queues,clusterroles,clusterrolebindings -o yaml > dump.yaml
  kubectl fairway access ada -f dump.yaml -f new-role.yaml`

func newAccess(o *options) *cobra.Command {
	var groups []string
	c := &cobra.Command{
		Use: "access [USER]", Short: "Show what a user may do with each queue", Long: accessLong, Example: accessExample,
		Args: atMostOne("user"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			d, problems, err := o.access(c.Context(), args, groups)
			if err != nil {
				return o.refuse(err)
			}
			return o.answer(d, o.Now(), problems)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringSliceVar(&groups, "groups", nil, "the groups (`GROUP,...`) of the user")
	o.addFileFlag(c)
	o.addOutputFlags(c)
	return c
}

func (o *options) access(ctx context.Context, args, groups []string) (report.Document, []objects.Problem, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	self := len(args) == 0
	if self && (len(o.files) > 0 || len(groups) > 0) {
		return nil, nil, usagef("name a user: a file does not know who you are, and your groups are known to the API server")
	}
	var subject coreaccess.Subject
	if !self {
		subject = coreaccess.NewSubject(args[0], access.Assumed(args[0], groups))
	}
	set, review, problems, err := o.accessSource(ctx, self)
	if err != nil {
		return nil, nil, err
	}
	rights, err := access.All(ctx, subject, queuesOf(set), review)
	if err != nil {
		return nil, nil, err
	}
	d := report.Access{User: subject.User, Groups: coreaccess.SplitGroups(subject.Groups)}
	for _, r := range rights {
		d.Queues = append(d.Queues, report.Right(r))
	}
	return d, problems, nil
}

func (o *options) accessSource(ctx context.Context, self bool) (*objects.Set, access.Review, []objects.Problem, error) {
	if len(o.files) == 0 {
		set, err := cluster.Queues(ctx, o.cluster)
		review, rerr := cluster.Review(o.cluster, self)
		return set, review, nil, errors.Join(err, rerr)
	}
	set, problems, err := o.readObjects(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	return set, access.Roles(set.ClusterRoles, set.ClusterRoleBindings), problems, nil
}

// queuesOf are the paths of all Queues with a valid name, and root, in order.
func queuesOf(set *objects.Set) []queue.Path {
	paths := []queue.Path{queue.Root}
	for _, q := range set.Queues {
		if p, err := queue.ParsePath(q.GetName()); err == nil {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, queue.ComparePaths)
	return slices.Compact(paths)
}
