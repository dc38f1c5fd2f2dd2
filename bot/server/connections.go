package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/endpoint"
)

// maxConnections bounds the connections of one address that is listened on.
const maxConnections = 4096

// connections bounds the open connections of a server. Whoever opens many and sends nothing needs no
// signature, so a new connection is always accepted, and closes one that no request has come from:
// the oldest of the address with most of them.
type connections struct {
	max int

	mu   sync.Mutex
	open map[net.Conn]*connection
	of   map[netip.Addr]int // open, by address
}

// connection is one that is open.
type connection struct {
	from  netip.Addr
	began time.Time // or when its last request ended
	busy  bool      // a request is handled
}

type connectionKey struct{}

// bound makes an HTTP server close connections beyond max.
func bound(s *http.Server, most int) {
	c := &connections{max: most, open: map[net.Conn]*connection{}, of: map[netip.Addr]int{}}
	inner := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, _ := r.Context().Value(connectionKey{}).(*connection)
		c.handling(x, true)
		defer c.handling(x, false)
		inner.ServeHTTP(w, r)
	})
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, c.add(conn))
	}
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			c.remove(conn)
		}
	}
}

func (c *connections) handling(x *connection, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.busy, x.began = busy, time.Now()
}

// add registers a connection, and closes another if there are too many.
func (c *connections) add(conn net.Conn) *connection {
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // a Unix socket has none
	x := &connection{from: endpoint.Group(at.Addr().Unmap().WithZone("")), began: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = x
	c.of[x.from]++
	if len(c.open) <= c.max {
		return x
	}
	victim, v := conn, x // if all others are busy
	for k, y := range c.open {
		if y.busy || y == x {
			continue
		}
		if v == x || c.of[y.from] > c.of[v.from] || c.of[y.from] == c.of[v.from] && y.began.Before(v.began) {
			victim, v = k, y
		}
	}
	c.drop(victim)
	_ = victim.Close()
	return x
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(conn)
}

// drop forgets a connection. The caller holds mu.
func (c *connections) drop(conn net.Conn) {
	x := c.open[conn]
	if x == nil {
		return
	}
	delete(c.open, conn)
	if c.of[x.from]--; c.of[x.from] == 0 {
		delete(c.of, x.from)
	}
}
