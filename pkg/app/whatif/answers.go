package whatif

import (
	"context"
	"hash/maphash"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// Answers are answers about one World. They implement preemption.Feasibility.
type Answers struct {
	ctx   context.Context
	f     *Frameworks
	world preemption.World
	pods  map[string]*v1.Pod // by UID; nil: there is no such pod
	index map[string]*v1.Pod // the pods that had nodes when the index was made; nil: not made yet
	budgets

	classes map[asked]*class
	// fitting are the questions that were answered with yes. The plan is built on these answers, so its check gets
	// them too: a filter may read what changes meanwhile, for example volumes.
	fitting map[question]bool
	commits []change
	// keys[i] names the picture after the first i commits. If the same commits are made again, as when a
	// plan is checked, they give a picture about which the answers are known.
	keys []pictureKey
}

// pictureKey identifies a picture by its changes: the exclusive or of the hashes of all changes, so that their order
// does not matter.
type pictureKey [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (n *pictureKey) change(what, uid, node string) {
	for i, seed := range seeds {
		n[i] ^= maphash.String(seed, what+uid+" "+node)
	}
}

// asked is a class of claimants in one picture.
type asked struct {
	class string
	in    pictureKey
}

// question is whether a class of claimants fits on a node in one picture, that without the pods that would be gone.
type question struct {
	asked
	node int
}

// mostAsked and mostFitting bound what is remembered. PreFilter may store something for each node.
const (
	mostAsked   = 128
	mostFitting = 1 << 14
)

var _ preemption.Feasibility = &Answers{}

// change is the effect of a commit on the picture.
type change struct {
	before []before
	nodes  sets.Set[int] // the nodes that were copied
	key    pictureKey
}

type before struct {
	node int
	info fwk.NodeInfo
}

// class is the result of PreFilter for a class of claimants. It is computed again for each new picture:
// PreFilter extensions follow changes of one node alone (of the smallest domains, topology spread remembers
// only two), and PreFilter costs the same as in a scheduling cycle.
type class struct {
	state fwk.CycleState
	nodes sets.Set[string] // nil: any
	never bool             // no node fits
}

// Fits implements preemption.Feasibility.
func (a *Answers) Fits(c *preemption.Claimant, node int, gone []string) bool {
	pod := a.pod(c.UID)
	at, known := a.f.picture.at[a.world.Nodes[node].Name]
	if pod == nil || !known {
		return false
	}
	profile := a.f.profiles[pod.Spec.SchedulerName]
	if profile == nil {
		return false
	}
	q := question{asked{c.Class, a.keys[len(a.keys)-1]}, at}
	for _, uid := range gone {
		if podOn(a.f.picture.nodes[at], uid) != nil {
			q.in.change("-", uid, "")
		}
	}
	fits := a.fitting[q] || a.fitsWithout(c, pod, profile, at, gone)
	if fits && len(a.fitting) < mostFitting {
		a.fitting[q] = true
	}
	return fits
}

// fitsWithout asks the filters.
func (a *Answers) fitsWithout(c *preemption.Claimant, pod *v1.Pod, profile framework.Framework, at int, gone []string) bool {
	k := a.classOf(c, profile, pod)
	if k.never || k.nodes != nil && !k.nodes.Has(a.f.picture.nodes[at].Node().Name) {
		return false
	}
	info, state := a.f.picture.nodes[at], k.state
	if len(gone) > 0 {
		info, state = info.Snapshot(), state.Clone()
		for _, uid := range gone {
			leaving := podOn(info, uid)
			if leaving == nil {
				continue // the pod has ended meanwhile
			}
			if err := info.RemovePod(klog.FromContext(a.ctx), leaving.GetPod()); err != nil {
				return false
			}
			if !profile.RunPreFilterExtensionRemovePod(a.ctx, state, pod, leaving, info).IsSuccess() {
				return false
			}
		}
	}
	return profile.RunFilterPlugins(a.ctx, state, pod, info).IsSuccess()
}

func (a *Answers) classOf(c *preemption.Claimant, profile framework.Framework, pod *v1.Pod) *class {
	is := asked{c.Class, a.keys[len(a.keys)-1]}
	if k := a.classes[is]; k != nil {
		return k
	}
	if len(a.classes) == mostAsked {
		clear(a.classes)
	}
	k := &class{state: framework.NewCycleState()}
	result, status, _ := profile.RunPreFilterPlugins(a.ctx, k.state, pod)
	k.never = !status.IsSuccess()
	if !result.AllNodes() {
		k.nodes = result.NodeNames
	}
	a.classes[is] = k
	return k
}

// Commit implements preemption.Feasibility.
func (a *Answers) Commit(c *preemption.Claimant, node int, gone []string) {
	var done change
	for _, uid := range gone {
		a.remove(&done, uid)
	}
	a.add(&done, c.UID, node)
	a.commits = append(a.commits, done)
	now := a.keys[len(a.keys)-1]
	a.keys = append(a.keys, pictureKey{now[0] ^ done.key[0], now[1] ^ done.key[1]})
}

// Commits implements preemption.Feasibility.
func (a *Answers) Commits() int { return len(a.commits) }

// Rollback implements preemption.Feasibility.
func (a *Answers) Rollback(n int) {
	for len(a.commits) > n {
		last := len(a.commits) - 1
		for _, b := range a.commits[last].before {
			a.f.picture.nodes[b.node] = b.info
		}
		a.commits, a.keys = a.commits[:last], a.keys[:last+1]
	}
}

func (a *Answers) remove(done *change, uid string) {
	pod := a.pod(uid)
	if pod == nil {
		pod = a.running(uid) // a pod of another scheduler
	}
	if pod == nil {
		return
	}
	at, known := a.f.picture.at[pod.Spec.NodeName]
	if !known {
		return
	}
	leaving := podOn(a.f.picture.nodes[at], uid)
	if leaving == nil {
		return
	}
	if err := a.copied(done, at).RemovePod(klog.FromContext(a.ctx), leaving.GetPod()); err != nil {
		klog.FromContext(a.ctx).Error(err, "Planning as if a pod were gone", "pod", klog.KObj(pod))
		return
	}
	done.key.change("-", uid, "")
}

func (a *Answers) add(done *change, uid string, node int) {
	pod := a.pod(uid)
	at, known := a.f.picture.at[a.world.Nodes[node].Name]
	if pod == nil || !known || podOn(a.f.picture.nodes[at], uid) != nil {
		return
	}
	there := *pod // Spec is a value: only the copy gets the node
	there.Spec.NodeName = a.world.Nodes[node].Name
	info, err := framework.NewPodInfo(&there)
	if err != nil {
		klog.FromContext(a.ctx).Error(err, "Planning as if a pod had its place", "pod", klog.KObj(pod))
		return
	}
	a.copied(done, at).AddPodInfo(info)
	done.key.change("+", uid, there.Spec.NodeName)
}

// copied returns a node that may be changed. Each change copies a node at most once.
func (a *Answers) copied(done *change, at int) fwk.NodeInfo {
	if !done.nodes.Has(at) {
		info := a.f.picture.nodes[at]
		done.before = append(done.before, before{at, info})
		a.f.picture.nodes[at] = info.Snapshot()
		if done.nodes == nil {
			done.nodes = sets.New[int]()
		}
		done.nodes.Insert(at)
	}
	return a.f.picture.nodes[at]
}

func (a *Answers) pod(uid string) *v1.Pod {
	pod, asked := a.pods[uid]
	if !asked {
		pod = a.f.o.Pods(uid)
		a.pods[uid] = pod
	}
	return pod
}

// running finds a pod that has a node by its UID. With a hundred thousand candidates, looking up each by name
// would cost more than the plan.
func (a *Answers) running(uid string) *v1.Pod {
	if a.index == nil {
		a.index = map[string]*v1.Pod{}
		for _, info := range a.f.picture.nodes {
			for _, p := range info.GetPods() {
				a.index[string(p.GetPod().UID)] = p.GetPod()
			}
		}
	}
	if pod := a.index[uid]; pod != nil {
		return pod
	}
	return a.pod(uid)
}

func podOn(info fwk.NodeInfo, uid string) fwk.PodInfo {
	for _, p := range info.GetPods() {
		if p.GetPod().UID == types.UID(uid) {
			return p
		}
	}
	return nil
}
