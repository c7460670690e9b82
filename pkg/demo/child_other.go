//go:build unix && !linux

package demo

import "syscall"

const terminateSignal = syscall.SIGTERM

// childAttributes gives a child its own process group. Only Linux can tie its life to ours: elsewhere kill -9 of the demo leaves the
// scheduler running.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
