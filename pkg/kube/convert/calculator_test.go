package convert

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestCalculatorOfTheRoot(t *testing.T) {
	const ofRoot = "spec.resourceCalculator: it holds over all queues, so it can be stated in the queue root only"
	for name, c := range map[string]struct {
		queue  string
		stated v1alpha1.ResourceCalculator
		want   queue.Calculator
		err    string
	}{
		"not stated":            {queue: "root", want: queue.DominantCalculator},
		"not stated below":      {queue: "root.a", want: queue.DominantCalculator},
		"all resources":         {queue: "root", stated: v1alpha1.CalculatorDominant, want: queue.DominantCalculator},
		"memory":                {queue: "root", stated: v1alpha1.CalculatorMemory, want: queue.MemoryCalculator},
		"of a queue below":      {queue: "root.a", stated: v1alpha1.CalculatorMemory, err: "queue root.a: " + ofRoot},
		"the default, below":    {queue: "root.a", stated: v1alpha1.CalculatorDominant, err: "queue root.a: " + ofRoot},
		"YARN's name":           {queue: "root", stated: "DefaultResourceCalculator", err: `queue root: spec.resourceCalculator: calculator "DefaultResourceCalculator" is not one of Dominant, Memory`},
		"of a queue, so called": {queue: "root.root", stated: v1alpha1.CalculatorMemory, err: "queue root.root: " + ofRoot},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Declaration(makeQueue(c.queue, func(q *v1alpha1.Queue) { q.Spec.ResourceCalculator = c.stated }))
			if text := fmt.Sprint(err); c.err != "" && text != c.err || c.err == "" && err != nil {
				t.Fatalf("error is %s\nwant %s", text, c.err)
			}
			if got.Spec.Calculator != c.want {
				t.Errorf("%s, want %s", got.Spec.Calculator, c.want)
			}
		})
	}
	_, err := DecodeQueue(&unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "root"}, "spec": map[string]any{"resourceCalculator": int64(1)},
	}})
	if err == nil || !strings.HasPrefix(err.Error(), "queue root: spec.resourceCalculator: cannot be read") {
		t.Errorf("%v", err)
	}
}
