package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const loopback = "127.0.0.1"

// child is a contestant that runs.
type child struct {
	*localcluster.Child
	url string // where it serves /readyz and /metrics
}

// get asks the child for a path and returns the answer.
func (c *child) get(ctx context.Context, client *http.Client, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s: %s: %s", c.url, path, response.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// awaitReady waits until the child says that it has seen everything there is.
func (c *child) awaitReady(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := c.get(ctx, client, "/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return c.Explain(fmt.Errorf("%s is not ready after %s: %w", c.Name, readyLimit, err))
		case <-c.Exited():
			return c.Explain(fmt.Errorf("%s ended before it was ready", c.Name))
		case <-tick.C:
		}
	}
}

// childClient is a client for the children's endpoints. Schedulers create their certificates when they start, so they
// cannot be verified; the children verify our client certificate, and both ends are on loopback.
func childClient(admin *rest.Config) (*http.Client, error) {
	config := rest.CopyConfig(admin)
	config.Insecure, config.CAData, config.CAFile = true, nil, ""
	return rest.HTTPClientFor(config)
}

// freePort finds a port on which nothing listens. It is below the range that the kernel gives to outgoing connections:
// hundreds of those come and go before the child listens.
func freePort() (int, error) {
	const lowest, highest = 12000, 20000
	for range 100 {
		port := lowest + rand.IntN(highest-lowest)
		if l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port from %d to %d on %s", lowest, highest, loopback)
}
