package console

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// guard lets requests in. A request must name this server as its host, come from a page of this server or from none, and have the token, once in
// the address and then in a cookie.
//
// Against whom: other pages in the reader's browser, also those whose name was bound to loopback (DNS rebinding), and other users of the machine.
// Not against what can read the reader's files and processes.
type guard struct {
	hosts  []string // as a request may name this server
	token  string   // in the address
	cookie string   // its name, which is another one for each port: cookies do not tell ports apart
	value  string   // of the cookie; a second secret, so that a cookie that leaks opens no address
}

func newGuard(at net.Addr) (*guard, error) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not on loopback", at)
	}
	port := strconv.Itoa(tcp.Port)
	return &guard{
		hosts: []string{tcp.String(), net.JoinHostPort("localhost", port)}, cookie: "fairway-console-" + port, token: secret(), value: secret(),
	}, nil
}

// secret is 256 random bits. crypto/rand does not fail.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

const tokenKey = "token"

func (g *guard) url() string {
	return "http://" + g.hosts[0] + "/?" + url.Values{tokenKey: {g.token}}.Encode()
}

// policy lets a page load what this server serves, and nothing else; nothing inline runs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect asks the guard before the handler.
func (g *guard) protect(next http.Handler, fail func(http.ResponseWriter, int, string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, our own forms would come without an origin
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !slices.Contains(g.hosts, r.Host) {
			fail(w, http.StatusMisdirectedRequest, "This console is not served under that name.")
			return
		}
		if !g.sameOrigin(r) {
			fail(w, http.StatusForbidden, "This request comes from another page.")
			return
		}
		if given := r.URL.Query().Get(tokenKey); given != "" && r.Method == http.MethodGet {
			g.admit(w, r, given, fail)
			return
		}
		if c, err := r.Cookie(g.cookie); err != nil || !same(c.Value, g.value) {
			fail(w, http.StatusUnauthorized, "Open the address that kubectl fairway console has printed.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit changes the token in an address for the cookie, and leads to the address without it. It does so with a page, since a browser that comes from
// elsewhere sends no strict cookie after a redirect.
func (g *guard) admit(w http.ResponseWriter, r *http.Request, given string, fail func(http.ResponseWriter, int, string)) {
	if !same(given, g.token) {
		fail(w, http.StatusUnauthorized, "This address has expired: each start of kubectl fairway console prints a new one.")
		return
	}
	q := r.URL.Query()
	q.Del(tokenKey)
	to := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawQuery: q.Encode()}
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, "admitted", to.String()); err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Content-Type", htmlType)
	_, _ = w.Write(page.Bytes())
}

// sameOrigin reports whether a request comes from a page of this server, or from the reader: typed, a bookmark, or a link with the token.
func (g *guard) sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if r.Method != http.MethodGet && origin == "" || origin != "" && origin != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
