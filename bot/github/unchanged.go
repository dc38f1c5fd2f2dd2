package github

import (
	"bytes"
	order "container/list"
	"io"
	"net/http"
	"sync"
)

// largestKept bounds one cached response; a larger one is read again.
const largestKept = 1 << 20

// unchanged is a transport that caches responses with an ETag and sends conditional requests,
// because GitHub does not count a 304 response against the rate limit. It never responds without a
// request.
type unchanged struct {
	base http.RoundTripper
	max  int // bytes of bodies

	mu   sync.Mutex
	size int
	kept map[string]*order.Element // of *keptAnswer
	used *order.List               // the one used last in front
}

type keptAnswer struct {
	key, tag string
	header   http.Header
	body     []byte
}

func newUnchanged(base http.RoundTripper, limit int) *unchanged {
	return &unchanged{base: base, max: limit, kept: map[string]*order.Element{}, used: order.New()}
}

// fromCache marks a response whose body came from the cache.
const fromCache = "X-Switchback-Unchanged"

// RoundTrip implements http.RoundTripper.
func (u *unchanged) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.Header.Get("Range") != "" || req.Header.Get("If-None-Match") != "" {
		return u.base.RoundTrip(req)
	}
	key := req.Header.Get("Accept") + " " + req.URL.String()
	old := u.get(key)
	if old != nil {
		req = req.Clone(req.Context())
		req.Header.Set("If-None-Match", old.tag)
	}
	res, err := u.base.RoundTrip(req)
	switch {
	case err != nil:
		return res, err
	case res.StatusCode == http.StatusNotModified && old != nil:
		discard(res)
		return old.answer(req, res.Header), nil
	case res.StatusCode == http.StatusOK && res.Header.Get("ETag") != "":
		return u.keep(key, res)
	}
	return res, nil
}

// answer returns the cached response with this response's headers, such as the remaining rate
// limit.
func (k *keptAnswer) answer(req *http.Request, now http.Header) *http.Response {
	h := k.header.Clone()
	for name, v := range now {
		if name != "Content-Length" && name != "Content-Type" && name != "Link" {
			h[name] = v
		}
	}
	h.Set(fromCache, "1")
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body)), Request: req}
}

// keep reads res and caches it, unless it is too large or cut off.
func (u *unchanged) keep(key string, res *http.Response) (*http.Response, error) {
	limit := min(largestKept, u.max)
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	if err != nil || len(body) > limit {
		// What was read goes before the rest; an error comes again from there.
		rest := res.Body
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), failing{err, rest}), rest}
		return res, nil
	}
	_ = res.Body.Close()
	u.put(&keptAnswer{key: key, tag: res.Header.Get("ETag"), header: res.Header.Clone(), body: body})
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// failing returns an error that occurred before, or reads the rest.
type failing struct {
	err  error
	rest io.Reader
}

func (f failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.rest.Read(p)
}

func (u *unchanged) get(key string) *keptAnswer {
	u.mu.Lock()
	defer u.mu.Unlock()
	e, ok := u.kept[key]
	if !ok {
		return nil
	}
	u.used.MoveToFront(e)
	return e.Value.(*keptAnswer)
}

func (u *unchanged) put(k *keptAnswer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e, ok := u.kept[k.key]; ok {
		u.drop(e)
	}
	u.kept[k.key] = u.used.PushFront(k)
	u.size += len(k.body)
	for u.size > u.max && u.used.Len() > 1 {
		u.drop(u.used.Back())
	}
}

func (u *unchanged) drop(e *order.Element) {
	k := u.used.Remove(e).(*keptAnswer)
	delete(u.kept, k.key)
	u.size -= len(k.body)
}
