// Package site translates what yarn-site.xml says for whatever scheduler: access, the largest container, which scheduler it is.
//
// Input is a configuration and a plan, output are fields and notes in that plan. Properties of one scheduler are its package's.
package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// Site is one run.
type Site struct {
	Plan   *plan.Plan
	Config *config.Configuration
	Root   *plan.Object
	// Scheduler is the name of the class of the scheduler.
	Scheduler string
	// Lists: the scheduler looks at the lists of queues whatever yarn.acl.enable says.
	Lists bool
}

const sizeAsked = "a pod counts with the size that it asks for"

var notNeeded = map[string]string{
	"yarn.scheduler.minimum-allocation-mb": sizeAsked, "yarn.scheduler.minimum-allocation-vcores": sizeAsked,
	"yarn.scheduler.increment-allocation-mb": sizeAsked, "yarn.scheduler.increment-allocation-vcores": sizeAsked,
	"yarn.resource-types.memory-mb.increment-allocation": sizeAsked, "yarn.resource-types.vcores.increment-allocation": sizeAsked,
	"yarn.resource-types":                      "Kubernetes knows the resources of nodes",
	"yarn.node-labels.enabled":                 "nodes have labels and taints in Kubernetes",
	"yarn.scheduler.include-port-in-node-name": "nodes have names in Kubernetes",
}

// Each translates all properties. special reports whether it has translated one.
func (s Site) Each(special func(*config.Property) bool) {
	others := map[string][]string{}
	var files []string
	for _, p := range s.Config.Properties {
		if special(p) || s.known(p) {
			continue
		}
		if others[p.File] == nil {
			files = append(files, p.File)
		}
		others[p.File] = append(others[p.File], p.Name)
	}
	for _, file := range files {
		names := others[file]
		slices.Sort(names)
		s.Plan.Note(plan.Origin{File: file, Property: "others"}).
			Skip("about other parts of YARN than its scheduler: %s", strings.Join(names, ", "))
	}
	for _, shadowed := range s.Config.Shadowed {
		n := s.Plan.Note(plan.Origin{File: shadowed.File, Line: shadowed.Line, Property: shadowed.Name, Value: shadowed.Value})
		place := config.Error{File: shadowed.By.File, Line: shadowed.By.Line, Text: "states it"}
		if shadowed.Final {
			n.Skip("it does not count, in Hadoop too: %s, and it is final there", place.Error())
		} else {
			n.Skip("it does not count, in Hadoop too: %s later", place.Error())
		}
	}
	for _, ignored := range s.Config.Ignored {
		s.Plan.Note(plan.Origin{File: ignored.File, Line: ignored.Line, Property: ignored.Text}).Skip("Hadoop ignores it, too")
	}
}

// known translates the properties that all schedulers share.
func (s Site) known(p *config.Property) bool {
	note := func() *plan.Note {
		return s.Plan.Note(plan.Origin{File: p.File, Line: p.Line, Property: p.Name, Value: p.Value})
	}
	if why := notNeeded[p.Name]; why != "" {
		note().Skip("%s", why)
		return true
	}
	switch p.Name {
	case "yarn.resourcemanager.scheduler.class":
		if !strings.HasSuffix(strings.TrimSpace(p.Value), "."+s.Scheduler) {
			s.fail(p, fmt.Sprintf("the file to import is that of the %s, and this names another scheduler", s.Scheduler))
		}
		note().Skip("it names the scheduler")
	case "yarn.acl.enable":
		s.aclEnable(p, note())
	case "yarn.admin.acl":
		s.adminACL(p, note())
	case "yarn.scheduler.maximum-allocation-mb":
		s.largest(p, note(), "memory", "Mi")
	case "yarn.scheduler.maximum-allocation-vcores":
		s.largest(p, note(), "cpu", "")
	case "yarn.resourcemanager.reservation-system.enable":
		note().Skip("what can be reserved follows from reservable queues alone")
	case "yarn.acl.reservation-enable":
		if strings.TrimSpace(p.Value) == "true" {
			note().Remark("install manifests/access and set checkAccess: true in the scheduler's configuration")
		} else {
			note().Approximate("the lists of who may reserve are not checked in YARN; their roles are printed")
		}
	default:
		return false
	}
	return true
}

func (s Site) fail(p *config.Property, text string) {
	s.Plan.Fail(config.Error{File: p.File, Line: p.Line, Text: p.Name + ": " + text})
}

func (s Site) aclEnable(p *config.Property, n *plan.Note) {
	switch {
	case strings.TrimSpace(p.Value) == "true":
		n.Remark("install manifests/access and set checkAccess: true in the scheduler's configuration")
	case s.Lists:
		n.Approximate("the lists of queues are translated all the same: the scheduler of YARN looks at them when an application is submitted")
	default:
		n.Approximate("the lists of queues are not checked in YARN; the roles are printed, and the tree stays open")
	}
}

// ACLsCount reports whether YARN checks lists. Without yarn-site.xml they are taken to be meant.
func ACLsCount(c *config.Configuration, stated bool) bool {
	p := c.Get("yarn.acl.enable")
	return !stated || p != nil && strings.TrimSpace(p.Value) == "true"
}

func (s Site) adminACL(p *config.Property, n *plan.Note) {
	acl := value.ParseACL(p.Value)
	switch {
	case !ACLsCount(s.Config, true):
		n.Skip("it does not count while yarn.acl.enable is not true, in YARN too")
	case acl.Everyone:
		n.Approximate("it is not granted, since who administers root may submit everywhere")
	default:
		s.Plan.Grant(n, "administer", queue.Root, acl)
	}
}

// largest states the largest container as the largest pod.
func (s Site) largest(p *config.Property, n *plan.Note, resource, unit string) {
	amount, err := value.Int(p.Value)
	if err != nil || amount < 0 {
		s.fail(p, fmt.Sprintf("%q is not a whole number of at least 0", p.Value))
		return
	}
	n.Remark("a larger pod waits and says so, where YARN refuses the request")
	s.Root.SetKey(n, "maxPodResources", resource, value.Number(fmt.Sprintf("%d%s", amount, unit)))
}
