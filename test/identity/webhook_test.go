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
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(stampByWebhook))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	hook := admissionregistrationv1.MutatingWebhook{
		Name:                    "stamp.fairway.dev",
		ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: ptr.To(server.URL), CABundle: certificate},
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
		NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system", "fairway-system"}}}},
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "for-fairway", Expression: "object.spec.?schedulerName.orValue('') == 'fairway'"}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
	}
	must(t, w.Admin.Client.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "stamp"}, Webhooks: []admissionregistrationv1.MutatingWebhook{hook}}))
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

func stampByWebhook(answer http.ResponseWriter, request *http.Request) {
	review, pod := &admissionv1.AdmissionReview{}, &corev1.Pod{}
	if err := json.NewDecoder(request.Body).Decode(review); err == nil {
		err = json.Unmarshal(review.Request.Object.Raw, pod)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
	}
	said := map[string]string{"fairway.dev/user": review.Request.UserInfo.Username, keyGroups: strings.Join(review.Request.UserInfo.Groups, ",")}
	for key, value := range pod.Annotations {
		if _, ours := said[key]; !ours {
			said[key] = value
		}
	}
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/metadata/annotations", "value": said}})
	if err != nil {
		http.Error(answer, err.Error(), http.StatusInternalServerError)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch)}
	review.Request = nil
	answer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(answer).Encode(review) // nobody is left to tell
}
