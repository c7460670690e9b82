package capacity

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const (
	maxPriority    = "yarn.cluster.max-application-priority"
	monitor        = "yarn.resourcemanager.scheduler.monitor."
	preemptionKeys = "yarn.resourcemanager.monitor.capacity.preemption."
	placementKeys  = "yarn.scheduler.queue-placement-rules"
	oneByOne       = "pods are scheduled one by one, as soon as there is room"
	calculators    = "org.apache.hadoop.yarn.util.resource."
)

type systemFunc = func(*translation, *setting)

// system are the properties that count for all queues. Those without a function are translated where they count.
var system = map[string]systemFunc{
	prefix + "maximum-applications":                            (*translation).systemApplications,
	prefix + "global-queue-max-application":                    nil,
	prefix + "max-parallel-apps":                               nil,
	prefix + "user.max-parallel-apps":                          (*translation).userParallelApps,
	prefix + "maximum-am-resource-percent":                     nil,
	prefix + "minimum-user-limit-percent":                      nil,
	prefix + "user-limit-factor":                               nil,
	prefix + "resource-calculator":                             (*translation).calculator,
	prefix + "node-locality-delay":                             delay("nodeLocalityDelay", 40, ""),
	prefix + "rack-locality-additional-delay":                  delay("rackLocalityDelay", -1, "it is off then, where YARN derives a delay from the number of requests"),
	prefix + "queue-mappings":                                  nil,
	prefix + "queue-mappings-override.enable":                  nil,
	prefix + "mapping-rule-format":                             (*translation).mappingFormat,
	prefix + "mapping-rule-json":                               systemLost("rules in JSON are not read; write them as rules of the PlacementPolicy"),
	prefix + "mapping-rule-json-file":                          systemLost("rules in JSON are not read; write them as rules of the PlacementPolicy"),
	prefix + "workflow-priority-mappings":                      systemLost("give the pods of a workflow a PriorityClass"),
	prefix + "workflow-priority-mappings-override.enable":      systemSkipped("it is about workflow-priority-mappings"),
	prefix + "rack-locality-full-reset":                        (*translation).fullReset,
	prefix + "reservations-continue-look-all-nodes":            systemSkipped(oneByOne),
	prefix + "lazy-preemption-enabled":                         systemSkipped("a victim is evicted only if the pod that needs its room still waits"),
	prefix + "application.fail-fast":                           systemSkipped("an application of a queue that is gone waits and says so"),
	prefix + "user-metrics.enable":                             systemSkipped("metrics are always there"),
	prefix + "legacy-queue-mode.enabled":                       systemSkipped("it is about the check of the file"),
	prefix + "skip-allocate-on-nodes-with-reserved-containers": systemSkipped(oneByOne),
	maxPriority:                 (*translation).clusterPriority,
	monitor + "enable":          nil,
	monitor + "policies":        nil,
	placementKeys:               systemSkipped("mappings of users and groups are translated; those of applications are reported where they stand"),
	placementKeys + ".app-name": systemLost("no rule looks at the name of an application"),
}

func systemSkipped(why string) systemFunc {
	return func(_ *translation, s *setting) { s.note.Skip("%s", why) }
}

func systemLost(why string) systemFunc {
	return func(_ *translation, s *setting) { s.note.Lose("%s", why) }
}

// systemRule returns what translates a property that counts for all queues, and whether it is known.
func systemRule(name string) (systemFunc, bool) {
	if f, ok := system[name]; ok {
		return f, true
	}
	switch key := strings.TrimPrefix(name, prefix); {
	case strings.HasPrefix(name, preemptionKeys):
		return nil, true // see preemption
	case key == name:
		return nil, false
	case strings.HasPrefix(key, "per-node-heartbeat."), strings.HasPrefix(key, "schedule-asynchronously."), strings.HasPrefix(key, "multi-node-"):
		return systemSkipped(oneByOne), true
	case strings.HasPrefix(key, "user.") && strings.HasSuffix(key, ".max-parallel-apps"):
		return systemLost("Fairway has one number for all users, users.maxRunningApplications of root"), true
	case strings.HasPrefix(key, "queue-management"), strings.HasPrefix(key, "queuemanagement"):
		return systemSkipped("queues that placement creates are looked after by the scheduler"), true
	}
	return nil, false
}

func (t *translation) systemApplications(s *setting) {
	if n, ok := t.count(s); ok {
		t.root.object.Set(s.note, "maxApplications", n)
	}
}

func (t *translation) userParallelApps(s *setting) {
	if n, ok := t.count(s); ok {
		t.root.object.Set(s.note, "users.maxRunningApplications", n)
	}
}

func (t *translation) calculator(s *setting) {
	switch text := strings.TrimSpace(s.Value); text {
	case calculators + "DefaultResourceCalculator":
		t.root.object.Set(s.note, "resourceCalculator", "Memory")
	case calculators + "DominantResourceCalculator":
		t.root.object.Set(s.note, "resourceCalculator", "Dominant")
	default:
		if !strings.Contains(text, ".") {
			t.fail(s.Property, "%q is no class", text)
			return
		}
		s.note.Lose("a calculator of your own; Fairway has Memory and Dominant")
	}
}

// memoryOnly: the calculator of the file is YARN's default.
func (t *translation) memoryOnly() bool {
	s := t.system[prefix+"resource-calculator"]
	return s == nil || strings.TrimSpace(s.Value) == calculators+"DefaultResourceCalculator"
}

// delay says where a delay is stated: all queues have one, in the configuration of the scheduler. differs is what the default does otherwise than in YARN.
func delay(argument string, byDefault int64, differs string) systemFunc {
	return func(t *translation, s *setting) {
		n, err := value.Int(s.Value)
		switch {
		case err != nil:
			t.fail(s.Property, "%w", err)
		case n != byDefault:
			s.note.Lose("state %s: %d in the arguments of plugin Fairway, in the configuration of the scheduler", argument, n)
		case differs != "":
			s.note.Approximate("that is the default of %s, an argument of the scheduler; %s", argument, differs)
		default:
			s.note.Remark("that is the default of %s, an argument of the scheduler", argument)
		}
	}
}

func (t *translation) fullReset(s *setting) {
	if boolean(s.Value) {
		s.note.Remark("a start in a preferred rack begins the count again")
	} else {
		s.note.Lose("a start in a preferred rack always begins the count again")
	}
}

func (t *translation) mappingFormat(s *setting) {
	if strings.TrimSpace(s.Value) == "legacy" {
		s.note.Skip("that is the default")
	} else {
		s.note.Lose("rules in JSON are not read; write them as rules of the PlacementPolicy")
	}
}

func (t *translation) clusterPriority(s *setting) {
	if n, ok := t.count(s); ok {
		t.root.object.Set(s.note, "maxPriority", n)
	}
}
