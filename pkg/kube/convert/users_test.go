package convert

import (
	"strings"
	"testing"

	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// limitsUsers states a limit of users: a percentage (0: none), a factor ("": none) and the weight of ann ("": none).
func limitsUsers(percent int32, factor, weight string) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) {
		q.Spec.Users = &v1alpha1.QueueUsers{}
		if percent != 0 {
			q.Spec.Users.MinSharePercent = &percent
		}
		if factor != "" {
			f := apiresource.MustParse(factor)
			q.Spec.Users.ShareFactor = &f
		}
		if weight != "" {
			q.Spec.Users.Weights = []v1alpha1.UserWeight{{User: "bob", Weight: apiresource.MustParse("1")}, {User: "ann", Weight: apiresource.MustParse(weight)}}
		}
	}
}

func TestUsers(t *testing.T) {
	d, err := Declaration(makeQueue("root.a", limitsUsers(25, "1.5", "4")))
	if err != nil {
		t.Fatal(err)
	}
	u := d.Spec.Users
	if u.MinShare != queue.AtMost(25) || u.ShareFactor != queue.AtMost(1500) || u.WeightOf("ann") != 4000 || u.WeightOf("bob") != 1000 || u.WeightOf("cat") != 1000 || len(u.Weights) != 2 {
		t.Errorf("got %+v", u)
	}
	d, err = Declaration(makeQueue("root.a", limitsUsers(0, "", "")))
	if u = d.Spec.Users; err != nil || u.MinShare.Stated || u.ShareFactor.Stated || u.Least() != 100 || u.Factor() != 1000 || d.Spec.LimitsUsers() {
		t.Errorf("nothing is stated, got %+v, %v", u, err)
	}
}

func TestRefusedUsers(t *testing.T) {
	for want, edit := range map[string]func(*v1alpha1.Queue){
		"spec.users.minSharePercent: 101 is not between 1 and 100":                               limitsUsers(101, "", ""),
		"spec.users.minSharePercent: -1 is not between 1 and 100":                                limitsUsers(-1, "", ""),
		"spec.users.shareFactor: 0 would let no user have more than one pod":                     limitsUsers(0, "0", ""),
		"spec.users.shareFactor: -1 is not between 0 and 1000000":                                limitsUsers(0, "-1", ""),
		"spec.users.shareFactor: 1234500u has more than three decimals":                          limitsUsers(0, "1.2345", ""),
		"spec.users.weights: user ann: weight 2 is not between 0 and 100/minSharePercent":        limitsUsers(0, "", "2"),
		"spec.users.weights: user ann: weight 4.001 is not between 0 and 100/minSharePercent, a": limitsUsers(25, "", "4.001"),
		"spec.users.weights: user ann: -1 is not between 0 and 1000000":                          limitsUsers(25, "", "-1"),
	} {
		if _, err := Declaration(makeQueue("root.a", edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
