package e2e

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// front stands between one replica and kube-apiserver and notes what the replica writes. Replicas act under one name, as those of a
// Deployment do, so nothing in an object tells which of them wrote it; and what was refused is in no object at all.
type front struct {
	kubeconfig string // leads to it
	server     *httptest.Server

	mu      sync.Mutex
	run     int // of the replica's process
	writes  []*write
	renewed time.Time // when the replica last wrote the lease

	keeping atomic.Bool  // the answers to binds
	kept    atomic.Int64 // so many
	mute    atomic.Bool  // since the first of them: what watches say is kept too
}

// write is one request that changes something.
type write struct {
	run    int
	method string
	path   string
	at     time.Time // when all of it had arrived
	done   time.Time // when it was answered; zero: it was not
	code   int
}

// newFront serves as the apiserver of one kubeconfig, with the identity in it.
func newFront(t *testing.T, kubeconfig, name string) *front {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.DisableCompression = true // or answers would come out other than they went in
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{kubeconfig: filepath.Join(t.TempDir(), name+".kubeconfig")}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
		// What the replica gets to see of an apiserver that is gone is a connection that breaks, not an answer.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewUnstartedServer(f.note(proxy))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of replicas that are killed
	// Whose request it is, its connection tells: the last request of a process may come up when the next process has been started.
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		f.mu.Lock()
		defer f.mu.Unlock()
		return context.WithValue(ctx, runKey{}, f.run)
	}
	server.StartTLS()
	f.server = server
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := clientcmdapi.NewConfig()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c.Clusters[name] = &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: ca}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	if err := clientcmd.WriteToFile(*c, f.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *front) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			next.ServeHTTP(&watchWriter{ResponseWriter: rw, front: f, ctx: r.Context()}, r)
			return
		}
		// A replica may be stopped in the middle of a request: what counts is when the rest of it came.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // it is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w := f.arrived(r)
		status := &statusWriter{ResponseWriter: rw}
		if w.bind() && f.keepsAnswers() {
			next.ServeHTTP(httptest.NewRecorder(), r)
			f.kept.Add(1)
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
		defer func() { f.answered(w, status.code) }()
		next.ServeHTTP(status, r)
	})
}

func (f *front) arrived(r *http.Request) *write {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, _ := r.Context().Value(runKey{}).(int)
	w := &write{run: run, method: r.Method, path: r.URL.Path, at: time.Now()}
	f.writes = append(f.writes, w)
	return w
}

func (f *front) answered(w *write, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if code == 0 {
		return
	}
	w.done, w.code = time.Now(), code
	if w.lease() && w.ok() {
		f.renewed = w.done
	}
}

// begin notes that the replica's process number run is about to start.
func (f *front) begin(run int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run = run
}

// keepAnswers lets binds through, and their answers not back, until die.
func (f *front) keepAnswers() { f.keeping.Store(true) }

// keepsAnswers is asked by each bind.
func (f *front) keepsAnswers() bool {
	keeps := f.keeping.Load()
	if keeps {
		f.mute.Store(true)
	}
	return keeps
}

// die breaks every connection, as one of several apiservers does that ends, and serves again at once, as the others do.
func (f *front) die() {
	f.keeping.Store(false)
	f.mute.Store(false)
	f.server.CloseClientConnections()
}

// lastRenewal is when the replica last wrote the lease, the zero time for never.
func (f *front) lastRenewal() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.renewed
}

// all returns what was written so far.
func (f *front) all() []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	ws := make([]write, 0, len(f.writes))
	for _, w := range f.writes {
		ws = append(ws, *w)
	}
	return ws
}

// watchWriter says nothing while the front is mute: a client that does not hear that its bind is done must not see it in the pod either.
type watchWriter struct {
	http.ResponseWriter
	front *front
	ctx   context.Context
}

func (w *watchWriter) Write(data []byte) (int, error) {
	if w.front.mute.Load() {
		<-w.ctx.Done()
		return 0, w.ctx.Err()
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap lets the proxy flush.
func (w *watchWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type runKey struct{}

type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets the proxy flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/" + systemNamespace + "/leases"

func (w *write) lease() bool { return strings.HasPrefix(w.path, leasePath) }
func (w *write) bind() bool  { return strings.HasSuffix(w.path, "/binding") }
func (w *write) ok() bool    { return w.code >= 200 && w.code < 300 }

// asks: the request is a question in the form of an object, and changes nothing.
func (w *write) asks() bool {
	last := w.path[strings.LastIndex(w.path, "/")+1:]
	return slices.Contains([]string{"tokenreviews", "subjectaccessreviews"}, last)
}
