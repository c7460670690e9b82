// Package plan is what an import comes to: the objects to apply, and a report that says of each property of YARN what became of it.
//
// The packages that read a scheduler's files put fields and notes into a Plan. A field that the shipped CRDs do not have is left out, and
// the property is reported as not translated. Output is YAML and text. The package knows no scheduler of YARN and reads no file.
package plan
