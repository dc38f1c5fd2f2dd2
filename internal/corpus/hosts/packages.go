package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// servePackage serves a package "left" 1.0.0 as npm, pip and apt ask for it, and
// anything else as a short text.
func servePackage(w http.ResponseWriter, r *http.Request, mode string) {
	version := "1.0.0"
	base := "http://" + r.Host
	if r.TLS != nil {
		base = "https://" + r.Host
	}
	switch p := r.URL.Path; {
	case p == "/left":
		tgz := npmPackage(mode)
		fmt.Fprintf(w, `{"name":"left","dist-tags":{"latest":%q},"versions":{%q:{"name":"left","version":%q,"dist":{"tarball":"%s/left/-/left-1.0.0.tgz","shasum":"%x"}}}}`,
			version, version, version, base, sha1.Sum(tgz))
	case strings.HasSuffix(p, ".tgz"):
		w.Write(npmPackage(mode))
	case p == "/simple/left/":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="/left-1.0.0-py3-none-any.whl#sha256=%x">left-1.0.0-py3-none-any.whl</a>`, sha256.Sum256(wheel(mode)))
	case strings.HasSuffix(p, ".whl"):
		w.Write(wheel(mode))
	case strings.HasPrefix(p, "/debian/"):
		serveArchive(w, p, mode)
	case p == "/file":
		fmt.Fprintln(w, "served by "+mode)
	default:
		http.NotFound(w, r)
	}
}

func npmPackage(mode string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for name, text := range map[string]string{"package/package.json": `{"name":"left","version":"1.0.0","main":"index.js","description":"` + mode + `"}`} {
		_ = t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
		_, _ = t.Write([]byte(text))
	}
	_ = t.Close()
	_ = z.Close()
	return b.Bytes()
}

func wheel(mode string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct{ name, text string }{
		{"left.py", "# " + mode + "\n"},
		{"left-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: left\nVersion: 1.0.0\n"},
		{"left-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: hosts\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"left-1.0.0.dist-info/RECORD", "left.py,,\nleft-1.0.0.dist-info/METADATA,,\nleft-1.0.0.dist-info/WHEEL,,\nleft-1.0.0.dist-info/RECORD,,\n"},
	} {
		w, _ := z.Create(f.name)
		_, _ = w.Write([]byte(f.text))
	}
	_ = z.Close()
	return b.Bytes()
}

// serveArchive serves the release file of a Debian archive and an index that is
// not the one it lists, if mode is "other".
func serveArchive(w http.ResponseWriter, path, mode string) {
	now := time.Now().UTC()
	date, until := now.Add(-time.Hour), now.AddDate(0, 0, 7)
	index := []byte("Package: left\nVersion: 1.0.0\nArchitecture: amd64\nFilename: pool/left.deb\nSize: 10\nSHA256: " + strings.Repeat("0", 64) + "\n\n")
	switch {
	case strings.HasSuffix(path, "/Release"):
		listed := index
		if mode == "other" {
			listed = append([]byte("\n"), index...)
		}
		fmt.Fprintf(w, "Origin: Example\nSuite: stable\nCodename: stable\nDate: %s\nValid-Until: %s\nArchitectures: amd64 all\nComponents: main\nSHA256:\n %x %d main/binary-amd64/Packages\n",
			date.Format(time.RFC1123), until.Format(time.RFC1123), sha256.Sum256(listed), len(listed))
	case strings.HasSuffix(path, "/binary-amd64/Packages"):
		w.Write(index)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}
