package gitbranch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// swapTries bounds how often an append is put when others move the branch.
const swapTries = 20

// swap replaces a file that is at old by now, which begins with old, or returns
// ledger.ErrConflict if it is at something else.
//
// GitHub answers 409 alike when this file is at another blob and when a commit
// to another file moved the branch meanwhile; and after a server's error or a
// lost connection it is unknown what happened. So the file is read again: it
// holds what we put, or is as it was, or is another's.
func (g *Git) swap(ctx context.Context, file string, old, now content, message string) error {
	var err error
	for try := range swapTries {
		if try > 0 {
			if err := g.pause(ctx, backoff(try)); err != nil {
				return err
			}
		}
		err = g.put(ctx, file, old, now, message)
		why := causeOf(err)
		switch {
		case err == nil:
			return nil
		case why == final:
			return err
		case why == limited:
			if err := g.waitOut(ctx, err); err != nil {
				return err
			}
			continue
		case why == missing && old.version == "" && try < 3:
			if err := g.makeBranch(ctx); err != nil {
				return fmt.Errorf("make the branch %s: %w", g.branch, err)
			}
			continue
		}
		done, look := g.look(ctx, file, old, now)
		if done || look != nil {
			return look
		}
		if why == missing || statusOf(err) == http.StatusUnprocessableEntity || forbidden(err) {
			return err // not for anything another did
		}
	}
	return err
}

// look reads the file again and reports whether it holds what was put. Others
// may have appended to that.
func (g *Git) look(ctx context.Context, file string, old, now content) (done bool, err error) {
	found, err := g.get(ctx, file)
	switch {
	case err != nil:
		return false, err
	case bytes.HasPrefix(found.data, now.data):
		return true, nil
	case found.version != old.version:
		return false, ledger.ErrConflict
	}
	return false, nil
}

// put writes a file in the place of one that is at old, in one request.
func (g *Git) put(ctx context.Context, file string, old, now content, message string) error {
	opts := &github.RepositoryContentFileOptions{Message: &message, Content: now.data, Branch: &g.branch}
	if old.version != "" {
		opts.SHA = github.String(string(old.version))
	}
	_, _, err := g.client.Repositories.CreateFile(ctx, g.owner, g.repo, file, opts)
	return err
}

// forbidden reports whether a 409 is a rule of the repository, which no
// repetition will change.
func forbidden(err error) bool {
	var res *github.ErrorResponse
	if !errors.As(err, &res) {
		return false
	}
	text := strings.ToLower(res.Message)
	return strings.Contains(text, "rule violation") || strings.Contains(text, "protected branch")
}

const readme = `# Switchback's ledger

This branch is the memory of Switchback: one file below ` + "`cases/`" + ` for each pull
request, branch or port it follows, one line for each thing that happened. The
program only ever adds lines; what it will do next follows from them.

Do not merge this branch, and do not edit it by hand. A case whose file is
deleted begins again from nothing.
`

// makeBranch makes the ledger's branch: one commit without parents, so that it
// shares nothing with the code. Another process may have been faster.
func (g *Git) makeBranch(ctx context.Context) error {
	var tree *github.Tree
	err := g.patiently(ctx, func() (err error) {
		tree, _, err = g.client.Git.CreateTree(ctx, g.owner, g.repo, "", []*github.TreeEntry{{
			Path: github.String("README.md"), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(readme)}})
		return err
	})
	if err != nil {
		return err
	}
	var commit github.Commit
	err = g.patiently(ctx, func() error {
		return g.rootCommit(ctx, tree.GetSHA(), &commit)
	})
	if err != nil {
		return err
	}
	err = g.patiently(ctx, func() error {
		_, _, err := g.client.Git.CreateRef(ctx, g.owner, g.repo, &github.Reference{
			Ref: github.String("refs/heads/" + g.branch), Object: &github.GitObject{SHA: commit.SHA}})
		return err
	})
	var res *github.ErrorResponse
	if errors.As(err, &res) && res.Response.StatusCode == http.StatusUnprocessableEntity && strings.Contains(res.Message, "already exists") {
		return nil
	}
	return err
}

// rootCommit makes a commit without parents. The library leaves out an empty
// list of parents, which GitHub takes but not all that answer as GitHub does.
func (g *Git) rootCommit(ctx context.Context, tree string, out *github.Commit) error {
	body := map[string]any{"message": "Begin Switchback's ledger\n\n[skip ci]\n", "tree": tree, "parents": []string{}}
	req, err := g.client.NewRequest(http.MethodPost, fmt.Sprintf("repos/%s/%s/git/commits", g.owner, g.repo), body)
	if err != nil {
		return err
	}
	_, err = g.client.Do(ctx, req, out)
	return err
}
