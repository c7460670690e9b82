package identity

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/test/people"
)

// withWebhook stamps pods by a webhook, as other schedulers do: BenchmarkPodCreate compares. It runs on the same machine, its connections stay open,
// and it has nothing else to do.
func withWebhook(t testing.TB, w *people.World) {
	t.Helper()
	serveWebhook(t, w, stampByWebhook, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system", "fairway-system"}}}},
		admissionregistrationv1.MatchCondition{Name: "for-fairway", Expression: "object.spec.?schedulerName.orValue('') == 'fairway'"})
	home := w.Namespace(t, "webhook")
	people.Until(t, "the webhook stamps", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		pod := podFor(home, "")
		if err := w.Admin.Client.Create(ctx, pod, client.DryRunAll); err != nil || stampOf(pod.Annotations).user == "" {
			return fmt.Errorf("%v %w", err, errNotYet)
		}
		return nil
	})
}

// serveWebhook makes the API server ask a function about new pods in some namespaces. It ends with the test.
func serveWebhook(t testing.TB, w *people.World, answer http.HandlerFunc, in *metav1.LabelSelector, which ...admissionregistrationv1.MatchCondition) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	server := httptest.NewUnstartedServer(answer)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	made := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{
		Name:                    "test.fairway.dev",
		ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: ptr.To(server.URL), CABundle: certificate},
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
		NamespaceSelector:       in,
		MatchConditions:         which,
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
	}}}
	must(t, w.Admin.Client.Create(t.Context(), made))
}

var stampByWebhook = patchByWebhook(func(request *admissionv1.AdmissionRequest, pod *corev1.Pod) []any {
	said := map[string]string{"fairway.dev/user": request.UserInfo.Username, keyGroups: strings.Join(request.UserInfo.Groups, ",")}
	for key, value := range pod.Annotations {
		if _, ours := said[key]; !ours {
			said[key] = value
		}
	}
	return []any{add("/metadata/annotations", said)}
})

// add is a step of a JSON patch.
func add(path string, value any) any {
	return map[string]any{"op": "add", "path": path, "value": value}
}

// patchByWebhook answers with a JSON patch of the pod.
func patchByWebhook(patch func(*admissionv1.AdmissionRequest, *corev1.Pod) []any) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		review, pod := &admissionv1.AdmissionReview{}, &corev1.Pod{}
		err := json.NewDecoder(request.Body).Decode(review)
		if err == nil {
			err = json.Unmarshal(review.Request.Object.Raw, pod)
		}
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		steps, err := json.Marshal(patch(review.Request, pod))
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: true, Patch: steps, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch)}
		review.Request = nil
		answer.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(answer).Encode(review) // nobody is left to tell
	}
}
