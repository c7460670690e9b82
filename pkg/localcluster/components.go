package localcluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The components, as Kill and Restart know them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	KWOK              = "kwok"
)

const (
	loopback         = "127.0.0.1"
	frontProxyClient = "front-proxy-client"
)

// nodeMonitorGracePeriod is how long a node may be silent before it is not Ready any more. Simulated nodes report every five minutes
// (stages.yaml), and as with the defaults of Kubernetes a few reports may be lost. A test of failing nodes had better say so in the
// status of the node than wait for this.
const nodeMonitorGracePeriod = 20 * time.Minute

// component is how to run one program and how to tell that it serves.
type component struct {
	name  string
	args  []string
	env   []string
	ready func(context.Context) error
}

// ports of one cluster; they stay the same over Restart.
type ports struct{ etcd, etcdPeer, apiServer, controllerManager, kwok int }

func (c *Cluster) serverURL() string { return loopbackURL(c.ports.apiServer) }

func loopbackURL(port int) string { return "https://" + net.JoinHostPort(loopback, strconv.Itoa(port)) }

func (c *Cluster) pkiFile(name string) string { return filepath.Join(c.dir, "pki", name) }

// component describes one of the components for the cluster's present ports.
func (c *Cluster) component(name string) component {
	switch name {
	case Etcd:
		return c.etcd()
	case APIServer:
		return c.apiServer()
	case ControllerManager:
		return c.controllerManager()
	default:
		return c.kwok()
	}
}

func (c *Cluster) etcd() component {
	client, peer := loopbackURL(c.ports.etcd), loopbackURL(c.ports.etcdPeer)
	return component{name: Etcd, args: []string{
		"--name=local",
		"--data-dir=" + filepath.Join(c.dir, "etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=local=" + peer,
		"--cert-file=" + c.pkiFile("etcd.crt"), "--key-file=" + c.pkiFile("etcd.key"),
		"--client-cert-auth", "--trusted-ca-file=" + c.pkiFile("etcd-ca.crt"),
		"--peer-cert-file=" + c.pkiFile("etcd.crt"), "--peer-key-file=" + c.pkiFile("etcd.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + c.pkiFile("etcd-ca.crt"),
		// Written data is in the page cache as soon as write returns, and that survives the death of any process. Only the machine's
		// own crash could lose it, after which nobody wants this cluster back. An fsync for every write would make the disk of a
		// laptop or a build machine what the benchmarks measure.
		"--unsafe-no-fsync",
		// A lone member waits for votes that nobody else casts: short timeouts save up to a second of each start.
		"--heartbeat-interval=20", "--election-timeout=100",
		"--quota-backend-bytes=" + strconv.Itoa(8<<30), // the default of 2 GiB ends a long load test
		"--log-level=warn",
	}, ready: c.probe(loopbackURL(c.ports.etcd)+"/health", c.etcdClient)}
}

func (c *Cluster) apiServer() component {
	args := []string{
		"--etcd-servers=" + loopbackURL(c.ports.etcd),
		"--etcd-cafile=" + c.pkiFile("etcd-ca.crt"),
		"--etcd-certfile=" + c.pkiFile("etcd-client.crt"), "--etcd-keyfile=" + c.pkiFile("etcd-client.key"),
		"--bind-address=" + loopback, "--advertise-address=" + loopback, "--secure-port=" + strconv.Itoa(c.ports.apiServer),
		"--tls-cert-file=" + c.pkiFile("serving.crt"), "--tls-private-key-file=" + c.pkiFile("serving.key"),
		"--client-ca-file=" + c.pkiFile("ca.crt"),
		"--authorization-mode=RBAC", // no Node authorizer: nobody here is a kubelet
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + c.pkiFile("sa.key"), "--service-account-key-file=" + c.pkiFile("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		// As kubeadm sets them. Components that delegate authentication, kube-scheduler for one, read these from a config map.
		"--requestheader-client-ca-file=" + c.pkiFile("front-proxy-ca.crt"), "--requestheader-allowed-names=" + frontProxyClient,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pkiFile("front-proxy-client.crt"), "--proxy-client-key-file=" + c.pkiFile("front-proxy-client.key"),
		// The endpoints of the Service "kubernetes" may not be a loopback address, and there are no containers to use it.
		"--endpoint-reconciler-type=none",
		"--shutdown-delay-duration=0s", // there is no load balancer to be told first
	}
	if !c.options.ControllerManager {
		// This plugin refuses pods whose service account does not exist, and only kube-controller-manager makes the default ones.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	args = append(args, c.options.APIServerFlags...)
	return component{name: APIServer, args: args, ready: c.probe(c.serverURL()+"/readyz", c.apiServerClient)}
}

func (c *Cluster) controllerManager() component {
	// It acts as one administrator. With --use-service-account-credentials, as kubeadm has it, each of the forty controllers first
	// fetches a token of its own: seconds of start-up that test nothing of ours.
	health := c.probe(loopbackURL(c.ports.controllerManager)+"/healthz", c.apiServerClient)
	return component{name: ControllerManager, args: []string{
		"--kubeconfig=" + filepath.Join(c.dir, ControllerManager+".kubeconfig"),
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(c.ports.controllerManager),
		"--tls-cert-file=" + c.pkiFile("serving.crt"), "--tls-private-key-file=" + c.pkiFile("serving.key"),
		"--leader-elect=false", // there is one, and a killed one must be able to come back at once
		"--root-ca-file=" + c.pkiFile("ca.crt"), "--service-account-private-key-file=" + c.pkiFile("sa.key"),
		"--node-monitor-grace-period=" + nodeMonitorGracePeriod.String(),
		// The default of 20 requests a second would make the job and replica set controllers slower than what is measured.
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}, ready: func(ctx context.Context) error {
		if err := health(ctx); err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(c.RESTConfig())
		if err != nil {
			return err
		}
		// Until it exists no pod can be created.
		_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	}}
}

// probe makes a check that a URL answers 200, with a client that is made at the first call.
func (c *Cluster) probe(url string, makeClient func() (*http.Client, error)) func(context.Context) error {
	var client *http.Client
	return func(ctx context.Context) error {
		if client == nil {
			made, err := makeClient()
			if err != nil {
				return err
			}
			made.Timeout = 2 * time.Second
			client = made
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s: %s", url, response.Status, notReady(string(body)))
		}
		return nil
	}
}

// notReady shortens the answer of /readyz to the checks that fail.
func notReady(body string) string {
	var failing []string
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[-]") {
			failing = append(failing, line)
		}
	}
	if failing == nil {
		return strings.TrimSpace(body)
	}
	return strings.Join(failing, ", ")
}

func plainClient() (*http.Client, error) { return &http.Client{}, nil }

func (c *Cluster) apiServerClient() (*http.Client, error) { return rest.HTTPClientFor(c.RESTConfig()) }

func (c *Cluster) etcdClient() (*http.Client, error) {
	mine, err := tls.LoadX509KeyPair(c.pkiFile("etcd-client.crt"), c.pkiFile("etcd-client.key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(c.pki.etcd.certificate)
	config := &tls.Config{Certificates: []tls.Certificate{mine}, RootCAs: roots, MinVersion: tls.VersionTLS13}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}, nil
}
