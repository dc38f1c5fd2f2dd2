package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/marker"
)

// settle is how long GitHub may take to show a post that it did not confirm.
const settle = 2 * time.Second

// CommentsService posts and reads comments on issues and pull requests. A comment of the bot has a
// marker on its last line, by whose key it is found again.
type CommentsService struct{ *core }

// Upsert creates or updates the bot's comment with marker's key on an issue or pull request
// and returns its id. ref is that id if known, or ""; a deleted comment is searched for in the
// listing. It only considers comments of the bot whose last line is a marker with the key; of
// several the oldest stays. A comment of the same or a newer generation is not changed. If the
// listing fails or is incomplete nothing is posted.
func (s *CommentsService) Upsert(ctx context.Context, r Repo, issue int, mark string, text markdown.Text, ref string) (id string, changed bool, err error) {
	op := opf("comment on %s#%d", r, issue)
	m, body, err := seal(op, mark, text)
	if err != nil {
		return "", false, err
	}
	if ref != "" {
		c, err := s.known(ctx, r, issue, m, ref)
		if err == nil && c != nil {
			changed, err := s.bring(ctx, r, c, m, body)
			if kind := advice.Of(err).Kind; kind != advice.Gone {
				return ref, changed, Wrap(op, err)
			}
		} else if err != nil {
			return "", false, Wrap(op, err)
		}
	}
	mine, c, err := s.findOrPost(ctx, r, issue, m, body, false)
	if err != nil || len(mine) == 0 {
		return refOf(c), c != nil, Wrap(op, err)
	}
	id, changed, err = s.collapse(ctx, r, mine, m, body)
	return id, changed || c != nil, Wrap(op, err)
}

// Revise is Upsert that does not create a comment; found reports whether it exists.
func (s *CommentsService) Revise(ctx context.Context, r Repo, issue int, mark string, text markdown.Text) (found bool, err error) {
	op := opf("comment on %s#%d", r, issue)
	m, body, err := seal(op, mark, text)
	if err != nil {
		return false, err
	}
	mine, err := s.own(ctx, r, issue, m)
	if err != nil || len(mine) == 0 {
		return false, Wrap(op, err)
	}
	_, _, err = s.collapse(ctx, r, mine, m, body)
	return true, Wrap(op, err)
}

// PostOnce posts text unless the bot has already posted a comment with marker's key. With fresh the
// caller knows that it has not, which saves the listing.
func (s *CommentsService) PostOnce(ctx context.Context, r Repo, issue int, mark string, text markdown.Text, fresh bool) (id string, posted bool, err error) {
	op := opf("comment on %s#%d", r, issue)
	m, body, err := seal(op, mark, text)
	if err != nil {
		return "", false, err
	}
	mine, c, err := s.findOrPost(ctx, r, issue, m, body, fresh)
	if err != nil {
		return "", false, Wrap(op, err)
	}
	if len(mine) > 0 {
		if c != nil { // posted under a login whose older posts were overlooked
			_, err = s.gh.Issues.DeleteComment(ctx, r.Owner, r.Name, c.GetID())
		}
		return refOf(mine[0]), false, Wrap(op, err)
	}
	if fresh {
		return refOf(c), true, nil
	}
	first, err := s.keepFirst(ctx, r, issue, m, c)
	return refOf(first), first.GetID() == c.GetID(), Wrap(op, err)
}

// keepFirst checks whether another process posted the same comment at the same time, and deletes
// all but the oldest. The last one to post sees every post, so exactly one remains, whatever the
// order of the requests.
func (s *CommentsService) keepFirst(ctx context.Context, r Repo, issue int, m marker.Marker, c *github.IssueComment) (*github.IssueComment, error) {
	mine, err := s.own(ctx, r, issue, m)
	if err != nil || len(mine) < 2 {
		return c, err
	}
	for _, x := range mine[1:] {
		_, err := s.gh.Issues.DeleteComment(ctx, r.Owner, r.Name, x.GetID())
		if kind := advice.Of(Wrap("", err)).Kind; err != nil && kind != advice.Gone {
			return c, Wrap("delete the second of a post", err)
		}
	}
	return mine[0], nil
}

// findOrPost returns the bot's comments with m's key, oldest first, or, if there are none, the one
// it posted. After a post with an unknown result it reads again before it posts again. It returns
// both if the bot turns out to have a different login, under which it had posted before.
func (s *CommentsService) findOrPost(ctx context.Context, r Repo, issue int, m marker.Marker, body string, fresh bool) ([]*github.IssueComment, *github.IssueComment, error) {
	for n := 1; ; n++ {
		if !fresh || n > 1 {
			mine, err := s.own(ctx, r, issue, m)
			switch {
			case err != nil:
				return nil, nil, err
			case len(mine) == 1 && n > 1:
				return nil, mine[0], nil // the post of unknown outcome
			case len(mine) > 0:
				return mine, nil, nil
			}
		}
		c, _, err := s.gh.Issues.CreateComment(ctx, r.Owner, r.Name, issue, &github.IssueComment{Body: &body})
		if err == nil {
			return s.confirm(ctx, r, issue, m, c)
		}
		if err = Wrap("post", err); !Ambiguous(err) || n == tries || ctx.Err() != nil {
			return nil, nil, err
		}
		if err := s.o.Sleep(ctx, settle); err != nil {
			return nil, nil, err
		}
	}
}

