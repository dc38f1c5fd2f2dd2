// Package freeport finds TCP ports for servers that tests start as processes.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports below those that systems give to outgoing connections (from 32768 on Linux, from 49152
// elsewhere): a port that the system chose may be taken by a connection before the server has it.
const first, last = 20_000, 32_000

// Find returns a port of 127.0.0.1 that nobody listens on now. It fails if it finds none in 100
// attempts.
func Find() (int, error) {
	var err error
	for range 100 {
		port := first + rand.IntN(last-first)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.Join(errors.New("no free port"), err)
}
