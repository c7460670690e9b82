package fair

import (
	"strings"
)

const (
	policyFair = "Fair"
	policyDRF  = "DominantResourceFairness"
	policyFIFO = "FIFO"
	javaPrefix = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.policies."
)

var policies = map[string]string{
	"fair": policyFair, "drf": policyDRF, "fifo": policyFIFO,
	strings.ToLower(javaPrefix + "FairSharePolicy"):                policyFair,
	strings.ToLower(javaPrefix + "DominantResourceFairnessPolicy"): policyDRF,
	strings.ToLower(javaPrefix + "FifoPolicy"):                     policyFIFO,
}

// policyOf reads a policy, "" if it is one that only that YARN knows. what is for messages.
func (t *translation) policyOf(what string, s *setting) string {
	text := strings.TrimSpace(s.text)
	policy, known := policies[strings.ToLower(text)]
	switch {
	case known:
	case strings.Contains(text, "."):
		s.note.Lose("a policy of your own; Fairway has drf, fair and fifo")
	default:
		t.fail(s.line, "%s%s: %q is none of fair, drf and fifo, nor a class", what, s.note.Property, text)
	}
	return policy
}

// inherited is the policy that a Queue has if it states none.
func (a *allocation) inherited() string {
	if a.parent != nil && a.parent.policy == policyFair {
		return policyFair
	}
	return policyDRF
}

// schedulingPolicy states the policy if the Queue would not have it anyway.
func (t *translation) schedulingPolicy(a *allocation, s *setting) {
	policy := t.policyOf(a.yarn+" ", s)
	if policy == "" {
		t.byDefault(a, "schedulingPolicy")
		return
	}
	switch {
	case policy == policyFIFO && a.isParent():
		s.note.Approximate("fifo is for queues without children; YARN leaves this one out when it starts; here it has policy %s", a.inherited())
		policy = a.inherited()
	case policy == policyDRF && a.inherited() == policyFair:
		s.note.Approximate("drf is not allowed below fair; YARN leaves this queue out when it starts; here it has policy Fair")
		policy = policyFair
	}
	a.policy = policy
	if policy != a.inherited() || policy == policyFIFO {
		a.object.Set(s.note, "policy", policy)
	} else {
		s.note.Remark("the queue has policy %s without stating it", policy)
	}
}
