package setup

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// Every page, the last one too, brings its stylesheet along: nothing is asked of a server that may
// have ended. The policy lets in that one alone.
func TestPagesAreStyled(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/done", nil))
	page := w.Body.String()
	m := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	if m == nil || !strings.Contains(m[1], "font-family") && !strings.Contains(m[1], "font:") || strings.Contains(page, "stylesheet") {
		t.Fatalf("%s", page)
	}
	sum := sha256.Sum256([]byte(m[1]))
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';") {
		t.Errorf("%s", policy)
	}
}
