//go:build unix && !linux

package main

import "syscall"

// childAttributes gives a child its own process group. Elsewhere than on Linux the benchmark compiles, and refuses to start.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
