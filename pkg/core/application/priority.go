package application

// PodPriority is what a pod says about priority.
type PodPriority struct {
	// Value is the priority of the pod itself. 0 says nothing unless Classed.
	Value int32
	// Classed: the pod names a PriorityClass.
	Classed bool
	// Application is the priority that it asks for its application, if it asks for one.
	Application AskedPriority
}

// AskedPriority is a priority that may not be asked for. The zero value asks for none.
type AskedPriority struct {
	Asked bool
	Value int32
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
// pod asks for its application comes before its own priority. Everybody who may create a pod may ask, so without a cap
// that only lowers the priority.
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
