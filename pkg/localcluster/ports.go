package localcluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// lowestPort is the lower bound of the search: well-known services use lower ports.
const lowestPort = 20000

// freePorts finds n ports of 127.0.0.1 on which nothing listens.
//
// They are below the range that the kernel uses for outgoing connections. While a server is down for a
// restart, any client could get its port if the port were in that range, and a client that dials its own
// closed port there can even connect to itself. Another process may still take a port before the server does:
// Start notices and tries other ports.
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

// firstEphemeralPort reads where the kernel's range for outgoing connections begins; except on Linux it is
// 49152.
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
