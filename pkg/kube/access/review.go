package access

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
)

// Review asks whether a subject was given a grant.
type Review func(context.Context, access.Subject, access.Grant) (bool, error)

// Reviews returns a Review by SubjectAccessReviews. All authorizers of the API server take part, not only RBAC.
func Reviews(c authorizationclient.SubjectAccessReviewsGetter) Review {
	return func(ctx context.Context, s access.Subject, g access.Grant) (bool, error) {
		answer, err := c.SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: s.User, Groups: access.SplitGroups(s.Groups),
			ResourceAttributes: attributes(g),
		}}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return answer.Status.Allowed, nil // an error that one authorizer met does not count: what it did not allow is not allowed
	}
}

// SelfReviews returns a Review of the user who sends it: whatever subject it is asked about, that user is judged. It takes no permission.
func SelfReviews(c authorizationclient.SelfSubjectAccessReviewsGetter) Review {
	return func(ctx context.Context, _ access.Subject, g access.Grant) (bool, error) {
		answer, err := c.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes(g)},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return answer.Status.Allowed, nil
	}
}

func attributes(g access.Grant) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Group: v1alpha1.QueueResource.Group, Version: v1alpha1.QueueResource.Version, Resource: v1alpha1.QueueResource.Resource,
		Name: string(g.Queue), Verb: string(g.Verb),
	}
}
