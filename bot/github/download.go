package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// downloader opens what the API redirects to its storage.
type downloader struct {
	*core
	storage *http.Client
}

// open opens what the API redirects path to. The signed URLs of the storage are valid for about
// a minute, so every attempt requests a new one.
func (d *downloader) open(ctx context.Context, op, path string) (io.ReadCloser, error) {
	for n := 1; ; n++ {
		body, err := d.openOnce(ctx, op, path)
		if kind := advice.Of(err).Kind; kind != advice.Later || n == tries || ctx.Err() != nil || sentByAPI(err) {
			return body, err
		}
		if err := d.o.Sleep(ctx, backoff(n)); err != nil {
			return nil, Wrap(op, err)
		}
	}
}

// errStorage marks errors of the storage behind the redirect.
var errStorage = errors.New("storage")

// sentByAPI reports that the transport has already retried.
func sentByAPI(err error) bool { return err != nil && !errors.Is(err, errStorage) }

func (d *downloader) openOnce(ctx context.Context, op, path string) (io.ReadCloser, error) {
	to, err := d.location(ctx, op, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, failf(op, nil, "%v", network(err))
	}
	res, err := d.storage.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, Wrap(op, ctx.Err())
	case err != nil:
		return nil, &Error{Kind: advice.Later, Op: op, Message: network(err), err: errStorage}
	case res.StatusCode == http.StatusOK:
		return &download{res.Body, ctx, op}, nil
	}
	discard(res)
	e := &Error{Kind: advice.Fail, Op: op, Status: res.StatusCode, Message: "the storage refused", err: errStorage}
	switch s := res.StatusCode; {
	case s == http.StatusNotFound, s == http.StatusGone:
		e.Kind, e.err = advice.Gone, ErrNotFound
	case s >= 500, s == http.StatusTooManyRequests:
		e.Kind = advice.Later
	}
	return nil, e
}

// download is an open download. That its connection breaks is an error of the network, which may be
// over later.
type download struct {
	io.ReadCloser
	ctx context.Context
	op  string
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case d.ctx.Err() != nil:
		return n, Wrap(d.op, d.ctx.Err())
	}
	return n, &Error{Kind: advice.Later, Op: d.op, Message: network(err), err: errStorage}
}

// location requests path from the API and returns where it redirects to.
func (d *downloader) location(ctx context.Context, op, path string) (*url.URL, error) {
	for range 3 {
		req, err := d.gh.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return nil, failf(op, nil, "%v", network(err))
		}
		res, err := d.tr.RoundTrip(req.WithContext(ctx))
		if err != nil {
			return nil, Wrap(op, err)
		}
		if res.StatusCode < 300 || res.StatusCode > 399 {
			err := github.CheckResponse(res)
			discard(res)
			if err == nil {
				err = failf("", nil, "no redirect (HTTP %d)", res.StatusCode)
			}
			return nil, Wrap(op, err)
		}
		discard(res)
		to, err := req.URL.Parse(res.Header.Get("Location"))
		switch {
		case err != nil || to.Host == "":
			return nil, failf(op, nil, "a redirect to nowhere")
		case to.Scheme != "https" && to.Scheme != d.tr.api.Scheme:
			return nil, failf(op, nil, "a redirect from %s to %s", d.tr.api.Scheme, to.Scheme)
		case to.Host != d.tr.api.Host || to.Scheme != d.tr.api.Scheme:
			return to, nil
		}
		path = to.String() // the repository was renamed
	}
	return nil, failf(op, nil, "too many redirects")
}

// fetch downloads path into f, again from the start if the connection breaks, and at most limit
// bytes.
func (d *downloader) fetch(ctx context.Context, op, path string, f *os.File, limit int64) (int64, error) {
	for n := 1; ; n++ {
		body, err := d.open(ctx, op, path)
		if err != nil {
			return 0, err
		}
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = f.Truncate(0)
		}
		if err != nil {
			_ = body.Close()
			return 0, Wrap(op, err)
		}
		size, err := io.Copy(f, io.LimitReader(body, limit+1))
		_ = body.Close()
		switch {
		case err == nil && size > limit:
			return 0, exceeded(op, "bytes of archives", strconv.FormatInt(d.o.Limits.Download, 10))
		case err == nil:
			return size, nil
		case n == tries || ctx.Err() != nil || errors.As(err, new(*os.PathError)):
			return 0, Wrap(op, err)
		}
		if err := d.o.Sleep(ctx, backoff(n)); err != nil {
			return 0, Wrap(op, err)
		}
	}
}
