package localcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// groupMasters is the group that may do everything in kube-apiserver, whatever RBAC says.
	groupMasters = "system:masters"
	adminUser    = "localcluster-admin"
)

// Kubeconfig is the path of a kubeconfig that may do everything.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// RESTConfig is a configuration that may do everything, without client-side throttling. The caller owns the copy.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// KubeconfigFor writes a kubeconfig for another identity and returns its path. RBAC allows that identity
// nothing until a role is bound to it. A second call for the same identity returns the same path.
func (c *Cluster) KubeconfigFor(user string, groups ...string) (string, error) {
	if user == "" {
		return "", fmt.Errorf("kubeconfig for an identity: the user name is empty")
	}
	dir := filepath.Join(c.dir, "identities")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, identityFile(user, groups))
	return path, c.writeKubeconfig(path, user, groups...)
}

var unsafeInFileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// identityFile is readable (the user's name) and unique (a hash of user and groups).
func identityFile(user string, groups []string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{user}, groups...), "\x00")))
	name := unsafeInFileName.ReplaceAllString(user, "_")
	return name[:min(len(name), 80)] + "-" + hex.EncodeToString(sum[:4]) + ".kubeconfig"
}

func (c *Cluster) writeKubeconfig(path, user string, groups ...string) error {
	made, err := c.pki.client(user, groups...)
	if err != nil {
		return err
	}
	const name = "fairway-local"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: c.serverURL(), CertificateAuthorityData: c.pki.cluster.pem}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: made.certificate, ClientKeyData: made.key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return writeSecret(path, data)
}

// writeAdmin creates the administrator's identity: the kubeconfig file and the REST configuration.
func (c *Cluster) writeAdmin() error {
	if err := c.writeKubeconfig(c.Kubeconfig(), adminUser, groupMasters); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1 // no throttling: load tests must be limited by the server
	c.admin = config
	return nil
}
