package config

import "strings"

// maxSubstitutions is how many variables Hadoop replaces in a value before it takes them for a loop.
const maxSubstitutions = 20

// substitute replaces ${name} by the property of that name. Names that only a running Hadoop knows (system properties, ${env.NAME}) are left,
// unless they have a default: ${env.NAME:-default}.
func (c *Configuration) substitute(p *Property) error {
	text, from := p.written, 0
	for n := 0; ; n++ {
		start, end := variable(text, from)
		if start < 0 {
			break
		}
		if n == maxSubstitutions {
			return Error{p.File, p.Line, p.Name + ": its variables refer to one another without end: " + p.written}
		}
		name := text[start+2 : end]
		value, known := c.lookUp(name)
		if !known {
			p.Unknown = append(p.Unknown, name)
			from = end + 1
			continue
		}
		text = text[:start] + value + text[end+1:]
	}
	p.Value = text
	return nil
}

func (c *Configuration) lookUp(name string) (string, bool) {
	if environment, ok := strings.CutPrefix(name, "env."); ok {
		for _, separator := range []string{":-", "-"} {
			if _, byDefault, ok := strings.Cut(environment, separator); ok {
				return byDefault, true
			}
		}
		return "", false
	}
	p := c.byName[name]
	if p == nil {
		return "", false
	}
	return p.written, true
}

// variable finds the first innermost ${...} at or after from. A name has neither blanks nor dollars.
func variable(text string, from int) (start, end int) {
	for end = from; end < len(text); end++ {
		if text[end] != '}' {
			continue
		}
		start = strings.LastIndex(text[:end], "${")
		if start >= from && end > start+2 && !strings.ContainsAny(text[start+2:end], " $") {
			return start, end
		}
	}
	return -1, -1
}
