package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// JobLog opens the log of a job, of any size; the caller closes it. A job that never started has
// none: ErrNotFound.
func (h *Client) JobLog(ctx context.Context, r Repo, jobID int64) (io.ReadCloser, error) {
	return h.download(ctx, fmt.Sprintf("read the log of job %d of %s", jobID, r), fmt.Sprintf("repos/%s/actions/jobs/%d/logs", r, jobID))
}

// download opens what the API redirects path to. The signed URLs of the storage are valid for about
// a minute, so every attempt requests a new one.
func (h *Client) download(ctx context.Context, op, path string) (io.ReadCloser, error) {
	for n := 1; ; n++ {
		body, err := h.downloadOnce(ctx, op, path)
		if kind := advice.Of(err).Kind; kind != advice.Later || n == tries || ctx.Err() != nil || sentByAPI(err) {
			return body, err
		}
		if err := h.o.Sleep(ctx, backoff(n)); err != nil {
			return nil, Wrap(op, err)
		}
	}
}

// errStorage marks errors of the storage behind the redirect.
var errStorage = errors.New("storage")

// sentByAPI reports that the transport has already retried.
func sentByAPI(err error) bool { return err != nil && !errors.Is(err, errStorage) }

func (h *Client) downloadOnce(ctx context.Context, op, path string) (io.ReadCloser, error) {
	to, err := h.location(ctx, op, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, failf(op, nil, "%v", network(err))
	}
	res, err := h.storage.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, Wrap(op, ctx.Err())
	case err != nil:
		return nil, &Error{Kind: advice.Later, Op: op, Message: network(err), err: errStorage}
	case res.StatusCode == http.StatusOK:
		return res.Body, nil
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

// location requests path from the API and returns where it redirects to.
func (h *Client) location(ctx context.Context, op, path string) (*url.URL, error) {
	for range 3 {
		req, err := h.gh.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return nil, failf(op, nil, "%v", network(err))
		}
		res, err := h.tr.RoundTrip(req.WithContext(ctx))
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
		case to.Scheme != "https" && to.Scheme != h.tr.api.Scheme:
			return nil, failf(op, nil, "a redirect from %s to %s", h.tr.api.Scheme, to.Scheme)
		case to.Host != h.tr.api.Host || to.Scheme != h.tr.api.Scheme:
			return to, nil
		}
		path = to.String() // the repository was renamed
	}
	return nil, failf(op, nil, "too many redirects")
}
