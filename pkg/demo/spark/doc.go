// Package spark plays Spark and its operator on a control plane whose nodes are simulated: each application has a driver from its submission
// on; some time after the driver runs it makes its executors, and when all of them have run and ended, it ends.
//
// In: a client, applications to submit, and what the API shows of pods. Out: pods with the labels that Spark and its operator write, and
// what became of the applications, counted over every version of every pod.
//
// It must not know how pods are scheduled, nor wait for anything but what the API shows and the time a driver takes to come up. Its drivers
// never give up: one whose executors get no node keeps its own for ever, as Spark's do for long.
package spark
