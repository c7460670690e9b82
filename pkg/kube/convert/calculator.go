package convert

import (
	"errors"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// calculator reads which resources count.
func calculator(q *v1alpha1.Queue, spec *queue.Spec) (err error) {
	const field = "spec.resourceCalculator"
	if q.Spec.ResourceCalculator != "" && q.Name != string(queue.Root) {
		return refusal(q.Name, field, errors.New("it holds over all queues, so it can be stated in the queue root only"))
	}
	if spec.Calculator, err = queue.ParseCalculator(string(q.Spec.ResourceCalculator)); err != nil {
		return refusal(q.Name, field, err)
	}
	return nil
}
