package github

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// CommitsService compares commits.
type CommitsService struct{ *core }

// Contains reports whether commit head is base or has it among its ancestors.
// A commit that GitHub does not know, as after a push by force, contains
// nothing and is contained in nothing.
func (s *CommitsService) Contains(ctx context.Context, r Repo, base, head string) (bool, error) {
	if base == head {
		return base != "", nil
	}
	if !isSHA(base) || !isSHA(head) {
		return false, nil
	}
	c, _, err := s.gh.Repositories.CompareCommits(ctx, r.Owner, r.Name, base, head, &github.ListOptions{PerPage: 1})
	if err = Wrap(opf("compare %s with %s in %s", base, head, r), err); errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return c.GetStatus() == "ahead" || c.GetStatus() == "identical", nil
}

// MergeBase returns the merge base of base and head, which are branches or commits of r, or a
// commit of a fork that a pull request of r has, and when its commit was made.
func (s *CommitsService) MergeBase(ctx context.Context, r Repo, base, head string) (sha string, made time.Time, err error) {
	c, _, err := s.gh.Repositories.CompareCommits(ctx, r.Owner, r.Name, base, head, &github.ListOptions{PerPage: 1})
	if err != nil {
		return "", time.Time{}, Wrap(opf("compare %s with %s in %s", base, head, r), err)
	}
	at := c.GetMergeBaseCommit()
	return at.GetSHA(), at.GetCommit().GetCommitter().GetDate().Time, nil
}

// Commit is a commit among others.
type Commit struct {
	SHA     string
	Subject string   // first line of its message
	Parents []string // SHAs
}

// mostBetween is how many commits Between reads: those of one page.
const mostBetween = 100

// Between returns up to 100 commits that head has and base has not, oldest first, and the merge base of
// both. Where there are more, the newest are left out.
func (s *CommitsService) Between(ctx context.Context, r Repo, base, head string) (commits []Commit, mergeBase string, err error) {
	c, _, err := s.gh.Repositories.CompareCommits(ctx, r.Owner, r.Name, base, head, &github.ListOptions{PerPage: mostBetween})
	if err != nil {
		return nil, "", Wrap(opf("compare %s with %s in %s", base, head, r), err)
	}
	for _, x := range c.Commits {
		subject, _, _ := strings.Cut(x.GetCommit().GetMessage(), "\n")
		out := Commit{SHA: x.GetSHA(), Subject: subject}
		for _, p := range x.Parents {
			out.Parents = append(out.Parents, p.GetSHA())
		}
		commits = append(commits, out)
	}
	return commits, c.GetMergeBaseCommit().GetSHA(), nil
}

func isSHA(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}
