package plan

import (
	"fmt"
	"strings"
)

const group = "scheduling.fairway.dev/v1alpha1"

// Object is an object to apply. Its fields are written in the order in which they were set.
type Object struct {
	APIVersion, Kind, Name string
	Comment                string
	fields                 []field
}

// field is a value at a path, such as spec, preemption, fairShareTimeout.
type field struct {
	path    []string
	value   any // string, int64, bool, List or Map
	note    *Note
	comment string
}

// Map is a value with keys, in their order.
type Map []Entry

// Entry is a key of a Map.
type Entry struct {
	Key   string
	Value any
}

// List is a list of values.
type List []any

// Set sets a field below spec, such as preemption.fairShareTimeout, and says so in the note. Text and lists of the same field replace one another.
func (o *Object) Set(n *Note, name string, value any) {
	o.set(n, strings.Split("spec."+name, "."), value)
	if n != nil {
		n.shows(shown(o, name, value))
	}
}

// SetDefault sets a field of a queue that does not state it. The note counts the queues.
func (o *Object) SetDefault(n *Note, name string, value any) {
	o.set(n, strings.Split("spec."+name, "."), value)
	n.spread(name + ": " + flat(value))
}

// SetQuietly sets a field that the note already speaks of.
func (o *Object) SetQuietly(n *Note, name string, value any) {
	o.set(n, strings.Split("spec."+name, "."), value)
}

// Put sets a field of an object of Kubernetes, such as roleRef.
func (o *Object) Put(name string, value any) { o.set(nil, []string{name}, value) }

// SetKey sets a key, which may have dots, of a map in spec.
func (o *Object) SetKey(n *Note, name, key string, value any) {
	o.set(n, append(strings.Split("spec."+name, "."), key), value)
	n.shows(shown(o, name+"["+key+"]", value))
}

func (o *Object) set(n *Note, path []string, value any) {
	f := field{path: path, value: value, note: n}
	if n != nil && n.Property != path[len(path)-1] { // capacity: 40% says itself where it comes from
		f.comment = n.Property
	}
	for i := range o.fields {
		if strings.Join(o.fields[i].path, "\x00") == strings.Join(path, "\x00") {
			o.fields[i] = f
			return
		}
	}
	o.fields = append(o.fields, f)
}

// Has reports whether a field below spec is set.
func (o *Object) Has(name string) bool {
	for _, f := range o.fields {
		if path := strings.Join(f.path, "."); path == "spec."+name || strings.HasPrefix(path, "spec."+name+".") {
			return true
		}
	}
	return false
}

// Value returns the value of a field below spec, nil if it is not set.
func (o *Object) Value(name string) any {
	for _, f := range o.fields {
		if strings.Join(f.path, ".") == "spec."+name {
			return f.value
		}
	}
	return nil
}

// shown is how the report names a field with its value.
func shown(o *Object, name string, value any) string {
	text := name + ": " + flat(value)
	if o.Kind != "Queue" {
		return o.Kind + " " + text
	}
	if o.Name == "root" {
		return text + " of root"
	}
	return text
}

func flat(value any) string {
	switch v := value.(type) {
	case Map:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = e.Key + ": " + flat(e.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case List:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = flat(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return v
	}
	return fmt.Sprint(value)
}

// prune leaves out the fields that the schema does not have, and says so in their notes.
func (o *Object) prune(s Schema) {
	kept := o.fields[:0]
	for _, f := range o.fields {
		if o.APIVersion != group || s.has(o.Kind, f.path) {
			kept = append(kept, f)
			continue
		}
		if f.note != nil {
			f.note.lacks(o.Kind, strings.Join(f.path, "."))
		}
	}
	o.fields = kept
}

func (n *Note) lacks(kind, field string) {
	n.Status = NotTranslated
	text := field + " of " + kind
	for _, m := range n.missing {
		if m == text {
			return
		}
	}
	n.missing = append(n.missing, text)
}
