//go:build !windows

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// releaseHost stands for github.com: a server with TLS behind a proxy, which install.sh reaches
// through HTTPS_PROXY. So the script needs no setting for its tests, and a workflow none to misuse.
type releaseHost struct {
	handler http.HandlerFunc          // of the test that runs
	plain   func(http.ResponseWriter) // the same without TLS
	proxy   string                    // its URL
	ca      string                    // a file with the certificate to trust
	asked   []string                  // the paths that were requested
}

func newReleaseHost(t *testing.T, newest uint16) *releaseHost {
	t.Helper()
	h := &releaseHost{ca: filepath.Join(t.TempDir(), "ca.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"github.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	tlsServer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked = append(h.asked, r.URL.Path)
		h.handler(w, r)
	}))
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0)
	tlsServer.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS10, MaxVersion: newest}
	tlsServer.StartTLS()
	t.Cleanup(tlsServer.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Host == "github.com" { // plain HTTP, which somebody on the way answers
			h.asked = append(h.asked, r.URL.String())
			h.plain(w)
			return
		}
		if r.Method != http.MethodConnect || r.Host != "github.com:443" {
			t.Errorf("%s %s", r.Method, r.Host)
			return
		}
		up, err := net.Dial("tcp", tlsServer.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		down, rest, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() { defer up.Close(); _, _ = io.Copy(up, rest) }()
		go func() { defer down.Close(); _, _ = io.Copy(down, up) }()
	}))
	t.Cleanup(proxy.Close)
	h.proxy = proxy.URL
	return h
}

// platform is that of the machine as the names of a release say it.
const platform = runtime.GOOS + "_" + runtime.GOARCH

// installation is one run of install.sh.
type installation struct {
	temp  string                                             // RUNNER_TEMP
	ref   string                                             // the ref that the action is used at
	sums  func(name string, digest [sha256.Size]byte) string // checksums.txt; nil: there is none
	serve func(w http.ResponseWriter, archive []byte)        // nil: the archive
	tls   uint16                                             // newest version that the server has; 0: the usual
	uname map[string]string                                  // by flag; nil: that of the machine
}

func goodSums(name string, digest [sha256.Size]byte) string {
	return fmt.Sprintf("# a comment\nversion v1.2.3\n%x  %s\n%064d  switchback_1.2.3_plan9_amd64.tar.gz\n", digest, name, 0)
}

