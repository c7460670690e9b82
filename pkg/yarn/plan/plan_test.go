package plan

import (
	"strings"
	"testing"
)

const definition = `
spec:
  names: {kind: Queue}
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              weight: {type: string}
              max: {additionalProperties: {type: string}}
`

// A field that the definition does not have is left out, and its property is not translated. What is set again has the new value only.
func TestWhatTheSchemaLacksIsLeftOut(t *testing.T) {
	s, err := ParseSchema([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	var p Plan
	o := p.Queue("root.b")
	o.Set(p.Note(Origin{File: "f.xml", Line: 3, Queue: "root.b", Property: "weight", Value: "2"}), "weight", int64(2))
	o.SetKey(p.Note(Origin{File: "f.xml", Line: 2, Queue: "root.b", Property: "most"}), "max", "example.com/gpu", int64(1))
	n := p.Note(Origin{File: "f.xml", Line: 1, Property: "all"}).Remark("for all")
	o.SetDefault(n, "preemption.interval", "3s")
	p.Queue("root.a").SetDefault(n, "preemption.interval", "3s")
	o.Set(p.Note(Origin{File: "f.xml", Property: "weight", Value: "3"}), "weight", "0.5")
	if !p.Complete() {
		t.Error("not complete before anything is left out")
	}
	p.Finish(s)
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: scheduling.fairway.dev/v1alpha1
kind: Queue
metadata:
  name: root.a
---
apiVersion: scheduling.fairway.dev/v1alpha1
kind: Queue
metadata:
  name: root.b
spec:
  weight: "0.5"
  max:
    example.com/gpu: 1 # most
`
	if out.String() != want {
		t.Errorf("written as\n%s\nwant\n%s", out.String(), want)
	}
	const report = `f.xml:1: not translated: all -> preemption.interval: 3s of 2 queues; for all; this version of Fairway has no field spec.preemption.interval of Queue
f.xml:2: translated: root.b: most -> max[example.com/gpu]: 1
f.xml:3: translated: root.b: weight 2 -> weight: 2
f.xml: translated: weight 3 -> weight: 0.5
4 properties: 3 translated, 0 approximated, 0 not needed, 1 not translated
`
	if got := p.Report(); got != report || p.Complete() {
		t.Errorf("reported as\n%s\nwant\n%s", got, report)
	}
}

func TestParseSchemaRefusesOtherFiles(t *testing.T) {
	for _, text := range []string{"kind: ConfigMap", "spec: []"} {
		if _, err := ParseSchema([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
