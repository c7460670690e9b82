package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	coreaccess "github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// Queues reads the Queues only.
func Queues(ctx context.Context, f *Flags) (*objects.Set, error) {
	untyped, err := untypedClient(f)
	if err != nil {
		return nil, err
	}
	s := &objects.Set{}
	if err := list(ctx, &s.Queues, untyped.Resource(v1alpha1.QueueResource).List, itemsOf); err != nil {
		return nil, explained("queues", err)
	}
	return s, nil
}

// Review asks the cluster about anybody, or, if self is set, about the user who asks, which takes no permission.
func Review(f *Flags, self bool) (access.Review, error) {
	config, err := f.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // a command asks what it needs and ends
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if self {
		return access.SelfReviews(client), nil
	}
	review := access.Reviews(client)
	return func(ctx context.Context, s coreaccess.Subject, g coreaccess.Grant) (bool, error) {
		allowed, err := review(ctx, s, g)
		if apierrors.IsForbidden(err) {
			return false, fmt.Errorf("asking what %s may do: %w; it takes create on subjectaccessreviews.authorization.k8s.io, "+
				"as ClusterRole fairway-access-reviewer grants; without a user the command shows what you may do", s.User, err)
		}
		return allowed, err
	}, nil
}
