package localcluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// lowestPort bounds the search from below: well-known services live under it.
const lowestPort = 20000

// freePorts finds n ports of 127.0.0.1 that nobody listens on.
//
// They are taken from below the range the kernel hands to outgoing connections. A port inside that range could be given to any client
// while its server is down for a restart, and a client dialling its own closed port there can even connect to itself.
// Somebody may still take a port before its server does: Start notices and tries again with others.
func freePorts(n int) ([]int, error) {
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	span := firstEphemeralPort() - lowestPort
	ports := make([]int, 0, n)
	for tries := 0; len(ports) < n; tries++ {
		port := 0
		if span >= 1000 {
			port = lowestPort + rand.IntN(span)
		}
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			if tries > 1000 {
				return nil, fmt.Errorf("find %d free ports on %s: %w", n, loopback, err)
			}
			continue
		}
		held = append(held, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// firstEphemeralPort reads where the kernel's range for outgoing connections begins; elsewhere than on Linux it is 49152.
func firstEphemeralPort() int {
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 49152
	}
	var low, high int
	if _, err := fmt.Sscan(string(data), &low, &high); err != nil {
		return 32768
	}
	return low
}
