package application

import "strconv"

// PodPriority is what a pod says about priority.
type PodPriority struct {
	// Value is the priority of the pod itself. 0 says nothing unless Classed.
	Value int32
	// Classed: the pod names a PriorityClass.
	Classed bool
	// Application is the priority that it asks for its application, if it asks for one.
	Application AskedPriority
}

// AskedPriority is a priority that a pod may ask for. The zero value asks for none.
type AskedPriority struct {
	Asked bool
	Value int32
}

// ParseAskedPriority reads what a pod asks for its application: a whole number of 32 bits. An empty text asks for nothing, and so does one that
// cannot be read (false).
func ParseAskedPriority(text string) (AskedPriority, bool) {
	if text == "" {
		return AskedPriority{}, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return AskedPriority{}, false
	}
	return AskedPriority{Asked: true, Value: int32(n)}, true
}

// Priorities is what holds for the priorities in one leaf.
type Priorities struct {
	// Default counts where no priority is stated.
	Default int32
	// Capped: no priority counts for more than Most.
	Capped bool
	Most   int32
}

// OfPod is the priority by which pods of one leaf may evict each other: that of the pod, or the default, up to the
// most.
func (p Priorities) OfPod(pod PodPriority) int32 {
	value := pod.Value
	if value == 0 && !pod.Classed {
		value = p.Default
	}
	if p.Capped {
		value = min(value, p.Most)
	}
	return value
}

// OfApplication is the priority of an application, given its oldest driver or, without one, its oldest pod. What that
// pod asks for its application comes before its own priority. Anyone who may create a pod may ask for any priority, so
// without a cap (Most) the answer is never above the pod's own.
func (p Priorities) OfApplication(pod PodPriority) int32 {
	own := p.OfPod(pod)
	switch asked := pod.Application; {
	case !asked.Asked:
		return own
	case p.Capped:
		return min(asked.Value, p.Most)
	default:
		return min(asked.Value, own)
	}
}
