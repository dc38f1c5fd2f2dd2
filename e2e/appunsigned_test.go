package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// unsigned keeps many senders without a secret at work on a server until stop is called: their
// headers and bodies do not end, or end after 25 MB.
func unsigned(t *testing.T, app *Served) (stop func()) {
	t.Helper()
	over := make(chan struct{})
	var wg sync.WaitGroup
	var cut atomic.Int64
	at := strings.TrimPrefix(app.URL, "http://")
	head := func(length int) string {
		return fmt.Sprintf("POST /webhook HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: %s\r\nX-Hub-Signature-256: sha256=%064d\r\nContent-Length: %d\r\n\r\n", randomHex(8), 0, length)
	}
	// stall sends a beginning, and then a byte from time to time until the server ends the connection.
	stall := func(begin string, body int) {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return
		}
		defer c.Close()
		go func() { <-over; c.Close() }()
		_, err = io.WriteString(c, begin)
		if err == nil && body > 0 {
			_, err = c.Write(bytes.Repeat([]byte("x"), body))
		}
		for err == nil {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
				_, err = io.WriteString(c, "x")
			}
		}
		cut.Add(1)
	}
	repeat := func(n int, do func()) {
		for range n {
			wg.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
						do()
					}
				}
			})
		}
	}
	repeat(150, func() { stall("POST /webhook HTTP/1.1\r\nHost: x\r\nX-Junk: "+strings.Repeat("j", 30<<10), 0) })
	repeat(330, func() { stall(head(queue.MaxPayload), 100<<10) })
	repeat(20, func() { stall(head(queue.MaxPayload), 24<<20) })
	large := bytes.Repeat([]byte("x"), queue.MaxPayload)
	repeat(4, func() {
		_, _ = hookPost(app, large, strings.Repeat("0", 64))
		time.Sleep(50 * time.Millisecond) // the cores are theirs, too
	})
	return func() {
		close(over)
		wg.Wait()
		t.Logf("the server ended %d connections of unsigned senders", cut.Load())
	}
}

// hookPost posts a body with a signature over a connection of its own, and returns the answer's status.
func hookPost(app *Served, body []byte, signature string) (int, error) {
	req, err := http.NewRequest(http.MethodPost, app.URL+"/webhook", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-GitHub-Event", "issue_comment")
	req.Header.Set("X-GitHub-Delivery", randomHex(16))
	req.Header.Set("X-Hub-Signature-256", "sha256="+strings.TrimPrefix(signature, "sha256="))
	web := &http.Client{Timeout: hookClient.Timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := web.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, nil
}

// TestAppUnsigned is S6-15: senders without a secret delay signed deliveries by no more than two
// seconds, also when they share one address with GitHub, as behind a proxy that is not named. They
// work on this machine, too, so a second server, which they do not know, tells how slow it is meanwhile.
func TestAppUnsigned(t *testing.T) {
	s := newServed(t, appConfig)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	spared := s.b.Serve(t, bin, "")
	n := 0
	// answer sends a signed delivery, and returns how long the answer took.
	answer := func(app *Served, size int) time.Duration {
		n++
		body := fmt.Appendf(nil, `{"action":"deleted","comment":{"id":%d},"zen":"`, n)
		body = append(append(body, bytes.Repeat([]byte("y"), size)...), `"}`...)
		began := time.Now()
		status, err := hookPost(app, body, sign(WebhookSecret, body))
		took := time.Since(began)
		if err != nil || status != http.StatusAccepted {
			t.Errorf("%d bytes: answered with %d after %v: %v", size, status, took, err)
		}
		return took
	}
	stop := unsigned(t, s.app)
	time.Sleep(3 * time.Second) // all of them hold what they can
	for _, c := range []struct {
		name        string
		count, size int
	}{{"20 KB", 20, 20 << 10}, {"5 MB", 8, 5 << 20}} {
		var harried, alone []time.Duration
		for range c.count {
			harried, alone = append(harried, answer(s.app, c.size)), append(alone, answer(spared, c.size))
		}
		slices.Sort(harried)
		slices.Sort(alone)
		most := c.count - 2
		t.Logf("answers to %s beside 504 unsigned senders: median %v, all but one %v; of a server without them %v, %v", c.name,
			harried[c.count/2], harried[most], alone[c.count/2], alone[most])
		// What the senders cost this machine is no delay by the server: they and the server share two
		// cores, of which the other server needs next to nothing.
		if delay := harried[most] - 4*alone[most]; delay > 2*time.Second {
			t.Errorf("all but one answer to %s took up to %v longer than four times that of a server without unsigned senders", c.name, delay)
		}
	}
	stop()
	t.Run("afterwards it works as before", func(t *testing.T) {
		s.ran(failing("TestAdd"), "failure")
		s.wantSticky("TestAdd")
	})
}
