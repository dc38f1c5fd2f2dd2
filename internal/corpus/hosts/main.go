// Command hosts plays package registries, git hosts and a Docker engine that fail, for the
// recordings of failures of the environment:
//
//	hosts DIR
//
// It listens on ports 53 (DNS), 80, 443 and 2375 of 127.0.0.1, so it needs a network namespace of
// its own, and writes DIR/ca.pem, which signs its certificates, and then DIR/ready. How a host
// fails is the first label of its name:
//
//	401.… to 504.…   answers every request with that status
//	hang.…           never answers
//	reset.…          resets the connection
//	cut.…            ends in the middle of the body
//	retry.…          503 twice, then the package
//	other.…          serves a package that is not what was locked
//	self-signed.…, expired.…, future.…, wrong-host.…   a certificate of that kind
//	plain.…          HTTP where TLS is expected
//
// Any other serves the package.
package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hosts DIR")
		os.Exit(2)
	}
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hosts:", err)
		os.Exit(1)
	}
}

func serve(dir string) error {
	certs, err := newAuthority()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), certs.pem(), 0o644); err != nil {
		return err
	}
	plain, err := net.Listen("tcp", "127.0.0.1:80")
	if err != nil {
		return err
	}
	secure, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		return err
	}
	engine, err := net.Listen("tcp", "127.0.0.1:2375")
	if err != nil {
		return err
	}
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644); err != nil {
		return err
	}
	h := &host{}
	done := make(chan error, 4)
	go func() { done <- http.Serve(plain, h) }()
	go func() {
		done <- http.Serve(tls.NewListener(secure, &tls.Config{GetCertificate: certs.certificate}), h)
	}()
	go func() { done <- http.Serve(engine, http.HandlerFunc(engineAPI)) }()
	go func() { done <- resolve(names) }()
	return <-done
}

// resolve answers every query for a name: a name in the zone again.example cannot be looked up now,
// all others do not exist.
func resolve(c net.PacketConn) error {
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return err
		}
		if n < 12 {
			continue
		}
		answer := append([]byte(nil), buf[:n]...)
		code := byte(3) // NXDOMAIN
		if strings.Contains(string(answer), "again") {
			code = 2 // SERVFAIL
		}
		end := 12
		for end < n && answer[end] != 0 {
			end += int(answer[end]) + 1
		}
		answer = answer[:min(n, end+5)]
		answer[2], answer[3] = 0x81, 0x80|code
		copy(answer[6:12], make([]byte, 6)) // no records follow
		if _, err := c.WriteTo(answer, from); err != nil {
			return err
		}
	}
}

type host struct{ requests atomic.Int32 }

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mode, _, _ := strings.Cut(r.Host, ".")
	switch mode {
	case "hang":
		select {
		case <-r.Context().Done():
		case <-time.After(2 * time.Minute):
		}
		return
	case "reset":
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if t, ok := c.(*net.TCPConn); ok {
				_ = t.SetLinger(0)
			}
			c.Close()
		}
		return
	case "cut":
		w.Header().Set("Content-Length", "100000")
		w.Header().Set("Content-Type", "application/octet-stream")
		fmt.Fprint(w, strings.Repeat("half ", 1000))
		return
	case "retry":
		if h.requests.Add(1)%3 != 0 {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
	}
	var code int
	if _, err := fmt.Sscanf(mode, "%3d", &code); err == nil {
		switch code {
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		case http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, http.StatusText(code), code)
		return
	}
	servePackage(w, r, mode)
}

// engineAPI is as much of a Docker engine as pulling an image takes; the image
// says how that fails.
func engineAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", "1.50")
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/_ping") {
		fmt.Fprint(w, "OK")
		return
	}
	image := r.URL.Query().Get("fromImage")
	says := map[string]string{
		"limited": "toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit",
		"full":    "failed to register layer: write /usr/lib/libLLVM.so: no space left on device",
		"denied":  "pull access denied for project/denied, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
		"unknown": "manifest for project/unknown:latest not found: manifest unknown: manifest unknown",
		"timeout": `Get "https://registry.example/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)`,
	}
	for name, text := range says {
		if strings.HasSuffix(image, name) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"message":%q}`, text)
			return
		}
	}
	http.Error(w, `{"message":"page not found"}`, http.StatusNotFound)
}
