// Package gitbranch keeps a ledger on a branch of a GitHub repository, one file
// per case, through the REST API alone. GitHub's check of the old blob is the
// compare and swap, the branch's history the record of who appended what.
package gitbranch

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

// Branch is the name of the ledger's branch where nobody chose another.
const Branch = "switchback-ledger"

const casesDir = "cases"

// Git is a ledger on a branch. The first append makes the branch, without
// parents, if there is none. In the ordinary course a Load is one request and
// an Append that follows it another; the token needs contents: write.
//
// A request that is answered by a server's error, by a limit, or not at all is
// repeated as long as the context allows and patience lasts. An append whose
// answer was lost is looked for before it is repeated.
type Git struct {
	client              *github.Client
	owner, repo, branch string
	turn                chan struct{} // one append at a time: they all move the branch
	pause               func(context.Context, time.Duration) error

	mu   sync.Mutex
	last map[string]content // what was read last of a case, for Append to add to
}

var _ ledger.Watched = (*Git)(nil)

// content is a file as it was read. The zero content is that of no file.
type content struct {
	version ledger.Version
	data    []byte
}

// remembered bounds for how many cases the content is kept.
const remembered = 64

// NewGit returns the ledger on a branch of owner/repo; branch "" is Branch. It
// makes no request. The client authenticates and governs its rate; it must not
// answer from a cache that it has not revalidated.
func NewGit(client *github.Client, owner, repo, branch string) *Git {
	if branch == "" {
		branch = Branch
	}
	return &Git{client: client, owner: owner, repo: repo, branch: branch,
		turn: make(chan struct{}, 1), pause: sleep.For, last: map[string]content{}}
}

// Load implements ledger.Ledger. A repository the token cannot read looks like
// one without this case.
func (g *Git) Load(ctx context.Context, key string) ([]routing.Event, ledger.Version, error) {
	if err := errors.Join(ctx.Err(), ledger.CheckKey(key)); err != nil {
		return nil, "", err
	}
	file := path.Join(casesDir, ledger.FileName(key))
	now, err := g.get(ctx, file)
	if err != nil {
		return nil, "", g.failed("read", file, err)
	}
	events, err := ledger.Decode(key, now.data)
	if err != nil {
		return nil, "", ledger.Located(g.name(file), err)
	}
	g.remember(key, now)
	return events, now.version, nil
}

// Append implements ledger.Ledger.
func (g *Git) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (ledger.Version, error) {
	add, err := ledger.Encode(key, rand.Text(), events)
	if err := errors.Join(ctx.Err(), err); err != nil || len(events) == 0 {
		return seen, err
	}
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	file := path.Join(casesDir, ledger.FileName(key))
	old, err := g.at(ctx, key, file, seen)
	if err == nil {
		data := slices.Concat(old.data, add)
		now := content{ledger.ContentVersion(data), data}
		if err = g.swap(ctx, file, old, now, message(key, events)); err == nil {
			g.remember(key, now)
			return now.version, nil
		}
	}
	if errors.Is(err, ledger.ErrConflict) {
		g.forget(key)
		return "", err
	}
	return "", g.failed("append to", file, err)
}

// Keys implements ledger.Ledger. It is one request, and another for each key
// too long to be in its file's name.
func (g *Git) Keys(ctx context.Context) ([]string, error) {
	states, err := g.States(ctx)
	if len(states) == 0 || err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(states)), nil
}

// States implements ledger.Watched with the name that git gives each file's content,
// at the price of Keys.
func (g *Git) States(ctx context.Context) (map[string]string, error) {
	var tree *github.Tree
	err := g.patiently(ctx, func() (err error) {
		tree, _, err = g.client.Git.GetTree(ctx, g.owner, g.repo, url.PathEscape(g.branch), true)
		return err
	})
	switch s := statusOf(err); {
	case s == http.StatusNotFound, s == http.StatusConflict: // no branch, or an empty repository
		return nil, nil
	case err != nil:
		return nil, g.failed("list", casesDir, err)
	case tree.GetTruncated():
		return nil, fmt.Errorf("%s has more files than GitHub lists: move old cases to another branch", g.name(casesDir))
	}
	out := map[string]string{}
	for _, e := range tree.Entries {
		dir, name := path.Split(e.GetPath())
		key, ours := ledger.KeyOf(name)
		if !ours || dir != casesDir+"/" || e.GetType() != "blob" {
			continue
		}
		if key == "" {
			if key, err = g.keyIn(ctx, e.GetPath()); err != nil {
				return nil, err
			}
		}
		out[key] = e.GetSHA()
	}
	return out, nil
}

func (g *Git) keyIn(ctx context.Context, file string) (string, error) {
	now, err := g.get(ctx, file)
	if err != nil {
		return "", g.failed("read", file, err)
	}
	key, err := ledger.KeyIn(now.data)
	if err != nil {
		return "", ledger.Located(g.name(file), err)
	}
	return key, nil
}

// get reads a file. The raw media type gives files of up to 100 MB, where the
// default leaves out the content above 1 MB; the blob's name, which it lacks,
// follows from the content.
func (g *Git) get(ctx context.Context, file string) (content, error) {
	var body bytes.Buffer
	err := g.patiently(ctx, func() error {
		body.Reset()
		u := fmt.Sprintf("repos/%s/%s/contents/%s?ref=%s", g.owner, g.repo, file, url.QueryEscape(g.branch))
		req, err := g.client.NewRequest(http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Accept", "application/vnd.github.raw+json")
		req.Header.Set("Cache-Control", "no-cache") // GitHub allows its answer to be kept for a minute
		_, err = g.client.Do(ctx, req, &body)
		return err
	})
	if statusOf(err) == http.StatusNotFound {
		return content{}, nil
	}
	return content{ledger.ContentVersion(body.Bytes()), body.Bytes()}, err
}

// at returns the content of a case at version seen, from memory if it can.
func (g *Git) at(ctx context.Context, key, file string, seen ledger.Version) (content, error) {
	if seen == "" {
		return content{}, nil
	}
	g.mu.Lock()
	old := g.last[key]
	g.mu.Unlock()
	if old.version == seen {
		return old, nil
	}
	old, err := g.get(ctx, file)
	if err == nil && old.version != seen {
		err = ledger.ErrConflict
	}
	return old, err
}

func (g *Git) remember(key string, c content) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.last) >= remembered {
		clear(g.last)
	}
	g.last[key] = c
}

func (g *Git) forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.last, key)
}

// name returns what a human calls a file of the branch.
func (g *Git) name(file string) string {
	return fmt.Sprintf("%s/%s@%s:%s", g.owner, g.repo, g.branch, file)
}

// failed adds to err what was being done, and what may help.
func (g *Git) failed(what, file string, err error) error {
	help := ""
	if s := statusOf(err); s == http.StatusForbidden || s == http.StatusNotFound || s == http.StatusUnauthorized {
		help = " (the token needs the permission contents: write)"
	}
	return fmt.Errorf("%s the ledger %s%s: %w", what, g.name(file), help, err)
}

// message returns the commit message of an append. It holds the case's key only
// as its file's name, which neither refers to an issue nor mentions anybody.
func message(key string, events []routing.Event) string {
	var types []string
	for _, e := range events {
		if !slices.Contains(types, string(e.Type)) {
			types = append(types, string(e.Type))
		}
	}
	name := strings.TrimSuffix(ledger.FileName(key), path.Ext(ledger.FileName(key)))
	return fmt.Sprintf("%s: %s\n\n[skip ci]\n", name, strings.Join(types, ", "))
}
