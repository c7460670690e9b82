package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// TestTheReplicaThatLeadsShowsTheQueues scrapes two replicas as a Prometheus with the documented role does.
func TestTheReplicaThatLeadsShowsTheQueues(t *testing.T) {
	w := newWorld(t)
	pair := []*replica{w.replica("a", w.kubeconfig(), nil), w.replica("b", w.kubeconfig(), nil)}
	const account = "system:serviceaccount:monitoring:prometheus"
	path, err := w.cluster.KubeconfigFor(account)
	w.must(err)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	w.must(err)
	config.TLSClientConfig = rest.TLSClientConfig{Insecure: true, CertFile: config.CertFile, KeyFile: config.KeyFile, CertData: config.CertData, KeyData: config.KeyData}
	prometheus, err := rest.HTTPClientFor(config)
	w.must(err)
	scrape := func(r *replica) (status int, page string) {
		response, err := prometheus.Get(fmt.Sprintf("https://%s/metrics", net.JoinHostPort(loopback, strconv.Itoa(r.now().port))))
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return 0, err.Error()
		}
		return response.StatusCode, string(text)
	}

	w.until("both replicas refuse a user without the role", func() (bool, string) {
		a, _ := scrape(pair[0])
		b, _ := scrape(pair[1])
		return a == http.StatusForbidden && b == http.StatusForbidden, fmt.Sprint(a, b)
	})
	w.apply(filepath.Join(root, "manifests", "monitoring", "metrics-reader.yaml"))
	w.must(w.client.Create(w.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus-reads-fairway"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "fairway-metrics-reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: account}},
	}))
	w.until("one replica leads and shows the queues, the other says that it does not", func() (bool, string) {
		leaders, shown, missing := 0, 0, ""
		for _, r := range pair {
			status, page := scrape(r)
			leads, follows := strings.Contains(page, "\nfairway_leading 1\n"), strings.Contains(page, "\nfairway_leading 0\n")
			queues := strings.Contains(page, `fairway_queue_max{queue="root.adhoc",resource="cpu"} 6`)
			if status != http.StatusOK || leads == follows || leads != queues {
				missing += fmt.Sprintf("%s: status %d, leads: %v, follows: %v, shows queues: %v; ", r.name, status, leads, follows, queues)
			}
			if leads {
				leaders++
			}
			if queues {
				shown++
			}
		}
		return missing == "" && leaders == 1 && shown == 1, fmt.Sprintf("%d lead, %d show queues; %s", leaders, shown, missing)
	})
}
