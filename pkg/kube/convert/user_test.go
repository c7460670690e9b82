package convert

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
)

func TestUser(t *testing.T) {
	annotated := func(user string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Annotations["fairway.dev/user"] = user }
	}
	runAs := func(account string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.ServiceAccountName = account }
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"the annotation":                         {makePod(annotated("ada@example.com")), "ada@example.com"},
		"the annotation before the account":      {makePod(annotated("ada"), runAs("spark")), "ada"},
		"nothing is trimmed":                     {makePod(annotated(" Ada ")), " Ada "},
		"an empty annotation is none":            {makePod(annotated(""), runAs("spark")), "system:serviceaccount:ns:spark"},
		"the account":                            {makePod(runAs("spark")), "system:serviceaccount:ns:spark"},
		"who names no account runs as default":   {makePod(), "system:serviceaccount:ns:default"},
		"a label of that name is not asked":      {makePod(labelled("fairway.dev/user", "ada")), "system:serviceaccount:ns:default"},
		"the account is that of the pod's space": {makePod(runAs("x"), func(pod *corev1.Pod) { pod.Namespace = "other" }), "system:serviceaccount:other:x"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := User(tc.pod); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSubmitter(t *testing.T) {
	stamp := func(key, value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Annotations["fairway.dev/"+key] = value }
	}
	const everyone = "system:authenticated"
	for name, tc := range map[string]struct {
		pod    *corev1.Pod
		user   string
		groups []string
	}{
		"stamped":                       {makePod(stamp("user", "ada"), stamp("groups", "ads,"+everyone)), "ada", []string{"ads", everyone}},
		"stamped, with escapes":         {makePod(stamp("user", "ada"), stamp("groups", "a%2Cb,100%25")), "ada", []string{"a,b", "100%"}},
		"stamped, without groups":       {makePod(stamp("user", "ada"), stamp("groups", "")), "ada", nil},
		"a user without a list":         {makePod(stamp("user", "ada")), "ada", []string{everyone}},
		"nobody, without a list":        {makePod(stamp("user", "system:anonymous")), "system:anonymous", nil},
		"nobody":                        {makePod(stamp("user", "system:anonymous"), stamp("groups", "system:unauthenticated")), "system:anonymous", []string{"system:unauthenticated"}},
		"no stamp: the service account": {makePod(), "system:serviceaccount:ns:default", []string{"system:serviceaccounts", "system:serviceaccounts:ns", everyone}},
		"groups without a user count for nothing": {
			makePod(stamp("groups", "system:masters")), "system:serviceaccount:ns:default", []string{"system:serviceaccounts", "system:serviceaccounts:ns", everyone},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := Submitter(tc.pod), access.NewSubject(tc.user, tc.groups); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
