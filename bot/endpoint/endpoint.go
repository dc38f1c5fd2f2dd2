// Package endpoint is about the addresses at which this program serves: what they are written as,
// how they are listened on, and who sends a request to them.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// unixPrefix marks the path of a Unix socket.
const unixPrefix = "unix:"

// Address is an address to listen on: "host:port", ":port" for all interfaces, or "unix:/path" for
// a Unix socket that its owner alone can connect to.
type Address struct {
	host, port string
	path       string // of a Unix socket, else ""
}

// Parse returns the address that a text names. The error says how to write one.
func Parse(s string) (Address, error) {
	if path, ok := strings.CutPrefix(s, unixPrefix); ok {
		if path == "" {
			return Address{}, fmt.Errorf("%q names no file; write it as unix:/run/switchback.sock", s)
		}
		return Address{path: path}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return Address{}, fmt.Errorf("%q is no address to listen on; write it as 127.0.0.1:8080 or unix:/run/switchback.sock", s)
	}
	return Address{host: host, port: port}, nil
}

// String returns the address as it is written.
func (a Address) String() string {
	if a.path != "" {
		return unixPrefix + a.path
	}
	return net.JoinHostPort(a.host, a.port)
}

// Unix reports whether the address is a Unix socket.
func (a Address) Unix() bool { return a.path != "" }

// Host returns the host, "" for all interfaces and for a Unix socket.
func (a Address) Host() string { return a.host }

// Port returns the port, "" for a Unix socket.
func (a Address) Port() string { return a.port }

// Local reports whether only this machine reaches the address: a loopback address or a Unix socket.
func (a Address) Local() bool {
	return a.Unix() || a.host == "localhost" || net.ParseIP(a.host).IsLoopback()
}

// Listen listens on the address. The file of a Unix socket has mode 0600, and is removed when the
// listener is closed.
func (a Address) Listen() (net.Listener, error) {
	if !a.Unix() {
		return net.Listen("tcp", a.String())
	}
	return listenUnix(a.path)
}

// Dial connects to the address, as http.Transport.DialContext.
func (a Address) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if a.Unix() {
		return new(net.Dialer).DialContext(ctx, "unix", a.path)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", a.String())
}

// listenUnix creates the socket in a directory that only its owner can enter and moves it to its
// place once it has its mode, so that nobody else can connect in between.
func listenUnix(path string) (net.Listener, error) {
	if runtime.GOOS == "windows" {
		return nil, fmt.Errorf("%s: Unix sockets need another operating system; use a loopback address", path)
	}
	if err := replaceable(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("a Unix socket at %s, whose path may be too long: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	info, err := os.Lstat(path)
	return &unixListener{Listener: l, path: path, made: info}, err
}

// replaceable reports why the file at path cannot become a socket. A socket that nobody listens on
// was left behind by a process that was killed.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is no socket; name another file", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: another process listens on it", path), c.Close())
}

// unixListener removes its file when it is closed.
type unixListener struct {
	net.Listener
	path string
	made fs.FileInfo
}

// Addr implements net.Listener: the path is where people connect, not where the socket was made.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close implements net.Listener.
func (l *unixListener) Close() error {
	err := l.Listener.Close()
	if now, serr := os.Lstat(l.path); serr == nil && os.SameFile(now, l.made) { // not that of a process that came later
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}
