// Package access asks the API server who may submit to which queue, and tells the ledger.
//
// In: the questions on which pods depend, from the ledger, and the answers of SubjectAccessReviews. Out: observations of the ledger. It decides nothing:
// core/access says which grant to ask about next, and what follows. Only a process that leads may run it: a review is a request that creates
// something, and a standby sends none.
//
// Requests are bounded. Each grant is asked about once for a user with the same groups, whatever number of pods and queues need it; then the answer
// is kept for a while. An answer about a queue on which pods depend is asked for again after Recheck, as roles may have changed. It is kept while the API
// server does not answer, up to Expire.
package access
