// Package reservations follows plans: it decides which Reservations are accepted, where each stands, and which queues they need at a moment.
//
// In: the reservable queues with what they are entitled to, all Reservations with the status that is stored of them, and the time. Out: the status of
// each, the queues below the reservable ones with their guarantees, and when something changes by itself. All of it is values: it knows no API objects and
// no ledger, and it writes nothing. The rules of placing are those of core/reservation.
//
// A Follower is used by one goroutine, that of the process that leads. What a Follower knows is what statuses say, beside what deleted and cancelled
// reservations had, which only counts in averages: so the next leader goes on where this one ended.
package reservations
