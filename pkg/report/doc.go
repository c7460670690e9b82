// Package report turns what is known about queues into text: values become rows, rows become lines that fit a width. The demo, the command
// line and golden files print through it, so that the same thing looks the same everywhere.
//
// In: plain values (amounts of pkg/core/resource, counts, names), a width, a style. Out: lines without line ends.
//
// It must not know where values come from nor where lines go: no Kubernetes objects, no clock, no terminal, no writer. It decides nothing;
// numbers are rounded here and only here, for the eye.
package report
