// Training runs the controllers of Kubeflow's Training operator v1 as its own manager does, without that manager's webhooks: they only
// refuse invalid jobs, and the manager does not start without the certificates that an installation mounts.
package main

import (
	"flag"
	"fmt"
	"os"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	defaults "github.com/kubeflow/training-operator/pkg/config"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	podgroups "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
)

func main() {
	gangs := flag.String("gang-scheduler-name", "", "make PodGroups of scheduler-plugins and give their pods this scheduler")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(*gangs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(gangScheduler string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, kubeflow.AddToScheme, podgroups.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	access, err := config.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(access, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	defaults.Config.PyTorchInitContainerImage = defaults.PyTorchInitContainerImageDefault
	defaults.Config.PyTorchInitContainerTemplateFile = defaults.PyTorchInitContainerTemplateFileDefault
	defaults.Config.PyTorchInitContainerMaxTries = defaults.PyTorchInitContainerMaxTriesDefault
	defaults.Config.MPIKubectlDeliveryImage = defaults.MPIKubectlDeliveryImageDefault
	gangs := common.GenNonGangSchedulerSetupFunc()
	if gangScheduler != "" {
		gangs = common.GenSchedulerPluginsSetupFunc(manager.GetClient(), gangScheduler)
	}
	for kind, setup := range controllers.SupportedSchemeReconciler {
		if err := setup(manager, gangs, 1); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
