package feed

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// gangs is the part of a ledger that takes pod groups.
type gangs interface {
	ObservePodGroup(g ledger.PodGroup)
	ForgetPodGroup(key string)
}

// PodGroups is the handler for dynamic informers of both kinds of pod groups.
func (f *Feed) PodGroups() cache.ResourceEventHandler {
	return podGroups(f.Ledger, f.Kick, f.Unreadable)
}

func podGroups(to gangs, kick func(), unreadable func(error)) cache.ResourceEventHandler {
	return renewing(func(u *unstructured.Unstructured) {
		if err := observePodGroup(to, u); err != nil && unreadable != nil {
			unreadable(err)
		}
		kick()
	}, func(u *unstructured.Unstructured) {
		to.ForgetPodGroup(convert.GangKey(u))
		kick()
	})
}

// observePodGroup keeps the last good declaration of a group that cannot be read any more. If there never was one, the
// group does not exist for the ledger, and its pods wait.
func observePodGroup(to gangs, u *unstructured.Unstructured) error {
	g, err := convert.Gang(u)
	if err == nil {
		to.ObservePodGroup(g)
	}
	return err
}
