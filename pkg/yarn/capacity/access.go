package capacity

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/site"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

func (t *translation) aclSubmit(d *declared, s *setting) {
	acl := value.ParseACL(s.Value)
	if d.path == queue.Root {
		switch {
		case acl.Everyone:
			s.note.Remark("everybody may submit everywhere, as manifests/access installs it")
			return
		case site.ACLsCount(t.config, t.hasSite):
			t.plan.Close(s.note)
		}
	}
	t.plan.Grant(s.note, "submit", d.path, acl)
}

func (t *translation) aclAdminister(d *declared, s *setting) {
	acl := value.ParseACL(s.Value)
	if d.path == queue.Root && acl.Everyone {
		s.note.Approximate("the default of YARN; it is not granted here, since who administers root may submit everywhere")
		return
	}
	t.plan.Grant(s.note, "administer", d.path, acl)
}
