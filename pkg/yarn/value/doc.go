// Package value reads the values that properties of YARN have: numbers as Java reads them, times, lists of users and groups, and amounts of
// resources. It writes them as the fields of a Queue have them.
//
// Input and output are plain values; an error says what is wrong, and the caller knows where.
package value
