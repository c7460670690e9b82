package config

import (
	"io"
	"strings"
)

// Property is a property that counts.
type Property struct {
	Name string
	// Value has its variables replaced; Unknown are those that nothing defines, which stay as they are.
	Value   string
	Unknown []string
	File    string
	Line    int
	final   bool
	written string
}

// Shadowed is a property without effect.
type Shadowed struct {
	Property
	By    Property
	Final bool // By is final; otherwise it comes later
}

// Configuration is what Hadoop makes of files that it reads one after the other.
type Configuration struct {
	// Properties are in the order of the files.
	Properties []*Property
	Shadowed   []Shadowed
	// Ignored are elements that mean nothing to Hadoop.
	Ignored []Error
	byName  map[string]*Property
}

// File is a file to read.
type File struct {
	Name string
	io.Reader
}

// Read reads files. A later one overrides what an earlier one does not declare final.
func Read(files ...File) (*Configuration, error) {
	c := &Configuration{byName: map[string]*Property{}}
	for _, f := range files {
		top, err := Parse(f.Name, f)
		if err != nil {
			return nil, err
		}
		if top.Name != "configuration" {
			return nil, Error{f.Name, top.Line, "the top element is " + top.Name + ", not configuration"}
		}
		if err := c.load(f.Name, top); err != nil {
			return nil, err
		}
	}
	for _, p := range c.Properties {
		if err := c.substitute(p); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Get returns the property of a name, nil if there is none.
func (c *Configuration) Get(name string) *Property {
	if c == nil {
		return nil
	}
	return c.byName[name]
}

func (c *Configuration) load(file string, top *Element) error {
	for _, e := range top.Children {
		switch e.Name {
		case "configuration":
			if err := c.load(file, e); err != nil {
				return err
			}
		case "include", "fallback":
			return Error{file, e.Line, "xi:" + e.Name + " is not followed; put what it includes in the file"}
		case "property":
			if p, ok := property(file, e); ok {
				c.set(p)
			} else {
				c.Ignored = append(c.Ignored, Error{file, e.Line, "a property without name or value"})
			}
		default:
			c.Ignored = append(c.Ignored, Error{file, e.Line, "element " + e.Name})
		}
	}
	return nil
}

// property reads <property>, whose parts are elements, or attributes since Hadoop 3.
func property(file string, e *Element) (Property, bool) {
	p := Property{Name: strings.TrimSpace(e.Attributes["name"]), File: file, Line: e.Line, final: e.Attributes["final"] == "true"}
	value, hasValue := e.Attributes["value"]
	for _, part := range e.Children {
		switch part.Name {
		case "name":
			p.Name, p.Line = strings.TrimSpace(part.Text), part.Line
		case "value":
			value, hasValue = part.Text, true
		case "final":
			p.final = part.Text == "true"
		}
	}
	p.written, p.Value = value, value
	return p, p.Name != "" && hasValue
}

func (c *Configuration) set(p Property) {
	before := c.byName[p.Name]
	switch {
	case before == nil:
		c.Properties = append(c.Properties, &p)
		c.byName[p.Name] = &p
	case before.final && before.File != p.File:
		c.Shadowed = append(c.Shadowed, Shadowed{Property: p, By: *before, Final: true})
	default:
		c.Shadowed = append(c.Shadowed, Shadowed{Property: *before, By: p})
		*before = p
	}
}
