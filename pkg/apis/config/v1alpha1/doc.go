// Package v1alpha1 holds the arguments of plugin Fairway: what an administrator writes under pluginConfig of a KubeSchedulerConfiguration.
//
// In: YAML or JSON, decoded by pkg/app. Out: arguments with every default filled in, and errors that
// name the field and what is allowed. It reads no file, holds no rule of the scheduler, and no field that nothing reads.
package v1alpha1
