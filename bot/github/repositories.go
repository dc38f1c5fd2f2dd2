package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// RepositoriesService reads repositories themselves.
type RepositoriesService struct{ *core }

// GetByID returns the name a repository has now, whatever it was called
// before. It is ErrNotFound for one that is gone or that the token may not see.
func (s *RepositoriesService) GetByID(ctx context.Context, id int64) (Repo, error) {
	op := fmt.Sprintf("read repository %d", id)
	x, _, err := s.gh.Repositories.GetByID(ctx, id)
	if err != nil {
		return Repo{}, Wrap(op, err)
	}
	r, err := ParseRepo(x.GetFullName())
	if err != nil {
		return Repo{}, failf(op, nil, "%v", err)
	}
	return r, nil
}

// Absent returns err, an error of something in a repository. If that is not there, it
// asks for the repository itself: while there is none for this identity, as where the
// App was taken from it, nothing can be said of what is in it, and the error is
// ErrAbsent. If GitHub does not say, it is the error of the question.
func (s *RepositoriesService) Absent(ctx context.Context, r Repo, err error) error {
	if kind := advice.Of(err).Kind; kind != advice.Gone && !errors.Is(err, ErrMoved) || errors.Is(err, ErrAbsent) {
		return err
	}
	_, _, asked := s.gh.Repositories.Get(ctx, r.Owner, r.Name)
	asked = Wrap("look for "+r.String(), asked)
	var e *Error
	if errors.Is(asked, ErrNotFound) && errors.As(asked, &e) {
		c := *e
		c.err = ErrAbsent
		return &c
	}
	if asked != nil {
		return asked
	}
	return err
}

// DefaultBranch returns the name of a repository's default branch.
func (s *RepositoriesService) DefaultBranch(ctx context.Context, r Repo) (string, error) {
	x, _, err := s.gh.Repositories.Get(ctx, r.Owner, r.Name)
	return x.GetDefaultBranch(), Wrap(opf("read repository %s", r), err)
}

// InstalledRepo is a repository of an installation.
type InstalledRepo struct {
	ID            int64
	Repo          Repo
	DefaultBranch string
}

// ListInstalled lists the repositories of this installation in which anything
// can happen: none that is archived or disabled.
func (s *RepositoriesService) ListInstalled(ctx context.Context) ([]InstalledRepo, error) {
	all, err := list("list the repositories of the installation", func(o github.ListOptions) (page[*github.Repository], *github.Response, error) {
		l, res, err := s.gh.Apps.ListRepos(ctx, &o)
		if err != nil {
			return page[*github.Repository]{}, res, err
		}
		return page[*github.Repository]{items: l.Repositories, total: total(l.TotalCount)}, res, nil
	})
	var out []InstalledRepo
	for _, x := range all {
		r, perr := ParseRepo(x.GetFullName())
		if perr == nil && !x.GetArchived() && !x.GetDisabled() {
			out = append(out, InstalledRepo{ID: x.GetID(), Repo: r, DefaultBranch: x.GetDefaultBranch()})
		}
	}
	return out, err
}
