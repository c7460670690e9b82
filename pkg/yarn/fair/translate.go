package fair

import (
	"io"

	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

// translation is one run.
type translation struct {
	file  string
	site  *config.Configuration // nil without yarn-site.xml
	plan  *plan.Plan
	names plan.Names
	root  *allocation
	tops  tops
	// unstated has what queues have that state nothing.
	unstated byDefaults
	// creates: placement may create queues, which begin with the defaults.
	creates bool
	// timeouts: some queue may preempt.
	timeouts bool
}

// Translate translates a fair-scheduler.xml. site is nil without yarn-site.xml.
func Translate(file string, r io.Reader, site *config.Configuration) (*plan.Plan, error) {
	top, err := config.Parse(file, r)
	if err != nil {
		return nil, err
	}
	t := &translation{file: file, site: site, plan: &plan.Plan{}, tops: tops{texts: map[string]*setting{}}}
	t.load(top)
	if len(t.plan.Errors()) > 0 {
		return t.plan, nil
	}
	t.declare(t.root)
	t.placement()
	t.defaults()
	t.each(t.root, t.queue)
	t.preemption()
	t.scheduler()
	return t.plan, nil
}

// declare makes the Queues, and root.default, which YARN has whatever the file says.
func (t *translation) declare(root *allocation) {
	hasDefault := false
	t.each(root, func(a *allocation) {
		a.object = t.plan.Queue(a.path)
		hasDefault = hasDefault || a.yarn == "root.default"
	})
	if !hasDefault {
		a := t.newAllocation(root, "default")
		a.path, _ = t.names.Child(root.path, root.yarn, "default")
		a.object = t.plan.Queue(a.path)
		a.object.Comment = "YARN has this queue whatever the file says."
	}
}

// each calls f for a queue and all below it, parents first.
func (t *translation) each(a *allocation, f func(*allocation)) {
	f(a)
	for _, child := range a.children {
		t.each(child, f)
	}
}
