package localcluster

import "syscall"

const terminateSignal = syscall.SIGTERM

// childAttributes ties a child to us: the kernel kills it when the thread that started it ends, so even kill
// -9 of us leaves no orphan. The child gets its own process group, so that Ctrl-C at the terminal reaches only
// us: we end the children, in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
