// Package report turns what is known into text: values become rows and JSON, rows become lines that fit a width. The demo, the command
// line and golden files print through it, so that the same thing looks the same everywhere.
//
// In: values (amounts, counts, states of pkg/ledger, answers of pkg/picture), a width, a style. Out: lines without line ends, and JSON.
//
// It must not know where values come from nor where lines go: no Kubernetes objects, no clock, no terminal, no writer, and it asks the
// ledger nothing. It decides nothing; numbers are rounded here and only here, for the eye, and JSON is exact.
package report
