package queue

// PlanDefault is the queue below a reservable one in which pods without a reservation are placed.
func (p Path) PlanDefault() Path { return p + ".default" }
