package github

import (
	"context"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// AcksService finds out whether somebody acknowledged what a comment told.
type AcksService struct{ *core }

// Acknowledgement is an answer to being told.
type Acknowledgement struct {
	Login    string
	Reaction bool      // it is a reaction to the comment that told, and else a comment
	At       time.Time // of a comment; GitHub's list of reactions has no times
}

// Find returns the reaction of a login to a comment on an issue or pull request, or its first comment
// there since a time, and false if there is neither. A comment of 0 is none. The bot of an App named
// login counts as login.
func (s *AcksService) Find(ctx context.Context, r Repo, issue int, comment int64, login string, since time.Time) (Acknowledgement, bool, error) {
	op := opf("look for an answer of %s on %s#%d", login, r, issue)
	if comment > 0 {
		all, err := list(op, func(o github.ListOptions) (page[*github.Reaction], *github.Response, error) {
			l, res, err := s.gh.Reactions.ListIssueCommentReactions(ctx, r.Owner, r.Name, comment, &o)
			return page[*github.Reaction]{items: l, total: -1}, res, err
		})
		if err != nil {
			return Acknowledgement{}, false, err
		}
		for _, x := range all {
			if SameLogin(x.GetUser().GetLogin(), login) {
				return Acknowledgement{Login: x.GetUser().GetLogin(), Reaction: true}, true, nil
			}
		}
	}
	since = since.UTC().Truncate(time.Second)
	all, err := list(op, func(o github.ListOptions) (page[*github.IssueComment], *github.Response, error) {
		l, res, err := s.gh.Issues.ListComments(ctx, r.Owner, r.Name, issue, &github.IssueListCommentsOptions{Since: &since, ListOptions: o})
		return page[*github.IssueComment]{items: l, total: -1}, res, err
	})
	if err != nil {
		return Acknowledgement{}, false, err
	}
	for _, x := range all {
		if at := x.GetCreatedAt().Time; SameLogin(x.GetUser().GetLogin(), login) && !at.Before(since) {
			return Acknowledgement{Login: x.GetUser().GetLogin(), At: at}, true, nil
		}
	}
	return Acknowledgement{}, false, nil
}

// SameLogin reports whether an author is a configured login, or the bot of the App of that name.
func SameLogin(author, login string) bool {
	login = strings.TrimPrefix(login, "@")
	return login != "" && (strings.EqualFold(author, login) || strings.EqualFold(author, login+"[bot]"))
}
