// Package reservation plans capacity over time: it books room in a queue for definitions that say how much they need, for how long, and between
// which instants.
//
// Input is a plan (capacity, sharing policy, what is accepted), a definition and the present time; output is the next plan and a verdict. A plan is a
// value: functions return another one and change none. Time is in whole seconds since 1970, an interval has its first second and not its last, and
// amounts are those of core/resource.
//
// The package does not know queues, pods or objects of the API, and makes no room: that a booked step is there on time is up to others.
package reservation
