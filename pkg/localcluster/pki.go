package localcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const certificateLife = 10 * 365 * 24 * time.Hour

// authority signs certificates. All keys are P-256: quick to make, and accepted by every component.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// pair is a certificate and its key, as PEM.
type pair struct{ certificate, key []byte }

// pki is everything that proves an identity in one cluster. There are three authorities, as in a kubeadm cluster. Were there only
// one, any certificate made by KubeconfigFor would also open etcd, and could speak for anybody as a front proxy.
type pki struct {
	cluster    *authority // serving certificates and users
	etcd       *authority // etcd and its only client, kube-apiserver
	frontProxy *authority // aggregated API servers trust it; kube-scheduler wants it to be published
}

// loadOrCreatePKI reads the authorities and the service account key of dir, or makes them. They must outlive a restart on a kept
// directory: tokens and kubeconfigs given out before stay valid.
func loadOrCreatePKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var p pki
	for name, to := range map[string]**authority{"ca": &p.cluster, "etcd-ca": &p.etcd, "front-proxy-ca": &p.frontProxy} {
		a, err := loadOrCreateAuthority(dir, name)
		if err != nil {
			return nil, err
		}
		*to = a
	}
	if _, err := os.Stat(filepath.Join(dir, "sa.key")); errors.Is(err, fs.ErrNotExist) {
		key, err := newKey()
		if err != nil {
			return nil, err
		}
		if err := writeSecret(filepath.Join(dir, "sa.key"), encodeKey(key)); err != nil {
			return nil, err
		}
	}
	return &p, p.writeServing(dir)
}

// writeServing makes the certificates the components themselves read from files.
func (p *pki) writeServing(dir string) error {
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for name, want := range map[string]struct {
		by      *authority
		subject string
		usage   []x509.ExtKeyUsage
	}{
		"serving":            {p.cluster, "kube-apiserver", both[:1]},
		"etcd":               {p.etcd, "etcd", both}, // a member is a client of its peers
		"etcd-client":        {p.etcd, "kube-apiserver-etcd-client", both[1:]},
		"front-proxy-client": {p.frontProxy, frontProxyClient, both[1:]},
	} {
		made, err := want.by.issue(pkix.Name{CommonName: want.subject}, want.usage...)
		if err != nil {
			return fmt.Errorf("certificate %s: %w", name, err)
		}
		if err := made.write(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func loadOrCreateAuthority(dir, name string) (*authority, error) {
	base := filepath.Join(dir, name)
	certPEM, certErr := os.ReadFile(base + ".crt")
	keyPEM, keyErr := os.ReadFile(base + ".key")
	switch {
	case certErr == nil && keyErr == nil:
		return parseAuthority(certPEM, keyPEM)
	case !errors.Is(certErr, fs.ErrNotExist) && certErr != nil:
		return nil, certErr
	case !errors.Is(keyErr, fs.ErrNotExist) && keyErr != nil:
		return nil, keyErr
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := template(pkix.Name{CommonName: "fairway-localcluster-" + name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	made := pair{encodeCertificate(der), encodeKey(key)}
	if err := made.write(base); err != nil {
		return nil, err
	}
	return parseAuthority(made.certificate, made.key)
}

func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("certificate authority: not PEM")
	}
	certificate, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificate, key: key, pem: certPEM}, nil
}

// issue signs a certificate; one that may serve is good for loopback only.
func (a *authority) issue(subject pkix.Name, usage ...x509.ExtKeyUsage) (pair, error) {
	key, err := newKey()
	if err != nil {
		return pair{}, err
	}
	template := template(subject)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = usage
	if slices.Contains(usage, x509.ExtKeyUsageServerAuth) {
		template.DNSNames = []string{"localhost"}
		template.IPAddresses = []net.IP{net.ParseIP(loopback)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	return pair{encodeCertificate(der), encodeKey(key)}, nil
}

// client makes the certificate that kube-apiserver takes for this user and these groups.
func (p *pki) client(user string, groups ...string) (pair, error) {
	return p.cluster.issue(pkix.Name{CommonName: user, Organization: groups}, x509.ExtKeyUsageClientAuth)
}

func template(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // crypto/rand does not fail
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: subject, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife)}
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err) // only for curves that crypto/x509 does not know
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func (p pair) write(base string) error {
	if err := writeSecret(base+".key", p.key); err != nil {
		return err
	}
	return writeSecret(base+".crt", p.certificate)
}

// writeSecret replaces a file that only its owner may read.
func writeSecret(path string, data []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
