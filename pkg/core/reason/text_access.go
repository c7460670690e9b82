package reason

// submitText says who may not use which queue, and what is missing. The admission policies in manifests/access refuse with the same sentence.
func (r Reason) submitText() string {
	who := orElse(Name(As[Submitter](r).User), "the user of this pod")
	if r.Code == SubmitUnchecked {
		return "it is not known yet whether user " + who + " may submit to queue " + r.Queue + "; the API server is asked again until it answers"
	}
	return "user " + who + " may not submit to queue " + r.Queue +
		": this takes the verb submit or administer on queues.scheduling.fairway.dev, for " + r.Queue + " or a queue above it"
}
