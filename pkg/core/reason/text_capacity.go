package reason

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// capacityText returns the sentences about capacities that contradict each other. The parent and its children have the same.
func (r Reason) capacityText() string {
	c := As[Capacities](r)
	why := ""
	switch r.Code {
	case CapacityMissing:
		why = "the children of queue " + c.Parent + " state a capacity or share by weight, all of them: " + c.Stated
	case CapacitySumInvalid:
		why = "the capacities of the children of queue " + c.Parent + " must sum to " + resource.Decimal(c.Whole) + "%, not to " +
			resource.Decimal(c.Sum) + "%: " + c.Stated
		if c.Whole == 0 {
			why += " (the capacity of " + c.Parent + " is 0%)"
		}
	default:
		upTo := ""
		if c.UpTo {
			upTo = "up to "
		}
		why = "queue " + c.Child + " has a capacity of " + upTo + resource.Percent(c.Capacity) + " of the cluster, but by maxCapacity it may use only " +
			resource.Percent(c.Max) + "; raise maxCapacity or lower capacity, of it or of queues above"
	}
	return why + "; until that is mended these are in force: " + c.InForce
}
