package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for s, local := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:80": true, "[::1]:80": true, "unix:/run/x.sock": true, "unix:x": true,
		":8080": false, "0.0.0.0:80": false, "10.0.0.7:80": false, "[::]:80": false, "example.com:80": false, "localhost.example.com:80": false,
	} {
		if a, err := Parse(s); err != nil || a.Local() != local || a.String() != s {
			t.Errorf("%s: %v %v, local %v", s, a, err, a.Local())
		}
	}
	for _, s := range []string{"", "8080", "unix:", "/run/x.sock", "localhost", "a:b:c"} {
		if a, err := Parse(s); err == nil || !strings.Contains(err.Error(), "write it as") {
			t.Errorf("%q: %v %v", s, a, err)
		}
	}
}

func ask(t *testing.T, a Address) (string, error) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DialContext: a.Dial, DisableKeepAlives: true}}
	res, err := c.Get("http://localhost/")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

// TestS6_14_UnixSocket is S6-14: a socket belongs to its owner alone, from the moment it exists.
func TestS6_14_UnixSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "sb") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "x.sock")
	a, err := Parse("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != fs.ModeSocket {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if OverUnix(r) {
			_, _ = io.WriteString(w, Proxies(nil).Client(r).String())
		}
	})}
	go func() { _ = web.Serve(l) }()
	if text, err := ask(t, a); err != nil || text != "invalid IP" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := a.Listen(); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("a second listener: %v", err)
	}
	if err := web.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket was left behind: %v", err)
	}
	// A killed process leaves its socket behind; any other file stays.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	if l, err = a.Listen(); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Listen(); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("over a file: %v", err)
	}
	if _, err := a.Dial(context.Background(), "", ""); err == nil {
		t.Error("connected to a file")
	}
}

// TestS6_12_ClientAddress is S6-12: the address that limits count is that of the connection, unless
// a proxy connects that the settings name.
func TestS6_12_ClientAddress(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies("10.0.0.0/8, 127.0.0.1,::1")
	if err != nil || proxies.String() != "10.0.0.0/8,127.0.0.1/32,::1/128" {
		t.Fatalf("%v %v", proxies, err)
	}
	for _, c := range []struct {
		from      string
		forwarded []string
		proxies   Proxies
		want      string
	}{
		{"192.0.2.7:5", nil, proxies, "192.0.2.7"},
		{"192.0.2.7:5", []string{"198.51.100.1"}, proxies, "192.0.2.7"},
		{"10.1.2.3:5", []string{"198.51.100.1"}, proxies, "198.51.100.1"},
		{"10.1.2.3:5", []string{"198.51.100.1"}, nil, "10.1.2.3"},
		{"10.1.2.3:5", []string{"203.0.113.9, 198.51.100.1"}, proxies, "198.51.100.1"}, // the sender wrote the first
		{"10.1.2.3:5", []string{"203.0.113.9", "198.51.100.1, 10.9.9.9"}, proxies, "198.51.100.1"},
		{"10.1.2.3:5", []string{"203.0.113.9, nonsense"}, proxies, "10.1.2.3"},
		{"10.1.2.3:5", []string{"203.0.113.9,"}, proxies, "10.1.2.3"},
		{"10.1.2.3:5", nil, proxies, "10.1.2.3"},
		{"[::1]:5", []string{"2001:db8::7"}, proxies, "2001:db8::7"},
		{"[::ffff:127.0.0.1]:5", []string{"::ffff:198.51.100.1"}, proxies, "198.51.100.1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.from
		r.Header["X-Forwarded-For"] = c.forwarded
		if got := c.proxies.Client(r).String(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for _, s := range []string{"10.0.0.0/33", "proxy", "10.0.0.1:80"} {
		if _, err := ParseProxies(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
	a, _ := ParseProxies("2001:db8:1:2:3::4")
	b, _ := ParseProxies("2001:db8:1:2:9::9")
	if Group(a[0].Addr()) != Group(b[0].Addr()) || Group(proxies[1].Addr()) != proxies[1].Addr() {
		t.Error("one network counts as many, or an address as a network")
	}
}

// TestS6_20_Encrypted is S6-20: a request is encrypted if TLS ends here or at a trusted proxy.
func TestS6_20_Encrypted(t *testing.T) {
	t.Parallel()
	proxies, _ := ParseProxies("127.0.0.1")
	for _, c := range []struct {
		from, proto string
		tls, want   bool
	}{
		{"127.0.0.1:5", "https", false, true},
		{"127.0.0.1:5", "http", false, false},
		{"127.0.0.1:5", "", false, false},
		{"192.0.2.7:5", "https", false, false},
		{"192.0.2.7:5", "", true, true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.from
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := proxies.Encrypted(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
