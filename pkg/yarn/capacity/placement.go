package capacity

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// placement translates the mappings of users and groups.
func (t *translation) placement() {
	list, override := t.system[prefix+"queue-mappings"], t.system[prefix+"queue-mappings-override.enable"]
	var mappings plan.List
	creates := false
	if list != nil {
		for _, text := range strings.Split(list.Value, ",") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			mapping, into, err := t.mapping(list, text)
			if err != nil {
				t.fail(list.Property, "mapping %q: %w", text, err)
				continue
			}
			mappings = append(mappings, mapping)
			creates = creates || into != nil && into.creates()
		}
	}
	before := override != nil && boolean(override.Value)
	switch {
	case len(mappings) == 0 && list != nil:
		list.note.Skip("there is no mapping in it")
	case len(mappings) > 0:
		t.plan.Policy().Set(list.note, "mappings", mappings)
	}
	if override != nil {
		switch {
		case !before:
			override.note.Remark("that is the default")
		case len(mappings) == 0:
			override.note.Skip("there are no mappings")
		default:
			t.plan.Policy().Set(override.note, "override", true)
		}
	}
	if creates {
		t.creatingRules(list, before)
	}
}

// creatingRules states the rules, since without them a mapping creates no queue.
func (t *translation) creatingRules(list *setting, override bool) {
	rules := plan.List{
		plan.Map{{Key: "type", Value: "Specified"}, {Key: "create", Value: false}},
		plan.Map{{Key: "type", Value: "Mapping"}, {Key: "create", Value: true}},
		plan.Map{{Key: "type", Value: "Default"}},
	}
	if override {
		rules[0], rules[1] = rules[1], rules[0]
	}
	list.note.Approximate("a queue is created where a mapping gives one that is missing; a pod that asks for a queue that is missing goes on to the next rule, where YARN rejects it")
	t.plan.Policy().SetQuietly(list.note, "rules", rules)
}

var errParts = errors.New("it must be u:USER:QUEUE or g:GROUP:QUEUE, and no part may be empty")

// mapping rewrites u:USER:QUEUE. It returns the queue that is above what placement finds, nil if it finds nothing there.
func (t *translation) mapping(list *setting, text string) (string, *declared, error) {
	parts := strings.Split(text, ":")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) != 3 || slices.Contains(parts, "") || parts[0] != "u" && parts[0] != "g" {
		return "", nil, errParts
	}
	levels := strings.Split(parts[2], ".")
	first := slices.IndexFunc(levels, func(level string) bool { return strings.HasPrefix(level, "%") })
	if first < 0 {
		d, err := t.find(parts[2])
		switch {
		case errors.Is(err, errAmbiguous):
			list.note.Approximate("%q: %s, so its pods go in root.default, as in YARN", text, err)
			return parts[0] + ":" + parts[1] + ":" + string(queue.Default), nil, nil
		case err != nil:
			return "", nil, fmt.Errorf("queue %s: %w", parts[2], err)
		}
		if !d.leaf() {
			list.note.Remark("%q: the queue has children, so its pods go in root.default, as in YARN", text)
		}
		return parts[0] + ":" + parts[1] + ":" + string(d.path), nil, nil
	}
	above := t.root
	if first > 0 && !(first == 1 && levels[0] == "root") {
		d, err := t.find(strings.Join(levels[:first], "."))
		if err != nil {
			return "", nil, fmt.Errorf("queue %s: %w", strings.Join(levels[:first], "."), err)
		}
		above = d
	} else if first == 0 && len(levels) == 1 && slices.ContainsFunc(t.all, func(d *declared) bool { return d.path.Depth() > 2 }) {
		list.note.Approximate("%q: the queue is one directly below root; YARN finds one of that name anywhere", text)
	}
	target := string(above.path) + "." + strings.Join(levels[first:], ".")
	mapping := parts[0] + ":" + parts[1] + ":" + target
	if _, err := placement.ParseMapping(mapping); err != nil {
		return "", nil, err
	}
	return mapping, above, nil
}
