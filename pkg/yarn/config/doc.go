// Package config reads the XML files of Hadoop: any file as a tree of elements, and configuration files as properties with final
// and variables as Hadoop knows them.
//
// Input is text, output are values that know their file and line. What Hadoop refuses to load is an error with file and line. The package
// knows no property and no scheduler.
package config
