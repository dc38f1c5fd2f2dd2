package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotifyCommand(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- string(b)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "notify.yml")
	if err := os.WriteFile(file, []byte("endpoints:\n  - {name: ops, format: slack, url_env: URL, allow_private: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(address string, args ...string) (string, int) {
		var out bytes.Buffer
		code := execute(t.Context(), append([]string{"notify", file}, args...), streams{strings.NewReader(""), &out, &out}, func(string) string { return address })
		return out.String(), code
	}
	t.Run("S5-100 the file is checked", func(t *testing.T) {
		if out, code := run(server.URL); code != 0 || out != "1 endpoints: ops\n" {
			t.Errorf("%d %s", code, out)
		}
		if out, code := run(""); code != 1 || !strings.Contains(out, file+":2: url_env: URL is not set") {
			t.Errorf("%d %s", code, out)
		}
	})
	t.Run("S5-100 a test message is sent", func(t *testing.T) {
		if out, code := run(server.URL, "--send", "ops"); code != 0 || !strings.Contains(<-got, "acme/shop#12") {
			t.Errorf("%d %s", code, out)
		}
		if out, code := run(server.URL, "--send", "oops"); code != 2 || !strings.Contains(out, `did you mean "ops"?`) {
			t.Errorf("%d %s", code, out)
		}
	})
}
