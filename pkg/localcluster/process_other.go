//go:build unix && !linux

package localcluster

import "syscall"

const terminateSignal = syscall.SIGTERM

// childAttributes gives a child its own process group. Only Linux can tie the child's life to ours: elsewhere
// kill -9 of the caller leaves the children running, and their pids are in the cluster's directory.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