// confirm learns the bot's login from a new comment. If another login was assumed, the older
// comments were missed.
func (s *CommentsService) confirm(ctx context.Context, r Repo, issue int, m marker.Marker, c *github.IssueComment) ([]*github.IssueComment, *github.IssueComment, error) {
	known := s.knownLogin()
	if known == "" || c.GetUser().GetLogin() == "" || own(c.GetUser(), known) {
		return nil, c, nil
	}
	s.o.Log.Warn("posts appear under another login", "expected", known, "login", c.GetUser().GetLogin())
	s.learn(c.GetUser().GetLogin())
	mine, err := s.own(ctx, r, issue, m)
	if err != nil || len(mine) <= 1 {
		return nil, c, err
	}
	return mine, c, nil
}

// PostSeldom is PostOnce that also posts nothing if the bot posted a comment after since whose
// marker's key begins with prefix.
func (s *CommentsService) PostSeldom(ctx context.Context, r Repo, issue int, mark string, text markdown.Text, prefix string, since time.Time) (posted bool, err error) {
	recent, err := s.listOwn(ctx, r, issue, since, func(m marker.Marker, c *github.IssueComment) bool {
		return strings.HasPrefix(m.Key, prefix) && c.GetCreatedAt().After(since)
	})
	if err != nil || len(recent) > 0 {
		return false, Wrap(opf("comment on %s#%d", r, issue), err)
	}
	_, posted, err = s.PostOnce(ctx, r, issue, mark, text, false)
	return posted, err
}

// own lists the bot's comments with m's key, oldest first.
func (s *CommentsService) own(ctx context.Context, r Repo, issue int, m marker.Marker) ([]*github.IssueComment, error) {
	return s.listOwn(ctx, r, issue, time.Time{}, func(have marker.Marker, c *github.IssueComment) bool {
		return have.Key == m.Key && candidate{have, c.GetCreatedAt().Time}.comment(ctx, m)
	})
}

// listOwn lists the bot's comments that have a marker and match, oldest first; with since only
// those changed after it.
func (s *CommentsService) listOwn(ctx context.Context, r Repo, issue int, since time.Time, match func(marker.Marker, *github.IssueComment) bool) ([]*github.IssueComment, error) {
	login, err := s.botLogin(ctx)
	if err != nil {
		return nil, err
	}
	opt := func(o github.ListOptions) *github.IssueListCommentsOptions {
		if since.IsZero() {
			return &github.IssueListCommentsOptions{ListOptions: o}
		}
		return &github.IssueListCommentsOptions{Since: &since, ListOptions: o}
	}
	all, err := list("list comments", func(o github.ListOptions) (page[*github.IssueComment], *github.Response, error) {
		l, res, err := s.gh.Issues.ListComments(ctx, r.Owner, r.Name, issue, opt(o))
		return page[*github.IssueComment]{items: l, total: -1}, res, err
	})
	if err != nil {
		return nil, err
	}
	mine := slices.DeleteFunc(all, func(c *github.IssueComment) bool {
		have, ok := marker.Parse(c.GetBody())
		return !ok || !match(have, c) || !s.mine(c.GetUser().GetLogin(), login)
	})
	slices.SortFunc(mine, func(a, b *github.IssueComment) int { return int(a.GetID() - b.GetID()) })
	return slices.CompactFunc(mine, func(a, b *github.IssueComment) bool { return a.GetID() == b.GetID() }), nil
}

