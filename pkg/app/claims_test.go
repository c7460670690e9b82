package app

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

func TestClaimsAreHandledAfterTheCacheHasThem(t *testing.T) {
	known := map[string]string{} // what the other handler knows from the events; both run in one goroutine
	note := func(obj any) {
		claim := obj.(*resourcev1.ResourceClaim)
		known[claim.Name] = claim.Labels["version"]
	}
	asked := make(chan string)
	client := fake.NewClientset()
	f := claimFactory{informers.NewSharedInformerFactory(client, 0), func(obj any) {
		version, ok := known[obj.(*resourcev1.ResourceClaim).Name]
		if !ok {
			version = "unknown"
		}
		asked <- version
	}}
	_, err := f.Resource().V1().ResourceClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) },
		DeleteFunc: func(obj any) { delete(known, obj.(*resourcev1.ResourceClaim).Name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	claims := client.ResourceV1().ResourceClaims("default")
	claim := func(version string) *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Namespace: "default", Labels: map[string]string{"version": version}}}
	}
	for _, step := range []struct {
		want string
		do   func() error
	}{
		{"one", func() error { _, err := claims.Create(ctx, claim("one"), metav1.CreateOptions{}); return err }},
		{"two", func() error { _, err := claims.Update(ctx, claim("two"), metav1.UpdateOptions{}); return err }},
		{"unknown", func() error { return claims.Delete(ctx, "claim", metav1.DeleteOptions{}) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := <-asked; got != step.want {
			t.Errorf("asked while the claim is %q to the other handler, want %q", got, step.want)
		}
	}
}
