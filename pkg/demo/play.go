package demo

import (
	"context"
	_ "embed"
	"time"
)

//go:embed queues.yaml
var queuesYAML []byte

// shares is the demo of two queues that come to their fair shares.
var shares = showTwoQueues(queuesYAML, "the shares arrived", func(q twoQueues, o Options) player {
	return &sharesPlayer{twoQueues: q, story: story{once: o.Once, limit: o.Deadline}}
})

// twoQueues is what both demos of two queues play with: pods that are submitted to them, and an observer.
type twoQueues struct {
	demo     *demo
	observer *observer
	workload *workload
	view     view // what was last shown
}

// showTwoQueues is a demo whose player submits pods to two queues.
func showTwoQueues(queues []byte, aim string, play func(twoQueues, Options) player) show {
	return show{
		objects: queues, nodes: nodeCount, cores: nodeCores, gib: nodeGiB, aim: aim,
		open: func(ctx context.Context, d *demo) (player, error) {
			observer, err := observe(ctx, d.pods, d.objects)
			if err != nil {
				return nil, err
			}
			d.say("submitting pods of %d cores and %d GiB: %d fill the cluster", podCores, podGiB, allPods)
			return play(twoQueues{demo: d, observer: observer, workload: newWorkload(d.pods)}, d.options), nil
		},
	}
}

func (q *twoQueues) leave() { q.demo.keepLastView(q.view) }

// sharesPlayer carries out what the story decides.
type sharesPlayer struct {
	twoQueues
	story   story
	cleared time.Time
}

func (p *sharesPlayer) step(ctx context.Context) (done bool, err error) {
	now := time.Now()
	world, err := p.observer.world(now)
	if err := p.demo.handleError(err); err != nil {
		return false, err
	}
	decision := p.story.step(now, world)
	for _, line := range decision.say {
		p.demo.say("%s", line)
	}
	p.view = view{title: p.story.headline(), elapsed: now.Sub(p.demo.began), body: queueRows(world.queues), hints: p.hints()}
	p.demo.screen.show(now, p.view)
	if decision.done || decision.err != nil {
		return decision.done, decision.err
	}
	for _, submission := range decision.submit {
		names, err := p.workload.submit(ctx, submission)
		p.observer.created(now, submission.queue, names)
		if err := p.demo.handleError(err); err != nil {
			return false, err
		}
	}
	if now.Sub(p.cleared) >= clearEvery {
		p.cleared = now
		return false, p.demo.handleError(p.workload.clear(ctx))
	}
	return false, nil
}

// hints suggest what to try, from the burst on: before it, nothing may disturb the story.
func (p *sharesPlayer) hints() []string {
	if p.demo.options.Once || p.story.stage < contested {
		return nil
	}
	return sharesHints(p.demo.cluster.Kubeconfig(), tool(p.demo.root, "bin", "tools", "kubectl"), tool(p.demo.root, "bin", "kubectl-fairway"))
}

func sharesHints(kubeconfig, kubectl, fairway string) []string {
	return hints(kubeconfig, fairway+inBrowser, kubectl+" get queues", kubectl+" edit queue "+busy+"   # with weight: 3 the shares move")
}
