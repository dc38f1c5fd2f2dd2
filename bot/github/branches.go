package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"
)

// BranchesService reads branches, and writes files at their heads, each write with a commit.
type BranchesService struct{ *core }

// Head returns the head commit of a branch.
func (s *BranchesService) Head(ctx context.Context, r Repo, branch string) (string, error) {
	ref, _, err := s.gh.Git.GetRef(ctx, r.Owner, r.Name, "heads/"+branch)
	return ref.GetObject().GetSHA(), Wrap(opf("read the branch %s of %s", branch, r), err)
}

// Files lists the files of a branch. One that does not exist, or is in an empty repository, is
// ErrNotFound. A list that GitHub truncates is ErrIncomplete.
func (s *BranchesService) Files(ctx context.Context, r Repo, branch string) ([]TreeFile, error) {
	return s.files(ctx, opf("list the files of %s on %s", r, branch), r, url.PathEscape(branch))
}

// ReadFile reads a file of at most 100 MB. It is ErrNotFound without the file or the branch. The
// content is never older than the request.
func (s *BranchesService) ReadFile(ctx context.Context, r Repo, branch, name string) ([]byte, error) {
	op := opf("read %s of %s on %s", name, r, branch)
	req, err := s.gh.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/contents/%s?ref=%s", r, name, url.QueryEscape(branch)), nil)
	if err != nil {
		return nil, failf(op, nil, "%v", err)
	}
	// The default media type leaves out the content of a file above 1 MB.
	req.Header.Set("Accept", "application/vnd.github.raw+json")
	req.Header.Set("Cache-Control", "no-cache") // GitHub allows the response to be cached for a minute
	var body bytes.Buffer
	if _, err := s.gh.Do(ctx, req, &body); err != nil {
		return nil, Wrap(op, err)
	}
	return body.Bytes(), nil
}

// PutFile writes a file over the one whose blob is old, "" for none. The error has Status 404
// without the branch, and 409 if the file has another blob, another commit has just moved the
// branch, or a rule of the repository forbids the commit. The request is sent once: after an
// Ambiguous error read the file.
func (s *BranchesService) PutFile(ctx context.Context, r Repo, branch, name, old string, data []byte, message string) error {
	opts := &github.RepositoryContentFileOptions{Message: &message, Content: data, Branch: &branch, SHA: text(old)}
	_, _, err := s.gh.Repositories.CreateFile(once(ctx), r.Owner, r.Name, name, opts)
	return Wrap(opf("write %s of %s on %s", name, r, branch), err)
}

// DeleteFile deletes a file whose blob is old. The error has Status 404 without the file, and 409 if
// it has another blob or another commit has just moved the branch.
func (s *BranchesService) DeleteFile(ctx context.Context, r Repo, branch, name, old, message string) error {
	opts := &github.RepositoryContentFileOptions{Message: &message, Branch: &branch, SHA: text(old)}
	_, _, err := s.gh.Repositories.DeleteFile(once(ctx), r.Owner, r.Name, name, opts)
	return Wrap(opf("delete %s of %s on %s", name, r, branch), err)
}

// CreateOrphan creates a branch of one commit, without parents, that has one file. A branch that
// exists already stays as it is.
func (s *BranchesService) CreateOrphan(ctx context.Context, r Repo, branch, name, content, message string) error {
	op := opf("create the branch %s of %s", branch, r)
	ctx = again(ctx) // a tree or a commit that no branch contains changes nothing
	tree, _, err := s.gh.Git.CreateTree(ctx, r.Owner, r.Name, "", []*github.TreeEntry{{
		Path: &name, Mode: github.String("100644"), Type: github.String("blob"), Content: &content}})
	if err != nil {
		return Wrap(op, err)
	}
	commit, err := s.rootCommit(ctx, r, tree.GetSHA(), message)
	if err != nil {
		return Wrap(op, err)
	}
	_, _, err = s.gh.Git.CreateRef(ctx, r.Owner, r.Name, &github.Reference{
		Ref: github.String("refs/heads/" + branch), Object: &github.GitObject{SHA: commit.SHA}})
	var res *github.ErrorResponse
	if errors.As(err, &res) && res.Response.StatusCode == http.StatusUnprocessableEntity && strings.Contains(res.Message, "already exists") {
		return nil
	}
	return Wrap(op, err)
}

// rootCommit creates a commit without parents. go-github leaves out an empty list of parents, which
// GitHub accepts but not every server with its API.
func (s *BranchesService) rootCommit(ctx context.Context, r Repo, tree, message string) (*github.Commit, error) {
	body := map[string]any{"message": message, "tree": tree, "parents": []string{}}
	req, err := s.gh.NewRequest(http.MethodPost, fmt.Sprintf("repos/%s/git/commits", r), body)
	if err != nil {
		return nil, err
	}
	var out github.Commit
	_, err = s.gh.Do(ctx, req, &out)
	return &out, err
}
