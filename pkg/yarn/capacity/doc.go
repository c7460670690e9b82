// Package capacity translates capacity-scheduler.xml, and what yarn-site.xml says about the Capacity Scheduler.
//
// Input is a configuration; output is a plan. What YARN refuses to load is an error of the plan with file and line. Every property gets a
// note. The package reads and writes no file.
package capacity
