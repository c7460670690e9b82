// Package book keeps what a release searches: the order of the competitors at one parent (Order), the waiting pods of one class in one
// application (PodQueue), and which class has which lane (Lanes, LaneTable).
//
// In: competitors with their standing and the lanes in which they have something to release, pods with their keys, and what changes of
// either. Out: the first competitor that has one of the given lanes, and the first pod of a queue.
//
// The package knows no account, pod, class or limit. Their types embed a Competitor or an Item, so that what is compared stands in memory
// beside what is used next: reading memory is what takes the time of a release. The package must not allocate where something is chosen,
// released or taken back.
package book
