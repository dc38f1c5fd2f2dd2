package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
)

const (
	sendTimeout  = 15 * time.Second // of one attempt
	mostAnswer   = 64 << 10         // bytes of an answer that are read, so that the connection can be used again
	mostWait     = 6 * time.Hour    // that an endpoint may ask for
	mostFollowed = 3                // redirects
)

// Error is why an endpoint was not told. It names no address.
type Error struct {
	Endpoint string
	Status   int           // of the answer, 0 if there was none
	Cause    error         // nil if there was an answer
	After    time.Duration // the least time to wait, as the endpoint asked; 0: it did not
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("endpoint %s: %v", e.Endpoint, e.Cause)
	}
	return fmt.Sprintf("endpoint %s answered %d", e.Endpoint, e.Status)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Advice implements advice.Adviser: what an endpoint rejects is rejected again.
func (e *Error) Advice() advice.Advice {
	switch {
	case errors.Is(e.Cause, errRefused):
		return advice.Advice{Kind: advice.Gone, Reason: "refused"}
	case e.Cause != nil, e.Status == http.StatusTooManyRequests, e.Status == http.StatusRequestTimeout, e.Status >= 500:
		return advice.Advice{Kind: advice.Later, After: e.After, Reason: "unreachable"}
	}
	return advice.Advice{Kind: advice.Gone, Reason: "rejected"}
}

// errRefused is the error of an address that is not connected to.
var errRefused = errors.New("not allowed")

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	public, private *http.Client
}

// NewSender returns a Sender.
func NewSender() *Sender { return &Sender{client(false), client(true)} }

// client returns a client that follows no redirect to another host and, unless private addresses are
// allowed, connects to none: an address in a file must not open what only this network can reach.
func client(private bool) *http.Client {
	dial := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dial.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !isPublic(at.Addr().Unmap()) {
				return fmt.Errorf("%w: the address is private; `allow_private: true` allows it", errRefused)
			}
			return nil
		}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext, t.Proxy = dial.DialContext, nil
	t.MaxResponseHeaderBytes, t.ResponseHeaderTimeout = 64<<10, sendTimeout
	return &http.Client{Transport: t, Timeout: sendTimeout, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		first := via[0].URL
		switch {
		case to.URL.Host != first.Host || to.URL.Scheme != first.Scheme:
			return fmt.Errorf("%w: it redirects to another host", errRefused)
		case to.Method != http.MethodPost:
			return fmt.Errorf("%w: it redirects to a page", errRefused)
		case len(via) > mostFollowed:
			return fmt.Errorf("%w: it redirects too often", errRefused)
		}
		return nil
	}}
}

// isPublic reports whether an address is of the public internet.
func isPublic(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// reserved are global unicast by form and not of the public internet: shared and test networks, and
// those that lead to other addresses.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2001:db8::/32"),
}

// Send tells an endpoint once. The error is an *Error.
func (s *Sender) Send(ctx context.Context, e Endpoint, m Message) error {
	body, err := e.body(m)
	if err != nil {
		return &Error{Endpoint: e.Name, Cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return &Error{Endpoint: e.Name, Cause: errors.New("its address is none")}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Switchback")
	if e.Format == Webhook {
		req.Header.Set("X-Switchback-Event", string(m.Topic))
		req.Header.Set("X-Switchback-Delivery", m.ID)
		req.Header.Set("X-Hub-Signature-256", "sha256="+signature(e.secret, body))
	}
	c := s.public
	if e.AllowPrivate {
		c = s.private
	}
	res, err := c.Do(req)
	if err != nil {
		var u *url.Error // holds the address
		if errors.As(err, &u) {
			err = u.Err
		}
		return &Error{Endpoint: e.Name, Cause: err}
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, mostAnswer))
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	return &Error{Endpoint: e.Name, Status: res.StatusCode, After: retryAfter(res.Header.Get("Retry-After"), time.Now())}
}

// signature returns the signature of a body, as GitHub signs webhooks.
func signature(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil {
		return min(max(0, time.Duration(min(n, 1<<20))*time.Second), mostWait)
	}
	if at, err := http.ParseTime(s); err == nil {
		return min(max(0, at.Sub(now)), mostWait)
	}
	return 0
}
