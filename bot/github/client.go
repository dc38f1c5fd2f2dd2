// Package github is the only package that imports go-github. It reads runs, logs, artifacts, pull
// requests and files, and it brings comments, checks, labels and issues to a wanted state: each
// write reads the live state first and sends only the difference, so that repeating it changes
// nothing.
//
// Every error has advice (see bot/advice): try again later (and when), gone, failed or read-only.
// No error and no log line contains a token or a signed URL.
package github

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing/redact"
)

// DefaultURL is the API of github.com.
const DefaultURL = "https://api.github.com"

// Options configure a Client. The zero value sends requests to github.com without a token.
type Options struct {
	Token   string
	BaseURL string       // GITHUB_API_URL; "" means DefaultURL
	HTTP    *http.Client // its Transport carries API requests, e.g. one that signs them for an installation
	Storage *http.Client // downloads from where the API redirects to; it must add no credentials
	Login   string       // the bot's own login, if known
	Former  []string     // earlier logins of the bot, whose posts it still owns

	// Tokens returns the token of each request, instead of Token, where tokens expire and are
	// renewed. An *Error that it returns is passed on unchanged.
	Tokens func(context.Context) (string, error)
	// CacheBytes is the size of the cache for conditional requests, which do not count against the
	// rate limit if nothing changed; 0 disables it.
	CacheBytes int
	// Observe is called with each response of the API. It must not block.
	Observe func(Answer)

	// Budget is the rate limit state that all processes with this identity share; nil means that
	// this Client is the only one. Holder names this process among them.
	Budget ratelimit.Store
	Holder string
	Rates  ratelimit.Limits // except for the interval; zero means GitHub's

	ContentInterval time.Duration // between two writes; 0 means 1 s, negative none
	MaxWait         time.Duration // for a rate limit, per request; 0 means 2 min
	Limits          Limits        // of artifacts
	IssueLabel      string        // the label of all issues of the bot; "" means "switchback"
	IssueCap        int           // new issues in an hour; 0 means 20

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	Log   *slog.Logger
}

// Client is a GitHub client with one identity, with a service for each kind of resource. It is safe
// for concurrent use; its writes are sent one at a time. Use one per installation.
type Client struct {
	Acks          *AcksService
	Apps          *AppsService
	Artifacts     *ArtifactsService
	Branches      *BranchesService
	Checks        *ChecksService
	CodeOwners    *CodeOwnersService
	Collaborators *CollaboratorsService
	Comments      *CommentsService
	Commits       *CommitsService
	Contents      *ContentsService
	Dispatches    *DispatchesService
	Issues        *IssuesService
	Jobs          *JobsService
	Labels        *LabelsService
	PullRequests  *PullRequestsService
	Repositories  *RepositoriesService
	Runs          *RunsService
	Users         *UsersService

	core *core
}

// New returns a Client. It sends no request.
func New(o Options) (*Client, error) {
	o.BaseURL = strings.TrimRight(cmp.Or(o.BaseURL, DefaultURL), "/") + "/"
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of GitHub's API; set GITHUB_API_URL to one such as %s", strings.TrimSuffix(o.BaseURL, "/"), DefaultURL)
	}
	o = withDefaults(o)
	redact.Hide(o.Token)
	rt := plainTransport()
	if o.HTTP != nil && o.HTTP.Transport != nil {
		rt = o.HTTP.Transport
	}
	if o.CacheBytes > 0 {
		rt = newUnchanged(rt, o.CacheBytes)
	}
	c := &core{o: o, login: o.Login}
	c.tr = &transport{base: rt, api: base, token: o.Token, tokens: o.Tokens, observe: o.Observe, limiter: newRateLimiter(o), maxWait: o.MaxWait, now: o.Now, sleep: o.Sleep, log: o.Log}
	c.gh = github.NewClient(&http.Client{Transport: c.tr, CheckRedirect: c.tr.redirect})
	c.gh.BaseURL, c.gh.UserAgent = base, "switchback"
	return newClient(c), nil
}

func newClient(c *core) *Client {
	files := &downloader{core: c, storage: c.o.Storage}
	h := &Client{
		core:          c,
		Acks:          &AcksService{c},
		Apps:          &AppsService{c},
		Artifacts:     &ArtifactsService{c, files},
		Branches:      &BranchesService{c},
		Checks:        &ChecksService{c},
		Collaborators: &CollaboratorsService{c},
		Comments:      &CommentsService{c},
		Commits:       &CommitsService{c},
		Contents:      &ContentsService{c},
		Dispatches:    &DispatchesService{c},
		Jobs:          &JobsService{c, files},
		Labels:        &LabelsService{core: c, seen: map[string]bool{}},
		PullRequests:  &PullRequestsService{c},
		Repositories:  &RepositoriesService{c},
		Runs:          &RunsService{c},
		Users:         &UsersService{c},
	}
	h.CodeOwners = &CodeOwnersService{c, h.Contents, h.Collaborators}
	h.Issues = &IssuesService{c, h.Comments, &issueFiler{core: c, labels: h.Labels}}
	return h
}

func withDefaults(o Options) Options {
	if o.ContentInterval == 0 {
		o.ContentInterval = time.Second
	}
	o.MaxWait = cmp.Or(o.MaxWait, 2*time.Minute)
	o.Limits = o.Limits.withDefaults()
	o.IssueLabel = cmp.Or(o.IssueLabel, "switchback")
	o.IssueCap = cmp.Or(o.IssueCap, 20)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Storage = cmp.Or(o.Storage, &http.Client{Transport: plainTransport()})
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep.For
	}
	return o
}

// Time returns the time as GitHub has it, by the Date of its newest response; without any it is that
// of the local clock. Processes whose clocks differ agree on it within a second.
func (c *Client) Time() time.Time { return c.core.tr.time() }

// plainTransport returns a transport that times out if a server accepts a request and does not
// respond.
func plainTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	return t
}

// Repo names a repository.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

var repoName = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_-]{0,99})/([A-Za-z0-9._-]{1,100})$`)

// ParseRepo reads "owner/name" and refuses what cannot be a repository.
func ParseRepo(s string) (Repo, error) {
	m := repoName.FindStringSubmatch(s)
	if m == nil || m[2] == "." || m[2] == ".." {
		return Repo{}, fmt.Errorf("%q is not the name of a repository; write it as OWNER/NAME", s)
	}
	return Repo{m[1], m[2]}, nil
}

func sameRepo(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
