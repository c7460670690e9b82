package localcluster

import (
	"crypto"
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

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const certificateLife = 10 * 365 * 24 * time.Hour

// authority signs certificates. All keys are P-256: quick to create, and accepted by every component.
type authority struct {
	certificate *x509.Certificate
	key         crypto.PrivateKey
	pem         []byte
}

// pair is a certificate and its key, as PEM.
type pair struct{ certificate, key []byte }

// pki is everything that proves an identity in one cluster. There are three authorities, as in a kubeadm
// cluster. With only one, any certificate from KubeconfigFor would also open etcd, and could act as a front
// proxy for any user.
type pki struct {
	cluster    *authority // serving certificates and users
	etcd       *authority // etcd and its only client, kube-apiserver
	frontProxy *authority // aggregated API servers trust it; kube-scheduler requires it to be published
}

// loadOrCreatePKI reads the authorities and the service account key of dir, or creates them. They must survive
// a restart on a kept directory, so that existing tokens and kubeconfigs stay valid.
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
	if _, _, err := keyutil.LoadOrGenerateKeyFile(filepath.Join(dir, "sa.key")); err != nil {
		return nil, err
	}
	return &p, p.writeServing(dir)
}

// writeServing writes the certificates that the components read from files.
func (p *pki) writeServing(dir string) error {
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for name, want := range map[string]struct {
		by      *authority
		subject string
		usage   []x509.ExtKeyUsage
	}{
		"serving":            {p.cluster, "kube-apiserver", both[:1]},
		"etcd":               {p.etcd, "etcd", both}, // a member is also a client of its peers
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
	if _, _, err := keyutil.LoadOrGenerateKeyFile(base + ".key"); err != nil {
		return nil, err
	}
	loaded, err := keyutil.PrivateKeyFromFile(base + ".key")
	if err != nil {
		return nil, err
	}
	key, ok := loaded.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s.key: signs nothing", base)
	}
	if _, err := os.Stat(base + ".crt"); errors.Is(err, fs.ErrNotExist) {
		made, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "fairway-localcluster-" + name, NotBefore: time.Now().Add(-time.Hour)}, key)
		if err != nil {
			return nil, err
		}
		if err := writeSecret(base+".crt", encodeCertificate(made.Raw)); err != nil {
			return nil, err
		}
	}
	certificates, err := cert.CertsFromFile(base + ".crt")
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificates[0], key: key, pem: encodeCertificate(certificates[0].Raw)}, nil
}

// issue signs a certificate; a serving certificate is valid only for loopback.
func (a *authority) issue(subject pkix.Name, usage ...x509.ExtKeyUsage) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return pair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usage,
	}
	if slices.Contains(usage, x509.ExtKeyUsageServerAuth) {
		template.DNSNames = []string{"localhost"}
		template.IPAddresses = []net.IP{net.ParseIP(loopback)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	return pair{encodeCertificate(der), keyPEM}, nil
}

// client creates the certificate that kube-apiserver accepts for this user and these groups.
func (p *pki) client(user string, groups ...string) (pair, error) {
	return p.cluster.issue(pkix.Name{CommonName: user, Organization: groups}, x509.ExtKeyUsageClientAuth)
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
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
