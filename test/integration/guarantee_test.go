package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

const gpus v1.ResourceName = "nvidia.com/gpu"

// What a guarantee of GPUs is worth to a queue that uses most of the cpu, on one control plane: 4 nodes of 4 cpu.
func TestAGuaranteeOfGPUsGivesGPUs(t *testing.T) {
	k := takingWorld(t, 4, "")
	k.scene("order", (*taking).getsTheNextGPUs)
	k.scene("claim", (*taking).claimsItsGPUs)
}

// devices gives each node so many GPUs until the scene ends.
func (k *taking) devices(perNode int64) {
	k.t.Helper()
	f := &failing{world: k.world, s: k.runs.s}
	for i := range 4 {
		node := nodeNamed(fmt.Sprint("node-", i))
		changeStatus(f, node, func(n *v1.Node) {
			n.Status.Capacity[gpus] = *resource.NewQuantity(perNode, resource.DecimalSI)
			n.Status.Allocatable[gpus] = n.Status.Capacity[gpus]
		})
		k.t.Cleanup(func() {
			changeStatus(f, node, func(n *v1.Node) {
				delete(n.Status.Capacity, gpus)
				delete(n.Status.Allocatable, gpus)
			})
		})
	}
	f.untilTotal(fmt.Sprintf("cpu=16 memory=64Gi nvidia.com/gpu=%d", 4*perNode))
}

// withGPU has a pod ask for one GPU.
func withGPU(p *v1.Pod) { askingGPUs("1", p) }

func askingGPUs(n string, p *v1.Pod) *v1.Pod {
	r := &p.Spec.Containers[0].Resources
	r.Requests[gpus] = resource.MustParse(n)
	r.Limits = v1.ResourceList{gpus: resource.MustParse(n)}
	return p
}

// getsTheNextGPUs: of 4 GPUs, research is guaranteed 2. It has none, and 9 of 16 cpu. All GPUs and the other cpus are batch's. Two GPUs become free, one after
// the other: research gets both, though other has nothing at all, and cpus enough. The third goes by shares again: its cpu is other's.
func (k *taking) getsTheNextGPUs() {
	k.devices(1)
	k.queues("research guaranteed.nvidia.com/gpu=2", "batch", "other")
	k.fill("batch", 0, 4, withGPU)
	k.running("batch", 4)
	k.fill("batch", 4, 3)
	k.running("batch", 7)
	k.fill("research", 0, 9)
	k.running("research", 9)

	k.fill("research", 9, 3) // cpu alone: they gain nothing
	k.fill("research", 12, 3, withGPU)
	k.fill("batch", 7, 3, withGPU)
	k.fill("other", 0, 1)
	k.until("status says which resource is lacking", func() (bool, string) {
		for _, c := range k.getQueue(k.leaf("research")).Status.Conditions {
			if c.Type == v1alpha1.ConditionStarved {
				return strings.Contains(c.Message, "it has 0 nvidia.com/gpu, should have 2 nvidia.com/gpu and asks for 3 nvidia.com/gpu"), c.Message
			}
		}
		return false, "it says nothing"
	})
	for i, next := range []string{"research-12", "research-13", "other-0"} {
		freed := time.Now()
		k.must(k.client.Delete(k.ctx, k.mine()[fmt.Sprintf("%s-batch-%d", k.name, i)]))
		k.until(next+" runs", func() (bool, string) {
			return k.mine()[k.name+"-"+next].Spec.NodeName != "", fmt.Sprint(k.bound())
		})
		k.t.Logf("%s has the cpu of a pod with a GPU %s after that was deleted", next, time.Since(freed).Round(time.Millisecond))
		rest(k.t, k.world, k.runs.s)
		if n, want := k.bound()["all"], 16; n != want {
			k.t.Fatalf("%d pods run, want %d: %v", n, want, k.bound())
		}
	}
}

// claimsItsGPUs: of 16 GPUs, research is guaranteed 4. It has none, and 12 of 16 cpu; batch has all GPUs. After its timeout it claims 4, for four of its six
// pods that ask for one.
func (k *taking) claimsItsGPUs() {
	k.devices(4)
	small := withSize("250m", "1Gi")
	k.queues("research guaranteed.nvidia.com/gpu=4 preemption.guaranteedTimeout=1s", "batch")
	k.fill("batch", 0, 16, small, withGPU)
	k.running("batch", 16)
	k.fill("research", 0, 12)
	k.running("research", 12)
	came := time.Now()
	k.fill("research", 12, 6, small, withGPU)
	k.running("research", 16)
	k.t.Logf("a queue with 75%% of the cpu has its 4 guaranteed GPUs %s after it asks for them", time.Since(came).Round(time.Millisecond))
	k.paid()
	k.evictedAre(map[string]int{"batch-": 4})
	for _, f := range k.fates() {
		if want := v1alpha1.PreemptionMessage + k.leaf("research") + ", which is below its guarantee, for pod default/"; !strings.HasPrefix(f.message, want) ||
			!strings.Contains(f.message, "nvidia.com/gpu above its fair share") {
			k.t.Errorf("pod %s says %q, want %q and what its queue has of GPUs", f.name, f.message, want)
		}
	}
}
