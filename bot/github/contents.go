package github

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// ContentsService reads the files of a repository.
type ContentsService struct{ *core }

// Get reads one file at a ref (a branch, tag or commit; "" is the default branch). Anything but a
// file is ErrNotFound. GitHub returns at most 100 MB.
func (s *ContentsService) Get(ctx context.Context, r Repo, name, ref string) ([]byte, error) {
	return s.GetUpTo(ctx, r, name, ref, 100<<20)
}

// GetUpTo is File with a size limit: a file larger than most bytes is ErrTooLarge.
func (s *ContentsService) GetUpTo(ctx context.Context, r Repo, name, ref string, most int) ([]byte, error) {
	op := fmt.Sprintf("read %s of %s at %s", name, r, ref)
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") {
		return nil, failf(op, nil, "not a path inside a repository")
	}
	f, _, _, err := s.gh.Repositories.GetContents(ctx, r.Owner, r.Name, name, &github.RepositoryContentGetOptions{Ref: ref})
	switch {
	case err != nil:
		return nil, Wrap(op, err)
	case f == nil || f.GetType() != "file":
		return nil, &Error{Kind: advice.Gone, Op: op, Message: "not a file", err: ErrNotFound}
	case f.GetSize() > most:
		return nil, failf(op, ErrTooLarge, "it has %d bytes, at most %d are read", f.GetSize(), most)
	case f.GetEncoding() == "none": // over 1 MB
		data, _, err := s.gh.Git.GetBlobRaw(ctx, r.Owner, r.Name, f.GetSHA())
		return data, Wrap(op, err)
	}
	text, err := f.GetContent()
	if err != nil {
		return nil, failf(op, nil, "%v", err)
	}
	return []byte(text), nil
}

// Tree lists the files of a commit or tree. truncated reports that GitHub cut a very long list.
func (s *ContentsService) Tree(ctx context.Context, r Repo, sha string) (paths []string, truncated bool, err error) {
	op := fmt.Sprintf("list the files of %s at %s", r, sha)
	if !isSHA(sha) {
		return nil, false, failf(op, nil, "not a commit")
	}
	t, _, err := s.gh.Git.GetTree(ctx, r.Owner, r.Name, sha, true)
	if err != nil {
		return nil, false, Wrap(op, err)
	}
	for _, e := range t.Entries {
		if e.GetType() == "blob" {
			paths = append(paths, e.GetPath())
		}
	}
	return paths, t.GetTruncated(), nil
}

// TreeFile is a file of a commit.
type TreeFile struct {
	Path   string
	Object string // git's id of its content
	Link   bool
	Size   int // bytes
}

// Files lists the files of a commit. A list that GitHub truncates is ErrIncomplete.
func (s *ContentsService) Files(ctx context.Context, r Repo, commit string) ([]TreeFile, error) {
	op := fmt.Sprintf("list the files of %s at %s", r, commit)
	if !isSHA(commit) {
		return nil, failf(op, nil, "not a commit")
	}
	return s.files(ctx, op, r, commit)
}

// files lists the files of ref, which is escaped for a URL.
func (c *core) files(ctx context.Context, op string, r Repo, ref string) ([]TreeFile, error) {
	t, _, err := c.gh.Git.GetTree(ctx, r.Owner, r.Name, ref, true)
	if err != nil {
		return nil, Wrap(op, err)
	}
	if t.GetTruncated() {
		return nil, failf(op, ErrIncomplete, "the repository has more files than GitHub lists at once")
	}
	var out []TreeFile
	for _, e := range t.Entries {
		if e.GetType() == "blob" {
			out = append(out, TreeFile{e.GetPath(), e.GetSHA(), e.GetMode() == "120000", e.GetSize()})
		}
	}
	return out, nil
}
