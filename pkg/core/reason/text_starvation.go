package reason

// starvationText says what the queue has, should have and asks for, since when, and what is done about it.
func (r Reason) starvationText() string {
	n := As[Shortfall](r)
	head := "queue " + r.Queue + " is below " + r.entitlement() + r.numbers()
	setting := "fairShareTimeout"
	if r.Code == BelowGuaranteed {
		setting = "guaranteedTimeout"
	}
	switch {
	case n.Since == 0:
		return head + "; pods of other queues are preempted for it until it is not"
	case n.Until == 0:
		return head + after(", since ", clock(n.Since)) + "; nothing is preempted for it, as no " + setting + " is in force"
	case n.Declined != 0:
		return head + after(", since ", clock(n.Since)) + "; its claim ended at " + clock(n.Declined) + ", as queues that have more than their fair share " +
			"have so little more that it is ignored (preemption.maxIgnoredOverCapacity in Queue root); it opens again at " + clock(n.Until)
	default:
		return head + after(", since ", clock(n.Since)) + after("; pods of other queues are preempted for it from ", clock(n.Until), " on")
	}
}

// RestoredText is the sentence for the end of starvation (BelowFairShare, BelowGuaranteed), with the numbers
// of that moment.
func (r Reason) RestoredText() string {
	return "queue " + r.Queue + " is no longer below " + r.entitlement() + r.numbers()
}

func (r Reason) entitlement() string {
	if r.Code == BelowGuaranteed {
		return "its guarantee"
	}
	return "its fair share"
}

func (r Reason) numbers() string {
	if r.Resource == "" {
		return ""
	}
	return ": it has " + r.amount(r.Used) + ", should have " + r.amount(As[Shortfall](r).Entitled) + " and asks for " + r.amount(r.Asked)
}
