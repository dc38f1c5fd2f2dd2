package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses of the reverse proxies in front of a server, whose X-Forwarded headers
// it believes. Without any it believes none.
type Proxies []netip.Prefix

// ParseProxies returns the proxies of a list of addresses and networks that commas separate.
func ParseProxies(s string) (Proxies, error) {
	var out Proxies
	for text := range strings.SplitSeq(s, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, aerr := netip.ParseAddr(text)
			if aerr != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network; write them as 127.0.0.1 or 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// String returns the list as it is written.
func (p Proxies) String() string {
	all := make([]string, len(p))
	for i, x := range p {
		all[i] = x.String()
	}
	return strings.Join(all, ",")
}

// Client returns the address of the sender of a request: that of the connection, or, if a proxy
// connects, the last one in X-Forwarded-For that is no proxy. It is the zero Addr on a Unix socket
// without a proxy's header.
func (p Proxies) Client(r *http.Request) netip.Addr {
	at := peer(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trusted(r, at); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // what stands left of it may come from the sender
		}
		at = next.Unmap().WithZone("")
	}
	return at
}

// Encrypted reports whether a request came over TLS, to this server or to a proxy.
func (p Proxies) Encrypted(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	said := r.Header.Values("X-Forwarded-Proto")
	return len(said) > 0 && p.trusted(r, peer(r.RemoteAddr)) && strings.EqualFold(said[len(said)-1], "https")
}

// trusted reports whether an address is that of a proxy. Whoever connects to a Unix socket has the
// rights of this process.
func (p Proxies) trusted(r *http.Request, at netip.Addr) bool {
	if !at.IsValid() {
		return OverUnix(r)
	}
	for _, x := range p {
		if x.Contains(at) {
			return true
		}
	}
	return false
}

// OverUnix reports whether a request came over a Unix socket.
func OverUnix(r *http.Request) bool {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return a != nil && a.Network() == "unix"
}

// peer returns the address of a connection, the zero Addr if it has none.
func peer(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// Group returns what limits count as one sender: an IPv4 address, or the /64 of an IPv6 address,
// which is what one customer is given at least.
func Group(a netip.Addr) netip.Addr {
	if a.Is6() && !a.Is4In6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
