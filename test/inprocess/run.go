// Package inprocess runs the scheduler in the process of a test, which then sees its ledger.
//
// It must not decide what the test demands of the scheduler.
package inprocess

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/fairway-scheduler/fairway/pkg/app"
)

// Run starts the informers and the scheduler and blocks until ctx ends: what the command does, without servers and leader election.
func Run(ctx context.Context, s *app.Scheduler) {
	s.Config.EventBroadcaster.StartRecordingToSink(ctx.Done())
	defer s.Config.EventBroadcaster.Shutdown()
	s.Config.InformerFactory.Start(ctx.Done())
	s.Config.DynInformerFactory.Start(ctx.Done())
	s.Config.InformerFactory.WaitForCacheSync(ctx.Done())
	s.Config.DynInformerFactory.WaitForCacheSync(ctx.Done())
	if s.Scheduler.WaitForHandlersSync(ctx) == nil {
		s.Scheduler.Run(ctx)
	}
}

// Start runs the scheduler with a configuration as it is installed (the text of a KubeSchedulerConfiguration), and the rights of a kubeconfig, until
// the test ends. It elects no leader and serves nothing.
func Start(t *testing.T, config, kubeconfig string, o app.Options) {
	t.Helper()
	for from, to := range map[string]string{
		"leaderElect: true": "leaderElect: false", "clientConnection:": "clientConnection:\n  kubeconfig: " + kubeconfig,
	} {
		if !strings.Contains(config, from) {
			t.Fatalf("the configuration does not say %q", from)
		}
		config = strings.Replace(config, from, to, 1)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := options.NewOptions()
	for _, fs := range opts.Flags.FlagSets {
		for name, value := range map[string]string{"config": path, "secure-port": "0"} {
			if fs.Lookup(name) == nil {
				continue
			}
			if err := fs.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	scheduler, err := app.Setup(ctx, opts, o)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run(ctx, scheduler)
	}()
	t.Cleanup(func() { cancel(); <-done })
}
