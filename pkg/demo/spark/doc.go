// Package spark simulates Spark and its operator on a control plane whose nodes are simulated: each
// application has a driver from its submission on. Some time after the driver runs, it creates its executors.
// When all of them have run and ended, the driver ends.
//
// Input is a client, applications to submit, and what the API shows of pods. Output is pods with the labels
// that Spark and its operator set, and what became of the applications, counted over every version of every
// pod.
//
// The package must not know how pods are scheduled, and must wait for nothing but what the API shows and the
// time a driver takes to start. Its drivers never give up: a driver whose executors get no node keeps its own
// node forever, as Spark's do for long.
package spark
