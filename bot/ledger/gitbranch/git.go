// Package gitbranch keeps a ledger on a branch of a GitHub repository, one file
// per case, through the REST API alone. GitHub's check of the old blob is the
// compare and swap, the branch's history the record of who appended what.
package gitbranch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
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
// The client repeats what changes nothing. An append with an unknown result is looked for before it
// is sent again.
type Git struct {
	github *github.BranchesService
	repo   github.Repo
	branch string
	turn   chan struct{} // one append at a time: they all move the branch
	pause  func(context.Context, time.Duration) error
	last   contents // what was read last of a case, for Append to add to
	// refused is the error of the first append that was refused because the token may not write. It
	// may write no other file either, so that none is tried. Guarded by turn.
	refused error
}

var (
	_ ledger.Watched  = (*Git)(nil)
	_ ledger.Recaller = (*Git)(nil)
)

// NewGit returns the ledger on a branch of repo; branch "" is Branch. It sends no request.
func NewGit(c *github.Client, repo github.Repo, branch string) *Git {
	return &Git{github: c.Branches, repo: repo, branch: cmp.Or(branch, Branch), turn: make(chan struct{}, 1), pause: sleep.For}
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
	events, err := ledger.DecodeStored(key, now.data)
	if err != nil {
		return nil, "", ledger.Located(g.name(file), err)
	}
	g.last.put(key, now)
	return events, now.version, nil
}

// Recall implements ledger.Recaller.
func (g *Git) Recall(key string) ([]routing.Event, ledger.Version, bool) {
	now := g.last.get(key)
	if len(now.data) == 0 {
		return nil, "", false
	}
	events, err := ledger.DecodeStored(key, now.data)
	return events, now.version, err == nil
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
	if g.refused != nil {
		return "", g.failed("append to", file, g.refused)
	}
	old, err := g.at(ctx, key, file, seen)
	if err == nil {
		data := ledger.Append(key, old.data, add)
		now := content{ledger.ContentVersion(data), data}
		if err = g.swap(ctx, file, old, now, message(key, events)); err == nil {
			g.last.put(key, now)
			return now.version, nil
		}
	}
	if errors.Is(err, ledger.ErrConflict) {
		g.last.drop(key)
		return "", err
	}
	if errors.Is(err, github.ErrReadOnly) {
		g.refused = err
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
	files, err := g.github.Files(ctx, g.repo, g.branch)
	switch {
	case errors.Is(err, github.ErrNotFound):
		return nil, nil
	case errors.Is(err, github.ErrIncomplete):
		return nil, fmt.Errorf("%s has more files than GitHub lists: move old cases to another branch", g.name(casesDir))
	case err != nil:
		return nil, g.failed("list", casesDir, err)
	}
	out := map[string]string{}
	for _, f := range files {
		dir, name := path.Split(f.Path)
		key, ours := ledger.KeyOf(name)
		if !ours || dir != casesDir+"/" {
			continue
		}
		if key == "" {
			if key, err = g.keyIn(ctx, f.Path); err != nil {
				return nil, err
			}
		}
		out[key] = f.Object
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

// get reads a file. GitHub does not return the name of its blob, which follows from the content.
func (g *Git) get(ctx context.Context, file string) (content, error) {
	data, err := g.github.ReadFile(ctx, g.repo, g.branch, file)
	if errors.Is(err, github.ErrNotFound) {
		return content{}, nil
	}
	return content{ledger.ContentVersion(data), data}, err
}

// at returns the content of a case at version seen, from memory if it can.
func (g *Git) at(ctx context.Context, key, file string, seen ledger.Version) (content, error) {
	if seen == "" {
		return content{}, nil
	}
	if old := g.last.get(key); old.version == seen {
		return old, nil
	}
	old, err := g.get(ctx, file)
	if err == nil && old.version != seen {
		err = ledger.ErrConflict
	}
	return old, err
}

// name returns what a human calls a file of the branch.
func (g *Git) name(file string) string {
	return fmt.Sprintf("%s@%s:%s", g.repo, g.branch, file)
}

// failed adds to err what was wanted, and what may help. It does not pass on the advice Gone: without
// a permission GitHub answers 404, and a missing ledger does not mean that the subject of the work is
// gone.
func (g *Git) failed(what, file string, err error) error {
	help := ""
	if s := statusOf(err); s == http.StatusForbidden || s == http.StatusNotFound || s == http.StatusUnauthorized {
		help = " (the token needs the permission contents: write)"
	}
	if kind := advice.Of(err).Kind; kind == advice.Gone {
		err = errors.New(err.Error())
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
