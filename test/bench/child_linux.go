package main

import "syscall"

// childAttributes ties a child to us: the kernel kills it when we end, even by kill -9. It gets its own process group, because Ctrl-C at
// the terminal is for us alone: we end what we started, in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
