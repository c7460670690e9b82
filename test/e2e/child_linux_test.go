package e2e

import "syscall"

// childAttributes ties a child to us: the kernel kills it when the thread that started it ends, so even kill -9 of the test leaves no
// orphan, not a stopped one either. Its own process group keeps Ctrl-C at the terminal from it: we end what we started.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
