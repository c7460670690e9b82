// Command fairway-scheduler is kube-scheduler with Fairway in it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as kube-scheduler has them
	_ "k8s.io/component-base/metrics/prometheus/version"

	"github.com/fairway-scheduler/fairway/pkg/app"
)

func main() { os.Exit(cli.Run(app.NewCommand())) }
