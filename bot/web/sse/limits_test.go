package sse_test

import (
	"net/http"
	"testing"

	"github.com/switchback-ci/switchback/bot/web/sse"
)

// A person with too many streams blocks nobody else, and may open new ones after closing some.
func TestStreamsOfOne(t *testing.T) {
	t.Parallel()
	x := newService(t, func(h *sse.Handler) {
		h.Each = 3
		h.Who = func(r *http.Request) string { return r.URL.Query().Get("session") } // stands for who is signed in
	})
	var open []*client
	for range 3 {
		c := x.get(t, "session=ana", "")
		if _, err := c.next(); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	c := x.get(t, "session=ana", "")
	if c.res.StatusCode != http.StatusTooManyRequests || c.res.Header.Get("Retry-After") == "" {
		t.Fatal(c.res.StatusCode, c.res.Header)
	}
	if c := x.get(t, "session=bo", ""); c.res.StatusCode != http.StatusOK {
		t.Error("of another one:", c.res.StatusCode)
	}
	_ = open[0].res.Body.Close()
	for x.get(t, "session=ana", "").res.StatusCode != http.StatusOK { // once the server has seen that it went
	}
	if code := x.get(t, "session=ana", "").res.StatusCode; code != http.StatusTooManyRequests {
		t.Error("one more than may be:", code)
	}
}
