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

// The components, as Kill and Restart name them.
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

// nodeMonitorGracePeriod is how long a node may be silent before it is no longer Ready. Simulated nodes report
// every five minutes (stages.yaml), and as with the defaults of Kubernetes a few reports may be lost. A test
// of failing nodes should set the status of the node instead of waiting for this.
const nodeMonitorGracePeriod = 20 * time.Minute

// component says how to run a program and how to tell that it serves.
type component struct {
	name  string
	args  []string
	env   []string
	ready func(context.Context) error
}

// ports are the ports of one cluster; Restart does not change them.
type ports struct{ etcd, etcdPeer, apiServer, controllerManager, kwok int }

func (c *Cluster) serverURL() string { return loopbackURL(c.ports.apiServer) }

func loopbackURL(port int) string { return "https://" + net.JoinHostPort(loopback, strconv.Itoa(port)) }

func (c *Cluster) pkiFile(name string) string { return filepath.Join(c.dir, "pki", name) }

func (c *Cluster) kubeconfigOf(name string) string { return filepath.Join(c.dir, name+".kubeconfig") }

// component describes one of the components with the cluster's ports.
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
		// Written data is in the page cache as soon as write returns, and that survives the death of any
		// process. Only a crash of the machine could lose it, and then this cluster is not needed any more.
		// With an fsync for every write, benchmarks would measure the disk of the machine.
		"--unsafe-no-fsync=" + strconv.FormatBool(!c.options.Durable),
		// A single member waits for votes that no other member casts: short timeouts save up to a second per
		// start.
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
		"--authorization-mode=RBAC", // no Node authorizer: there are no kubelets
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + c.pkiFile("sa.key"), "--service-account-key-file=" + c.pkiFile("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		// As in kubeadm. Components that delegate authentication, such as kube-scheduler, read these from a
		// config map.
		"--requestheader-client-ca-file=" + c.pkiFile("front-proxy-ca.crt"), "--requestheader-allowed-names=" + frontProxyClient,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pkiFile("front-proxy-client.crt"), "--proxy-client-key-file=" + c.pkiFile("front-proxy-client.key"),
		// The endpoints of the Service "kubernetes" must not be a loopback address, and there are no
		// containers that would use it.
		"--endpoint-reconciler-type=none",
		"--shutdown-delay-duration=0s", // there is no load balancer to notify first
	}
	if !c.options.ControllerManager {
		// This plugin refuses pods whose service account does not exist, and only kube-controller-manager makes the default ones.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	args = append(args, c.options.APIServerFlags...)
	return component{name: APIServer, args: args, ready: c.probe(c.serverURL()+"/readyz", c.apiServerClient)}
}

func (c *Cluster) controllerManager() component {
	health := c.probe(loopbackURL(c.ports.controllerManager)+"/healthz", c.apiServerClient)
	return component{name: ControllerManager, args: []string{
		"--kubeconfig=" + c.kubeconfigOf(ControllerManager),
		"--use-service-account-credentials=" + strconv.FormatBool(c.options.AccountPerController),
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(c.ports.controllerManager),
		"--tls-cert-file=" + c.pkiFile("serving.crt"), "--tls-private-key-file=" + c.pkiFile("serving.key"),
		"--leader-elect=false", // there is only one, and after a kill it must be able to return at once
		"--root-ca-file=" + c.pkiFile("ca.crt"), "--service-account-private-key-file=" + c.pkiFile("sa.key"),
		"--node-monitor-grace-period=" + nodeMonitorGracePeriod.String(),
		// With the default of 20 requests a second, the job and replica set controllers would be slower than
		// what is measured.
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}, ready: func(ctx context.Context) error {
		if err := health(ctx); err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(c.RESTConfig())
		if err != nil {
			return err
		}
		// Until it exists, no pod can be created.
		_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	}}
}

// probe returns a check that a URL answers 200. Its client is made at the first call.
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
