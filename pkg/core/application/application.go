// Package application holds what the rules need to know of an application: the pods that a user sees as one
// piece of work. They wait, start and are ordered together inside a leaf queue.
//
// Applications are not objects of their own. Input is what the adapters recognised on a pod. Output is plain
// values: the name of the pod's application and the pod's role in it. The package must not know labels or
// Kubernetes objects, and it keeps no state.
package application

import "strings"

// Name names an application uniquely in the cluster: "<namespace>/<kind>/<name>". The kind says how the
// application was recognised ("spark", "job", "statefulset.apps"), so that two frameworks may use the same
// name in one namespace.
//
// People read the name too (it breaks ties between applications, and explanations print it), hence no hash. It
// is unambiguous because neither a namespace nor a kind contains a slash; everything after the second slash is
// the name.
func Name(namespace, kind, name string) string {
	return namespace + "/" + kind + "/" + name
}

// Split takes apart what Name built. It returns false for any other string.
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
