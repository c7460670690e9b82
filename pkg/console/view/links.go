package view

import "net/url"

// The addresses of pages. Names are in the query and not in the path: they may be anything.

// QueueLink is the page of a queue.
func QueueLink(name string) string { return "/queue?" + url.Values{"name": {name}}.Encode() }

// ApplicationLink is the page of an application.
func ApplicationLink(queue, name string) string {
	return "/application?" + url.Values{"name": {name}, "queue": {queue}}.Encode()
}

// PodLink is the page of a pod.
func PodLink(namespace, name string) string {
	return "/pod?" + url.Values{"name": {name}, "namespace": {namespace}}.Encode()
}
