// Package report turns values into text: into rows and JSON, and rows into lines that fit a width. The demo,
// the command line and the golden files print through it, so that the same thing looks the same everywhere.
//
// Input is values (amounts, counts, states of pkg/ledger, answers of pkg/picture), a width, and a style.
// Output is lines without line ends, and JSON.
//
// The package must not know where values come from or where lines go: no Kubernetes objects, no clock, no
// terminal, no writer, no calls of the ledger. It decides nothing. Only here are numbers rounded for display;
// JSON is exact.
package report
