package fair

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// list reads an ACL. A line break at its beginning is nearly always a mistake.
func list(s *setting) value.ACL {
	acl := value.ParseACL(s.text)
	if strings.TrimLeft(s.text, "\r\n\t") != s.text && len(acl.Users) == 0 && len(acl.Groups) > 0 {
		s.note.Remark("all names are groups, as in YARN, since the text begins with a line break")
	}
	return acl
}

func (t *translation) aclSubmitApps(a *allocation, s *setting) {
	acl := list(s)
	if a.path == queue.Root {
		if acl.Everyone {
			s.note.Remark("everybody may submit everywhere, as manifests/access installs it")
			return
		}
		t.plan.Close(s.note)
	}
	t.plan.Grant(s.note, "submit", a.path, acl)
}

func (t *translation) aclAdministerApps(a *allocation, s *setting) {
	acl := list(s)
	if a.path == queue.Root && acl.Everyone {
		s.note.Approximate("the default of YARN; it is not granted here, since who administers root may submit everywhere")
		return
	}
	t.plan.Grant(s.note, "administer", a.path, acl)
}
