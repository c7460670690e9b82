// Package view lays documents of pkg/report out as pages of the console: which rows of a tree are shown, which part of a table, and where each
// name leads.
//
// Input is documents and what the reader chose: a filter, folds, a resource, the first row. Output is values for templates.
//
// The package says nothing of its own: every text comes from pkg/report. It knows no HTTP, no clock and no Kubernetes.
package view
