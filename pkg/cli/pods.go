package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

const whyLong = `Say why a pod waits: the one thing that stops it, with numbers; what is ahead of it; who holds what it needs; and the
smallest changes that would let it start.

It is running, next (would be released now), waiting (for its turn), room (no node has room), held (blocked by a
limit or another rule), parked (nodes have room, and it fitted none when it was tried), or refused (no queue takes it).`

const whyExample = `  # One pod
  kubectl fairway why my-pod -n team-a

  # All pods of an application
  kubectl fairway why -l fairway.dev/application=nightly

  # Would it start with this Queue?
  kubectl fairway why my-pod --with root.etl.yaml`

func newWhy(o *options) *cobra.Command {
	var selector string
	var all bool
	c := &cobra.Command{
		Use: "why POD...", Short: "Say why pods wait, and what would let them start", Long: whyLong, Example: whyExample,
		ValidArgsFunction: o.completePod,
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 0) == (selector == "") {
				return usagef("say which pods: by name, or by -l selector")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			namespace := o.namespace()
			if all {
				namespace = ""
			}
			var absent error // about pods that are named and are not there: the others have an answer all the same
			err := o.show(c.Context(), func(before, _ *asked) (viewer, error) {
				uids, missing, err := o.podsOf(before.World, namespace, selector, args)
				absent = missing
				return func(w *world.World) (report.Compared, error) {
					answers, err := w.Why(c.Context(), uids...)
					return report.Why{One: len(args) == 1, Answers: answers}, err
				}, err
			})
			return cmp.Or(err, absent)
		},
	}
	o.addFlags(c)
	o.addWatch(c)
	c.Flags().StringVarP(&selector, "selector", "l", "", "all pods with these `LABELS`, as kubectl get -l has them")
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "look in all namespaces")
	return c
}

// podsOf finds the pods that the user asks about. If some of those that are named are there, missing is about the others.
func (o *options) podsOf(w *world.World, namespace, selector string, names []string) (uids []ledger.UID, missing, err error) {
	if selector != "" {
		uids, err = o.selected(w, namespace, selector)
		return uids, nil, err
	}
	for _, name := range names {
		uid, err := o.podNamed(w, namespace, strings.TrimPrefix(strings.TrimPrefix(name, "pods/"), "pod/"))
		switch {
		case err == nil:
			uids = append(uids, uid)
		case missing == nil:
			missing = err
		default:
			missing = fmt.Errorf("%w; %w", missing, err)
		}
	}
	if len(uids) == 0 {
		return nil, nil, missing
	}
	return uids, missing, nil
}

func (o *options) selected(w *world.World, namespace, selector string) (uids []ledger.UID, err error) {
	selected, err := w.Objects.Select(namespace, selector)
	if err != nil {
		return nil, err
	}
	chosen := make(map[ledger.UID]bool, len(selected))
	for _, uid := range selected {
		chosen[ledger.UID(uid)] = true
	}
	for _, p := range w.Pods() {
		if chosen[p.UID] {
			uids = append(uids, p.UID)
		}
	}
	if len(uids) == 0 {
		return nil, fmt.Errorf("no pod of %s in %s has labels %s", strings.Join(w.Schedulers, ", "), inNamespace(namespace), selector)
	}
	return uids, nil
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return "any namespace"
	}
	return "namespace " + namespace
}

func (o *options) podNamed(w *world.World, namespace, name string) (ledger.UID, error) {
	var uids []ledger.UID
	var namespaces, names []string
	for _, p := range w.Pods() {
		if namespace != "" && p.Namespace != namespace {
			if p.Name == name {
				namespaces = append(namespaces, p.Namespace)
			}
			continue
		}
		names = append(names, p.Name)
		if p.Name == name {
			uids, namespaces = append(uids, p.UID), append(namespaces, p.Namespace)
		}
	}
	switch {
	case len(uids) == 1:
		return uids[0], nil
	case len(uids) > 1:
		return "", fmt.Errorf("pod %s is in namespaces %s; say which with -n", name, strings.Join(namespaces, ", "))
	}
	for _, p := range w.Objects.Pods {
		switch {
		case p.Name != name || namespace != "" && p.Namespace != namespace:
		case !slices.Contains(w.Schedulers, p.Spec.SchedulerName):
			return "", fmt.Errorf("pod %s/%s has schedulerName %q and is none of %s's; see --scheduler-name", p.Namespace, name, p.Spec.SchedulerName, strings.Join(w.Schedulers, ", "))
		default:
			return "", fmt.Errorf("pod %s/%s has ended (%s)", p.Namespace, name, p.Status.Phase)
		}
	}
	hint := suggestion(name, names)
	if len(namespaces) > 0 {
		hint = "; there is one in namespace " + strings.Join(namespaces, " and ")
	}
	return "", fmt.Errorf("pod %s does not exist in %s of %s%s", name, inNamespace(namespace), o.source(), hint)
}

const orderLong = `Show which pods are released next, in exact order, and the comparisons that decided each step: from root down, which queue
went before which, and why. Pods that a rule holds are not among them. Nothing is released by looking.

Pods that no node has room for now come last, in the order in which they would go if room appeared for all.`

const orderExample = `  # The next ten releases
  kubectl fairway order

  # The next three of one queue, with their places among all
  kubectl fairway order root.etl --next 3

  # How would another weight change the order?
  kubectl fairway order --with root.etl.yaml`

func newOrder(o *options) *cobra.Command {
	next := 10
	c := &cobra.Command{
		Use: "order [QUEUE]", Short: "Show which pods are released next, and what decides", Long: orderLong, Example: orderExample,
		Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: func(c *cobra.Command, args []string) error {
			if next < 1 {
				return usagef("--next %d: must be 1 or more", next)
			}
			return o.aboutQueue(func(w *world.World, top queue.Path) (report.Compared, error) {
				return w.Order(top, next), nil
			})(c, args)
		},
	}
	o.addFlags(c)
	o.addWatch(c)
	c.Flags().IntVar(&next, "next", next, "how many (`N`) releases to show")
	return c
}