// TestInstall runs scripts/install.sh against a server with TLS, for each form of reference.
func TestInstall(t *testing.T) {
	const sha = "8f4b7f84864484a7bf31766abe9204da3cbe65b3"
	for _, c := range []struct {
		name string
		installation
		want string // in the output; "" if it installs
	}{
		{"S6-6 a version", installation{ref: "v1.2.3"}, ""},
		{"S6-6 a major version", installation{ref: "v1"}, ""},
		{"S6-6 a full commit SHA", installation{ref: sha}, ""},
		{"S6-6 lines that end as on Windows", installation{ref: "v1", sums: func(n string, d [sha256.Size]byte) string {
			return strings.ReplaceAll(goodSums(n, d), "\n", "\r\n")
		}}, ""},
		{"a folder with spaces", installation{ref: "v1.2.3", temp: "my temp"}, ""},
		// It begins with a drive that tar takes for a host, and holds backslashes that sha256sum escapes.
		{"a folder of Windows", installation{ref: "v1.2.3", temp: `D:\a\_temp`}, ""},
		{"S6-6 another file than the release's", installation{ref: "v1", serve: func(w http.ResponseWriter, b []byte) {
			_, _ = w.Write(append(bytes.Clone(b), 'x'))
		}}, "is not the file that v1.2.3 was released with, so nothing was run"},
		{"S6-6 a truncated file", installation{ref: "v1", serve: func(w http.ResponseWriter, b []byte) {
			_, _ = w.Write(b[:len(b)/2])
		}}, "is not the file that v1.2.3 was released with"},
		{"S6-6 a connection that ends early", installation{ref: "v1", serve: func(w http.ResponseWriter, b []byte) {
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			_, _ = w.Write(b[:len(b)/2])
		}}, "could not be downloaded"},
		{"S6-6 a redirect to plain HTTP", installation{ref: "v1", serve: func(w http.ResponseWriter, b []byte) {
			w.Header().Set("Location", "http://github.com/other")
			w.WriteHeader(http.StatusFound)
		}}, "could not be downloaded"},
		{"S6-6 an old version of TLS", installation{ref: "v1", tls: tls.VersionTLS11}, "could not be downloaded"},
		{"S6-6 no such file", installation{ref: "v1", serve: func(w http.ResponseWriter, b []byte) {
			w.WriteHeader(http.StatusNotFound)
		}}, "could not be downloaded"},
		{"S6-6 a branch", installation{ref: "main", sums: noSums}, "this commit of the action (main) is no release"},
		{"S6-6 a commit that is no release", installation{ref: sha, sums: noSums}, "(" + sha + ") is no release"},
		{"S6-6 no digest of the platform", installation{ref: "v1", sums: func(string, [sha256.Size]byte) string {
			return fmt.Sprintf("version v1.2.3\n%064d  switchback_1.2.3_plan9_amd64.tar.gz\n", 0)
		}}, "holds no digest of switchback_1.2.3_" + platform},
		{"S6-6 a digest that is none", installation{ref: "v1", sums: func(name string, _ [sha256.Size]byte) string {
			return "version v1.2.3\n  " + name + "\nsha256 " + name + "\n"
		}}, "holds no digest of switchback_1.2.3_" + platform},
		{"S6-6 a version that leads elsewhere", installation{ref: "v1", sums: func(name string, d [sha256.Size]byte) string {
			return fmt.Sprintf("version v1.2.3/../../../../evil/repo\n%x  %s\n", d, name)
		}}, "names no version"},
		{"S6-6 an unknown system", installation{ref: "v1", uname: map[string]string{"-s": "Plan9", "-m": "x86_64"}}, "there is no release for Plan9; use a runner with"},
		{"S6-6 an unknown processor", installation{ref: "v1", uname: map[string]string{"-s": "Linux", "-m": "riscv64"}}, "there is no release for riscv64; use a runner with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newReleaseHost(t, c.tls)
			text, path, err := c.run(t, h)
			if c.want != "" {
				if err == nil || !strings.Contains(text, "::error title=Switchback::") || !strings.Contains(text, c.want) {
					t.Errorf("%v: %s", err, text)
				}
				if path != "" {
					t.Errorf("the path %s was put out", path)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "the program" {
				t.Errorf("%s: %q, %v", path, got, err)
			}
			if want := "[/switchback-ci/switchback/releases/download/v1.2.3/switchback_1.2.3_" + platform + ".tar.gz]"; fmt.Sprint(h.asked) != want {
				t.Errorf("it asked for %v, want %s", h.asked, want)
			}
		})
	}
}

// noSums stands for an action without checksums.txt.
func noSums(string, [sha256.Size]byte) string { return "" }

// run runs install.sh as action.yml does. path is where the binary is, "" if none was put out.
func (in installation) run(t *testing.T, h *releaseHost) (text, path string, err error) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, content string, mode os.FileMode) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("built/switchback", "the program", 0o755)
	name := "switchback_1.2.3_" + platform + ".tar.gz"
	if out, err := exec.Command("tar", "-C", filepath.Join(dir, "built"), "-czf", filepath.Join(dir, name), "./switchback").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	archive, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	h.plain = func(w http.ResponseWriter) { _, _ = w.Write(archive) }
	h.handler = func(w http.ResponseWriter, _ *http.Request) {
		if in.serve != nil {
			in.serve(w, archive)
			return
		}
		_, _ = w.Write(archive)
	}
	script, err := os.ReadFile(filepath.Join("..", "..", "scripts", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	put("action/scripts/install.sh", string(script), 0o755)
	if in.sums == nil {
		in.sums = goodSums
	}
	if s := in.sums(name, sha256.Sum256(archive)); s != "" {
		put("action/scripts/checksums.txt", s, 0o644)
	}
	if in.uname != nil {
		put("bin/uname", fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", in.uname["-s"], in.uname["-m"]), 0o755)
	}
	if in.temp == "" {
		in.temp = "temp"
	}
	out := filepath.Join(dir, "output")
	cmd := exec.Command("bash", filepath.Join(dir, "action", "scripts", "install.sh"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HTTPS_PROXY="+h.proxy, "http_proxy="+h.proxy, "NO_PROXY=", "no_proxy=",
		"CURL_CA_BUNDLE="+h.ca, "RUNNER_TEMP="+in.temp, "ACTION_REF="+in.ref, "GITHUB_OUTPUT="+out)
	b, err := cmd.CombinedOutput()
	if put, e := os.ReadFile(out); e == nil {
		path = filepath.Join(dir, strings.TrimSpace(strings.TrimPrefix(string(put), "path=")))
	}
	return string(b), path, err
}
