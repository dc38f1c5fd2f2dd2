package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// PullRequest is a pull request as the API returns it.
type PullRequest struct {
	Number           int
	HeadSHA, HeadRef string
	HeadRepo         string // "owner/name"; "" if the fork was deleted
	BaseSHA, BaseRef string
	Author, Title    string
	State            string // open or closed
	Draft, Merged    bool
	Labels           []string
	Fork             bool // the head is not in the repository itself
}

// PullRequestsService reads pull requests.
type PullRequestsService struct{ *core }

// Get reads one pull request.
func (s *PullRequestsService) Get(ctx context.Context, r Repo, number int) (PullRequest, error) {
	p, _, err := s.gh.PullRequests.Get(ctx, r.Owner, r.Name, number)
	if err != nil {
		return PullRequest{}, Wrap(fmt.Sprintf("read pull request %s#%d", r, number), err)
	}
	return pullRequest(r, p), nil
}

// FindByHead finds the pull request whose head is exactly headSHA of headRepo ("owner/name"),
// because the event of a run from a fork does not name it. A pull request whose head has moved on
// is not found. An open one is preferred to a closed one, and several open ones are ErrSeveral.
func (s *PullRequestsService) FindByHead(ctx context.Context, r Repo, headSHA, headRepo, headRef string) (PullRequest, bool, error) {
	op := fmt.Sprintf("find the pull request of %s in %s", headSHA, r)
	if !isSHA(headSHA) {
		return PullRequest{}, false, failf(op, nil, "%q is not a commit", headSHA)
	}
	same := func(p PullRequest) bool { return p.HeadSHA == headSHA && sameRepo(p.HeadRepo, headRepo) }
	linked, err := s.ofCommit(ctx, r, headSHA)
	if err != nil {
		return PullRequest{}, false, err
	}
	linked = slices.DeleteFunc(linked, func(p PullRequest) bool { return !same(p) })
	found := slices.DeleteFunc(slices.Clone(linked), func(p PullRequest) bool { return p.State != "open" })
	owner, _, ok := strings.Cut(headRepo, "/")
	if len(found) == 0 && ok && headRef != "" {
		if found, err = s.ofHead(ctx, r, owner+":"+headRef); err != nil {
			return PullRequest{}, false, err
		}
		found = slices.DeleteFunc(found, func(p PullRequest) bool { return !same(p) })
	}
	if len(found) == 0 {
		found = linked // closed ones
	}
	switch len(found) {
	case 0:
		return PullRequest{}, false, nil
	case 1:
		return found[0], true, nil
	}
	return PullRequest{}, false, failf(op, ErrSeveral, "%d pull requests have this head", len(found))
}

// UpdateBranch merges the base of a pull request into its branch, if that is still at head. GitHub does
// so a moment later. A branch that has another head by then is no error.
func (s *PullRequestsService) UpdateBranch(ctx context.Context, r Repo, number int, head string) error {
	_, _, err := s.gh.PullRequests.UpdateBranch(ctx, r.Owner, r.Name, number, &github.PullRequestBranchUpdateOptions{ExpectedHeadSHA: &head})
	var accepted *github.AcceptedError
	if err == nil || errors.As(err, &accepted) {
		return nil
	}
	err = Wrap(fmt.Sprintf("update the branch of pull request %s#%d", r, number), err)
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusUnprocessableEntity {
		return err
	}
	if live, failed := s.Get(ctx, r, number); failed == nil && live.HeadSHA != head {
		return nil // updated by a request whose answer was lost, or by somebody else
	}
	return err
}

// ChangedFile is a file that a pull request changes.
type ChangedFile struct {
	Path, Was string // Was is the path before a rename
	Status    string // added, modified, removed, renamed, copied, changed or unchanged
	Patch     string // unified diff, "" of a binary file or a large diff
	Lines     int    // that were added or removed
}

// mostPages is how many pages of the files of a pull request are read, each of 100 in the order of
// their paths: those of workflows are among the first.
const mostPages = 3

