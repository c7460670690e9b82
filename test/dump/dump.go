// Package dump writes what `kubectl get queues,nodes,pods --all-namespaces -o yaml|json` would print of a cluster of any size, for tests and
// benchmarks.
//
// In: how many of each kind. Out: one List, the same for the same numbers. The objects are as long as real ones, with
// managedFields and everything that an API server, kube-scheduler and kubelet add. It must not depend on its readers.
package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// Size says how much a cluster holds. Queues are leaves; every ten of them have a parent.
type Size struct{ Queues, Nodes, Pods int }

// Format is how kubectl writes.
type Format string

// The formats that can be read back.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// Write writes the List. Two pods of three are bound.
func Write(to io.Writer, size Size, format Format) error {
	w := &writer{Writer: bufio.NewWriterSize(to, 1<<16), format: format}
	w.begin()
	queue, parent, node, err := w.template(queueText), w.template(parentText), w.template(nodeText), w.err
	if err != nil {
		return err
	}
	w.item(w.template(rootText))
	for i := range size.Queues {
		if i%10 == 0 {
			w.item(parent, "PARENT", parentName(i))
		}
		w.item(queue, "PARENT", parentName(i), "NUMBER", fmt.Sprint(i), "WEIGHT", fmt.Sprint(1+i%7), "CPU", fmt.Sprint(4+i%60))
	}
	for i := range size.Nodes {
		w.item(node, "NUMBER", fmt.Sprint(i), "ZONE", fmt.Sprint(i%3))
	}
	bound, waiting := w.template(podText+boundText), w.template(podText+waitingText)
	for i := range size.Pods {
		q := i % max(size.Queues, 1)
		pod := bound
		if i%3 == 2 {
			pod = waiting
		}
		w.item(pod, "NUMBER", fmt.Sprint(i), "PARENT", parentName(q), "QUEUE", fmt.Sprint(q), "APPLICATION", fmt.Sprint(i/8),
			"NODE", fmt.Sprint(i%max(size.Nodes, 1)), "MINUTE", fmt.Sprintf("%02d", i%60), "CPU", fmt.Sprint(1+i/8%4))
	}
	w.end()
	if w.err != nil {
		return w.err
	}
	return w.Flush()
}

func parentName(queue int) string { return fmt.Sprintf("root.team-%d", queue/10) }

type writer struct {
	*bufio.Writer
	format Format
	after  bool // an item
	err    error
}

func (w *writer) text(s string) {
	if _, err := w.WriteString(s); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *writer) begin() {
	if w.format == JSON {
		w.text("{\n    \"apiVersion\": \"v1\",\n    \"items\": [")
	} else {
		w.text("apiVersion: v1\nitems:\n")
	}
}

func (w *writer) end() {
	if w.format == JSON {
		w.text("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	} else {
		w.text("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	}
}

// template turns the text of an object into that of an item of the List.
func (w *writer) template(object string) string {
	data, err := yaml.YAMLToJSON([]byte(object))
	if err == nil {
		if w.format == JSON {
			var indented bytes.Buffer
			err = json.Indent(&indented, data, "        ", "    ")
			data = indented.Bytes()
		} else {
			data, err = yaml.JSONToYAML(data)
		}
	}
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		return ""
	}
	if w.format == JSON {
		return "\n        " + string(data)
	}
	return "- " + strings.ReplaceAll(strings.TrimSuffix(string(data), "\n"), "\n", "\n  ") + "\n"
}

// item writes an item with the words in it replaced, given as pairs. A word stands in the text with a dollar before it, or with an at sign
// where YAML must quote what comes there.
func (w *writer) item(template string, words ...string) {
	var pairs []string
	for i := 0; i < len(words); i += 2 {
		pairs = append(pairs, "$"+words[i], words[i+1], "@"+words[i], words[i+1])
	}
	if w.format == JSON && w.after {
		w.text(",")
	}
	w.after = true
	if _, err := strings.NewReplacer(pairs...).WriteString(w, template); err != nil && w.err == nil {
		w.err = err
	}
}
