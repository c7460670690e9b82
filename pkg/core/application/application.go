// Package application holds what the rules need to know of an application: the pods that a user sees as one piece of work, and that wait,
// start and are ordered together inside a leaf queue.
//
// Applications are not objects of their own. Input is what the adapters recognised on a pod; output are plain values: the name of the pod's
// application and the pod's role in it. The package must not know labels or Kubernetes objects, and it keeps no state.
package application

import "strings"

// Name names an application over the whole cluster: "<namespace>/<kind>/<name>". The kind says by what the application was recognised
// ("spark", "job", "statefulset.apps"), so that two frameworks may use the same name in one namespace without being taken for one.
//
// The name is read by people too (ties between applications end with it, explanations print it), hence no hash. It is unambiguous because
// neither a namespace nor a kind holds a slash; what follows the second slash is the name, whatever it holds.
func Name(namespace, kind, name string) string {
	return namespace + "/" + kind + "/" + name
}

// Split takes a Name apart. It reports false for what Name does not make.
func Split(s string) (namespace, kind, name string, ok bool) {
	namespace, rest, ok := strings.Cut(s, "/")
	if !ok {
		return "", "", "", false
	}
	kind, name, ok = strings.Cut(rest, "/")
	if !ok || kind == "" || name == "" {
		return "", "", "", false
	}
	return namespace, kind, name, true
}