// known reads the comment that the ledger knows. It is nil if the comment was deleted, is
// not the bot's, or belongs to another issue or key. A comment without a marker is still the bot's:
// somebody removed the marker.
func (s *CommentsService) known(ctx context.Context, r Repo, issue int, m marker.Marker, ref string) (*github.IssueComment, error) {
	id, err := number("read comment", ref)
	if err != nil {
		return nil, nil // not a reference: as if it were unknown
	}
	login, err := s.botLogin(ctx)
	if err != nil {
		return nil, err
	}
	c, _, err := s.gh.Issues.GetComment(ctx, r.Owner, r.Name, id)
	if err = Wrap("read comment", err); errors.Is(err, ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	have, ok := marker.Parse(c.GetBody())
	if ok && !sameKey(have.Key, m.Key) || !s.mine(c.GetUser().GetLogin(), login) || !strings.HasSuffix(c.GetIssueURL(), "/"+strconv.Itoa(issue)) {
		return nil, nil
	}
	return c, nil
}

// bring replaces c's body by body unless c is up to date or newer.
func (s *CommentsService) bring(ctx context.Context, r Repo, c *github.IssueComment, m marker.Marker, body string) (bool, error) {
	have, _ := marker.Parse(c.GetBody())
	if !replaces(m, have.Gen, c.GetBody(), body) {
		return false, nil
	}
	_, _, err := s.gh.Issues.EditComment(ctx, r.Owner, r.Name, c.GetID(), &github.IssueComment{Body: &body})
	return err == nil, Wrap("edit", err)
}

// collapse keeps the oldest of the bot's comments, with body, and deletes the others. If one of
// them is newer than body it changes nothing: the run that wrote it handles them.
func (s *CommentsService) collapse(ctx context.Context, r Repo, mine []*github.IssueComment, m marker.Marker, body string) (id string, changed bool, err error) {
	for _, c := range mine {
		if have, _ := marker.Parse(c.GetBody()); have.Gen > m.Gen {
			return refOf(c), false, nil
		}
	}
	changed, err = s.bring(ctx, r, mine[0], m, body)
	if err != nil {
		return "", false, err
	}
	for _, c := range mine[1:] {
		_, err := s.gh.Issues.DeleteComment(ctx, r.Owner, r.Name, c.GetID())
		if err = Wrap("delete a duplicate", err); err != nil && !errors.Is(err, ErrNotFound) {
			return "", changed, err
		}
		changed = true
	}
	return refOf(mine[0]), changed, nil
}

func refOf(c *github.IssueComment) string {
	if c == nil {
		return ""
	}
	return strconv.FormatInt(c.GetID(), 10)
}

// PostedComment is a comment on an issue or pull request, with its JSON.
type PostedComment struct {
	ID      int64
	Issue   int // number
	Body    string
	ByBot   bool
	Created time.Time
	Updated time.Time
	Author  json.RawMessage
	JSON    json.RawMessage
}

// ListSince lists a page, from 1, of the comments on all issues and pull requests of a
// repository that were created or changed at or after a time, the least recently changed first.
// Next is 0 on the last page.
func (s *CommentsService) ListSince(ctx context.Context, r Repo, since time.Time, page int) (comments []PostedComment, next int, err error) {
	op := "list the new comments of " + r.String()
	q := url.Values{"since": {since.UTC().Format(time.RFC3339)}, "sort": {"updated"}, "direction": {"asc"}, "per_page": {"100"}, "page": {strconv.Itoa(page)}}
	var l []json.RawMessage
	res, err := s.read(ctx, op, fmt.Sprintf("repos/%s/issues/comments?%s", r, q.Encode()), &l)
	if err != nil {
		return nil, 0, err
	}
	for _, raw := range l {
		var x github.IssueComment
		var author struct{ User json.RawMessage }
		if err := json.Unmarshal(raw, &x); err != nil {
			return nil, 0, failf(op, nil, "%v", err)
		}
		_ = json.Unmarshal(raw, &author) // it was read just now
		number, err := strconv.Atoi(lastOf(x.GetIssueURL()))
		if err != nil {
			return nil, 0, failf(op, nil, "comment %d is on %q", x.GetID(), x.GetIssueURL())
		}
		comments = append(comments, PostedComment{ID: x.GetID(), Issue: number, Body: x.GetBody(), ByBot: x.GetUser().GetType() == "Bot",
			Created: x.GetCreatedAt().Time, Updated: x.GetUpdatedAt().Time, Author: author.User, JSON: raw})
	}
	return comments, res.NextPage, nil
}

func lastOf(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '/' {
			return address[i+1:]
		}
	}
	return address
}

// MarkedComment is a comment that ends in a marker, whoever wrote it.
type MarkedComment struct {
	ID          int64
	Login, Body string
}

// Marked lists the comments on an issue or pull request that end in a marker, oldest first.
func (s *CommentsService) Marked(ctx context.Context, r Repo, issue int) ([]MarkedComment, error) {
	all, err := list(opf("list the comments of %s#%d", r, issue), func(o github.ListOptions) (page[*github.IssueComment], *github.Response, error) {
		l, res, err := s.gh.Issues.ListComments(ctx, r.Owner, r.Name, issue, &github.IssueListCommentsOptions{ListOptions: o})
		return page[*github.IssueComment]{items: l, total: -1}, res, err
	})
	var out []MarkedComment
	for _, c := range all {
		if _, ok := marker.Parse(c.GetBody()); ok {
			out = append(out, MarkedComment{c.GetID(), c.GetUser().GetLogin(), c.GetBody()})
		}
	}
	return out, err
}

// React puts the reaction +1 on a comment of an issue or pull request. One of
// the bot's that is there already stays as it is.
func (s *CommentsService) React(ctx context.Context, r Repo, comment int64) error {
	_, _, err := s.gh.Reactions.CreateIssueCommentReaction(ctx, r.Owner, r.Name, comment, "+1")
	return Wrap(opf("react to comment %d of %s", comment, r), err)
}
