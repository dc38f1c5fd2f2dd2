// Package github is the only room that knows GitHub's API. It reads runs, logs,
// artifacts, pull requests and files, and it brings comments, checks, labels
// and issues to a wanted state: each effect reads live state first and writes
// only the difference, so doing it again changes nothing.
//
// Every error it returns can be asked Verdict: later (and when), gone, fail or
// read-only. No error and no log line holds a token or a signed address.
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
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// DefaultURL is the API of github.com.
const DefaultURL = "https://api.github.com"

// Options says whom a Hub speaks to and as whom. The zero value speaks to
// github.com without a token.
type Options struct {
	Token   string
	BaseURL string       // GITHUB_API_URL; "" means DefaultURL
	HTTP    *http.Client // its Transport carries API requests, e.g. one that signs them for an installation
	Storage *http.Client // fetches what the API redirects to; it must add no credentials
	Login   string       // the bot's own login, if known
	Former  []string     // logins under which the bot posted before: those posts are its own still

	// Tokens gives the token of each request in Token's place: one that ends
	// and is made anew. An error of it that is an *Error is returned as it is.
	Tokens func(context.Context) (string, error)
	// CacheBytes is how much of what was read is kept to ask GitHub only if it
	// changed, which costs nothing of the rate limit; 0 means nothing.
	CacheBytes int
	// Observe is told of each answer of the API. It must not block.
	Observe func(Answer)

	// Ration says whether anything may be sent, for all who speak as this identity;
	// nil means that this Hub is alone. Holder names this process among them.
	Ration ratelimit.Keeper
	Holder string
	Rates  ratelimit.Limits // what may be sent, but for the interval; zero means GitHub's

	ContentInterval time.Duration // between two writes; 0 means 1 s, negative none
	MaxWait         time.Duration // for a rate limit, per request; 0 means 2 min
	Limits          Limits        // of artifacts
	IssueLabel      string        // all issues of the bot have it; "" means "switchback"
	IssueCap        int           // new issues in an hour; 0 means 20

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	Log   *slog.Logger
}

// Hub speaks to GitHub as one identity. It is safe for concurrent use; its
// writes go out one at a time. Make one per installation and keep it.
type Hub struct {
	o       Options
	gh      *github.Client
	tr      *transport
	storage *http.Client

	mu     sync.Mutex
	login  string
	labels map[string]bool // "owner/name\x00label": seen to exist
	filed  []time.Time     // when issues were made
}

// New returns a Hub. It sends nothing yet.
func New(o Options) (*Hub, error) {
	o.BaseURL = strings.TrimRight(cmp.Or(o.BaseURL, DefaultURL), "/") + "/"
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("hub: %q is not the address of an API", o.BaseURL)
	}
	o = withDefaults(o)
	rt := plainTransport()
	if o.HTTP != nil && o.HTTP.Transport != nil {
		rt = o.HTTP.Transport
	}
	if o.CacheBytes > 0 {
		rt = newUnchanged(rt, o.CacheBytes)
	}
	h := &Hub{o: o, login: o.Login, labels: map[string]bool{}, storage: o.Storage}
	h.tr = &transport{base: rt, api: base, token: o.Token, tokens: o.Tokens, observe: o.Observe, gov: newGovernor(o), maxWait: o.MaxWait, now: o.Now, sleep: o.Sleep, log: o.Log}
	h.gh = github.NewClient(&http.Client{Transport: h.tr, CheckRedirect: h.tr.redirect})
	h.gh.BaseURL, h.gh.UserAgent = base, "switchback"
	return h, nil
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

// plainTransport gives up on a server that takes a request and does not answer.
func plainTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	return t
}

// Client returns the go-github client under the Hub, with its governor and
// its token, for the ledger's branch. Errors of it are to be passed to Wrap.
func (h *Hub) Client() *github.Client { return h.gh }

// Repo names a repository.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

var repoName = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_-]{0,99})/([A-Za-z0-9._-]{1,100})$`)

// ParseRepo reads "owner/name" and refuses what cannot be a repository.
func ParseRepo(s string) (Repo, error) {
	m := repoName.FindStringSubmatch(s)
	if m == nil || m[2] == "." || m[2] == ".." {
		return Repo{}, fmt.Errorf("hub: %q is not owner/name", s)
	}
	return Repo{m[1], m[2]}, nil
}

func sameRepo(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
