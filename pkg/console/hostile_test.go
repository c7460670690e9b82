package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/fairway-scheduler/fairway/pkg/console/view"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// scripts are texts that would run in a page, or leave an attribute, an address, a string of JSON or a cell.
var scripts = map[string]string{
	"a script":         `<script>alert(1)</script>`,
	"an attribute":     `"><img src=x onerror=alert(1)>`,
	"another quote":    `'><svg/onload=alert(1)>`,
	"an address":       `javascript:alert(1)`,
	"the end of rows":  `</tbody></table><rows><script>alert(1)</script>`,
	"a line of events": "x\n\ndata: {\"reload\":true}\n\n",
	"a template":       `{{.}}<%= 1 %>${1}`,
	"a formula":        `=HYPERLINK("http://evil.example","x")`,
	"an outside page":  `//evil.example/x`,
}

// hostile has the text in the names of a queue, an application, a user, a pod and a node, and in what queues say of themselves.
func hostile(t *testing.T, text string) *objects.Set {
	t.Helper()
	type m = map[string]any
	pod := func(name, node, label string) m {
		return m{"apiVersion": "v1", "kind": "Pod", "metadata": m{"name": name, "namespace": "team", "uid": name + node, "creationTimestamp": "2026-01-01T00:00:00Z",
			"labels":      m{"fairway.dev/queue": label},
			"annotations": m{"fairway.dev/user": text, "fairway.dev/application": text, "fairway.dev/placed-queue": "root." + text}},
			"spec": m{"schedulerName": "fairway", "nodeName": node, "containers": []any{m{"name": "c", "resources": m{"requests": m{"cpu": "5"}}}}}}
	}
	of := func(name string, spec m) m {
		return m{"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue", "spec": spec, "metadata": m{"name": name, "uid": name}}
	}
	items := []any{
		of("root", m{"preemption": m{"fairShareTimeout": "1s"}}), of("root.a", m{"policy": text}), of("root.b", m{}), of("root."+text, m{}), of(text, m{}),
		m{"apiVersion": "v1", "kind": "Node", "metadata": m{"name": text}, "status": m{"allocatable": m{"cpu": "12", "pods": "110"},
			"conditions": []any{m{"type": "Ready", "status": "True"}}}},
		pod(text, "", "root.b"), pod("lost", "", text), pod("runs", text, "root.b"), pod("waits", "", "root.b"), pod("more", "", "root.b"),
	}
	raw, err := json.Marshal(m{"kind": "List", "apiVersion": "v1", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	set, err := objects.Read("hostile", strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// addresses are all pages of a world: those in the list, and one for each queue, application and pod.
func (s served) addresses() (all []string) {
	for path := range pages {
		if path != "/queue" && path != "/application" && path != "/pod" {
			all = append(all, path)
		}
	}
	w := s.moments.current().world
	for _, name := range w.QueueNames() {
		all = append(all, view.QueueLink(name))
	}
	for _, a := range w.Applications(queue.Root) {
		all = append(all, view.ApplicationLink(a.Queue, a.Name))
	}
	for _, p := range w.Pods() {
		all = append(all, view.PodLink(p.Namespace, p.Name))
	}
	return all
}

// Elements and attributes that pages have.
var (
	elements   = strings.Fields("html head meta title link script body a header nav strong p time main section h1 h2 h3 ul li dl div dt dd form label input span table thead tbody tr th td svg rect pre textarea button strong output polyline")
	attributes = strings.Fields("min max points for rows id lang charset name content rel href src type class id hidden role tabindex scope value method action title placeholder autocomplete spellcheck " +
		"viewBox preserveAspectRatio focusable width height x y aria-label aria-current aria-hidden aria-rowcount aria-rowindex aria-level aria-expanded " +
		"data-number data-key data-rows data-from data-total data-here data-still")
)

// checkElements parses HTML as a browser does. Whatever is an element or an attribute is one of ours, and leads to this server.
func checkElements(t *testing.T, where, text string) {
	t.Helper()
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken:
			t.Errorf("%s has the comment %q", where, z.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if !slices.Contains(elements, token.Data) {
				t.Errorf("%s has %s", where, token)
			}
			for _, a := range token.Attr {
				key := strings.ToLower(a.Key)
				if !slices.ContainsFunc(attributes, func(known string) bool { return strings.ToLower(known) == key }) {
					t.Errorf("%s has attribute %s of %s", where, a.Key, token.Data)
				}
				if slices.Contains([]string{"href", "src", "action"}, key) && a.Val != "#main" && (!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//")) {
					t.Errorf("%s leads to %q", where, a.Val)
				}
			}
			if src := token.Attr; token.Data == "script" && (len(src) != 2 || src[1].Val != "/assets/console.js") {
				t.Errorf("%s has %s", where, token)
			}
		}
	}
}

// What users write is text wherever it is shown: in no page and in no part of one that is sent later is it an element, an attribute or an address.
func TestNothingThatUsersWriteRuns(t *testing.T) {
	for name, text := range scripts {
		t.Run(name, func(t *testing.T) {
			s := serve(t, hostile(t, text))
			addresses := s.addresses()
			if len(addresses) < 12 {
				t.Fatalf("only %d pages: %q", len(addresses), addresses)
			}
			shown := 0
			for _, address := range addresses {
				body := s.get(address)
				checkElements(t, address, body)
				if strings.Contains(body, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;").Replace(strings.SplitN(text, "\n", 2)[0])) {
					shown++
				}
			}
			_, answer := s.ask("</textarea>"+text+"\n"+strings.ReplaceAll(heavier, "root.busy", text), nil)
			checkElements(t, "what if", answer)
			if shown < 3 {
				t.Errorf("only %d pages show the text: the test is about nothing", shown)
			}
		})
	}
}

// A stream has one line for each change, whatever is in it.
func TestAStreamIsNotBrokenByNames(t *testing.T) {
	for name, text := range scripts {
		s := serve(t, hostile(t, text))
		for _, address := range s.addresses() {
			u, _ := url.Parse(address)
			p, err := s.build(s.moments.current(), s.request(http.MethodGet, address, nil), pages[u.Path])
			if err != nil {
				t.Fatal(err)
			}
			is, err := p.render()
			if err != nil {
				t.Fatal(err)
			}
			sent, err := json.Marshal(whole(is))
			if err != nil || strings.ContainsAny(string(sent), "\n\r<>") {
				t.Errorf("%s, %s: %v in %s", name, address, err, sent)
			}
			for id, text := range whole(is).Blocks {
				checkElements(t, name+" "+address+" "+id, text)
			}
		}
	}
}

// No cell of a CSV file is a formula.
func TestASpreadsheetComputesNothing(t *testing.T) {
	for _, text := range []string{scripts["a formula"], "+1+1", "-1+1", "@SUM(A1)", "\t=1"} {
		if got := harmless(text); got != "'"+text {
			t.Errorf("%q is %q", text, got)
		}
	}
	for _, text := range []string{"-", "root.a", "", "100c 2Gi"} {
		if got := harmless(text); got != text {
			t.Errorf("%q is %q", text, got)
		}
	}
	body := serve(t, hostile(t, "=1+1")).get("/users?format=csv")
	if !strings.Contains(body, "\n'=1+1,") {
		t.Errorf("no user in %s", body)
	}
}
