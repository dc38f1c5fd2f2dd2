package github

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/advice"
)

// A download that is cut off is read again later; one that is whole ends as any reader.
func TestDownloadCutOff(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			w.Header().Set("Content-Length", "100")
		}
		_, _ = io.WriteString(w, "ok 1 - half of")
	}))
	defer s.Close()
	for path, want := range map[string]advice.Kind{"/cut": advice.Later, "/whole": ""} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		d := &download{res.Body, ctx, "read the log of job 7"}
		data, err := io.ReadAll(d)
		if advice.Of(err).Kind != want || string(data) != "ok 1 - half of" {
			t.Errorf("%s: %q, %v", path, data, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "read the log of job 7: ") {
			t.Errorf("%s: %v", path, err)
		}
		_ = d.Close()
	}
}
