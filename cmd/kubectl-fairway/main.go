// kubectl-fairway shows the queues of Fairway and answers why a pod waits. It works as `kubectl fairway` and by itself.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// version is set by the linker.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends us at once
	}()
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Environment{
		In: os.Stdin, Out: tty.Of(os.Stdout, os.Getenv), Err: os.Stderr, Now: time.Now, Version: version,
	}))
}
