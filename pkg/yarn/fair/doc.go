// Package fair translates fair-scheduler.xml, and what yarn-site.xml says about the Fair Scheduler.
//
// Input is the files as trees of elements and properties; output is a plan. What YARN refuses to load is an error of the plan with file and
// line. Every element gets a note. The package writes nothing.
package fair