// ChangedFiles lists the files that a pull request changes. whole is false if it changes more than are
// read.
func (s *PullRequestsService) ChangedFiles(ctx context.Context, r Repo, number int) (files []ChangedFile, whole bool, err error) {
	whole = true
	files, err = list(fmt.Sprintf("list the files of pull request %s#%d", r, number), func(o github.ListOptions) (page[ChangedFile], *github.Response, error) {
		l, res, err := s.gh.PullRequests.ListFiles(ctx, r.Owner, r.Name, number, &o)
		p := page[ChangedFile]{total: -1}
		for _, f := range l {
			p.items = append(p.items, ChangedFile{Path: f.GetFilename(), Was: f.GetPreviousFilename(), Status: f.GetStatus(), Patch: f.GetPatch(), Lines: f.GetAdditions() + f.GetDeletions()})
		}
		if res != nil {
			res.LastPage = min(res.LastPage, mostPages)
			if o.Page >= mostPages && res.NextPage != 0 {
				res.NextPage, whole = 0, false
			}
		}
		return p, res, err
	})
	return files, whole && err == nil, err
}

// OfCommit lists the pull requests that GitHub links with a commit, none where it does not know it.
func (s *PullRequestsService) OfCommit(ctx context.Context, r Repo, sha string) ([]PullRequest, error) {
	return s.ofCommit(ctx, r, sha)
}

// ofCommit returns none where GitHub does not know the commit.
func (s *PullRequestsService) ofCommit(ctx context.Context, r Repo, sha string) ([]PullRequest, error) {
	out, err := list("list the pull requests of "+sha, func(o github.ListOptions) (page[PullRequest], *github.Response, error) {
		l, res, err := s.gh.PullRequests.ListPullRequestsWithCommit(ctx, r.Owner, r.Name, sha, &o)
		return pullRequests(r, l), res, err
	})
	var e *Error
	if errors.As(err, &e) && (e.Kind == advice.Gone || e.Status == http.StatusUnprocessableEntity) {
		return nil, nil
	}
	return out, err
}

func (s *PullRequestsService) ofHead(ctx context.Context, r Repo, head string) ([]PullRequest, error) {
	return list("list the pull requests of "+head, func(o github.ListOptions) (page[PullRequest], *github.Response, error) {
		l, res, err := s.gh.PullRequests.List(ctx, r.Owner, r.Name, &github.PullRequestListOptions{State: "open", Head: head, ListOptions: o})
		return pullRequests(r, l), res, err
	})
}

func pullRequests(r Repo, l []*github.PullRequest) page[PullRequest] {
	p := page[PullRequest]{total: -1}
	for _, x := range l {
		p.items = append(p.items, pullRequest(r, x))
	}
	return p
}

func pullRequest(r Repo, p *github.PullRequest) PullRequest {
	out := PullRequest{Number: p.GetNumber(), HeadSHA: p.GetHead().GetSHA(), HeadRef: p.GetHead().GetRef(),
		HeadRepo: p.GetHead().GetRepo().GetFullName(), BaseSHA: p.GetBase().GetSHA(), BaseRef: p.GetBase().GetRef(),
		Author: p.GetUser().GetLogin(), Title: p.GetTitle(), State: p.GetState(), Draft: p.GetDraft(), Merged: p.GetMerged() || p.MergedAt != nil}
	out.Fork = !sameRepo(out.HeadRepo, r.String())
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

// ListOpen lists the open pull requests of a repository.
func (s *PullRequestsService) ListOpen(ctx context.Context, r Repo) ([]PullRequest, error) {
	return list("list the open pull requests of "+r.String(), func(o github.ListOptions) (page[PullRequest], *github.Response, error) {
		l, res, err := s.gh.PullRequests.List(ctx, r.Owner, r.Name, &github.PullRequestListOptions{State: "open", ListOptions: o})
		return pullRequests(r, l), res, err
	})
}
