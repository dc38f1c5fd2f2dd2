package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/marker"
)

// IssueSpec is the wanted state of an issue. Title, labels and assignees are only set when the
// issue is created; later changes by people stay.
type IssueSpec struct {
	Title     string
	Body      markdown.Text
	Labels    []LabelSpec // Options.IssueLabel is added
	Assignees []string    // those GitHub refuses are left out

	// Write makes the body out of the one that stands there, and so keeps what
	// people ticked in it. nil: it is Body, whatever stands there.
	Write func(live string) markdown.Text
	// Who returns the assignees where Assignees is empty; it is asked only when
	// the issue is made. nil: nobody.
	Who func() []string
}

// Issue is an issue as the API returns it.
type Issue struct {
	Number             int
	URL, Title, Body   string
	State, StateReason string // open or closed; completed, not_planned, reopened …
	Author, ClosedBy   string
	ClosedByBot        bool // closed, and by the bot itself
	Labels             []string
	CreatedAt          time.Time
	UpdatedAt          time.Time
	ClosedAt           time.Time
}

// IssuesService files, reads and changes issues. An issue of the bot has a marker on its last line,
// by whose key it is found again.
type IssuesService struct {
	*core
	comments *CommentsService
	filer    *issueFiler
}

// Get reads one issue. A transferred or deleted one is ErrMoved.
func (s *IssuesService) Get(ctx context.Context, r Repo, number int) (Issue, error) {
	op := opf("read issue %s#%d", r, number)
	login, err := s.botLogin(ctx)
	if err != nil {
		return Issue{}, Wrap(op, err)
	}
	i, _, err := s.gh.Issues.Get(ctx, r.Owner, r.Name, number)
	if err != nil {
		return Issue{}, moved(Wrap(op, err))
	}
	return issueOf(i, login), nil
}

// GetJSON returns the JSON of an issue or pull request, as an event about an issue contains it.
func (s *IssuesService) GetJSON(ctx context.Context, r Repo, number int) (json.RawMessage, error) {
	var out json.RawMessage
	_, err := s.read(ctx, fmt.Sprintf("read %s#%d", r, number), fmt.Sprintf("repos/%s/issues/%d", r, number), &out)
	return out, err
}

// Upsert updates the body of the bot's issue with marker's key to spec.Body, and creates the
// issue if there is none. ref is its number if known, or ""; then it is searched for among all
// issues with the label Options.IssueLabel, never with the search API. If the listing fails or is
// incomplete no issue is created. A known issue that was transferred or deleted is ErrMoved: the
// caller decides whether to create another. A closed issue stays closed.
func (s *IssuesService) Upsert(ctx context.Context, r Repo, mark string, spec IssueSpec, ref string) (issue Issue, created bool, err error) {
	op := opf("issue %q in %s", spec.Title, r)
	m, body, err := seal(op, mark, spec.Body)
	if err != nil {
		return Issue{}, false, err
	}
	spec.Body = markdown.Text(body)
	known, err := s.known(ctx, r, m, ref)
	if err != nil {
		return Issue{}, false, Wrap(op, err)
	}
	if known != nil {
		issue, err = s.bring(ctx, r, *known, mark, spec)
		return issue, false, Wrap(op, err)
	}
	issue, created, err = s.findOrFile(ctx, r, m, mark, spec)
	return issue, created, Wrap(op, err)
}

// known returns nil if ref is empty or names somebody else's issue.
func (s *IssuesService) known(ctx context.Context, r Repo, m marker.Marker, ref string) (*Issue, error) {
	n, err := strconv.Atoi(ref)
	if err != nil || n <= 0 {
		return nil, nil
	}
	i, err := s.Get(ctx, r, n)
	if err != nil {
		return nil, err
	}
	login, err := s.botLogin(ctx)
	if err != nil {
		return nil, err
	}
	have, ok := marker.Parse(i.Body)
	if ok && !sameKey(have.Key, m.Key) || !s.mine(i.Author, login) {
		return nil, nil
	}
	return &i, nil
}

func (s *IssuesService) findOrFile(ctx context.Context, r Repo, m marker.Marker, mark string, spec IssueSpec) (Issue, bool, error) {
	for n := 1; ; n++ {
		mine, err := s.own(ctx, r, m)
		if err != nil {
			return Issue{}, false, err
		}
		if len(mine) > 0 {
			i, err := s.keepOne(ctx, r, mine, mark, spec)
			return i, n > 1, err
		}
		i, err := s.filer.file(ctx, r, spec)
		if err == nil {
			return i, true, nil
		}
		if !Ambiguous(err) || n == tries || ctx.Err() != nil {
			return Issue{}, false, err
		}
		if err := s.o.Sleep(ctx, settle); err != nil {
			return Issue{}, false, err
		}
	}
}

// Find looks for the bot's issue with marker's key among all issues with
// the label Options.IssueLabel, an open one before a closed one.
func (s *IssuesService) Find(ctx context.Context, r Repo, mark string) (issue Issue, found bool, err error) {
	op := opf("find the issue of %s in %s", mark, r)
	m, ok := marker.Parse(mark)
	if !ok {
		return Issue{}, false, failf(op, nil, "%q is not a mark", mark)
	}
	mine, err := s.own(ctx, r, m)
	if err != nil || len(mine) == 0 {
		return Issue{}, false, Wrap(op, err)
	}
	return mine[0], true, nil
}

// own lists the bot's issues with m's key, open ones first, then oldest.
func (s *IssuesService) own(ctx context.Context, r Repo, m marker.Marker) ([]Issue, error) {
	login, err := s.botLogin(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list("list issues", func(o github.ListOptions) (page[*github.Issue], *github.Response, error) {
		l, res, err := s.gh.Issues.ListByRepo(ctx, r.Owner, r.Name, &github.IssueListByRepoOptions{State: "all",
			Labels: []string{s.o.IssueLabel}, Sort: "created", Direction: "asc", ListOptions: o})
		return page[*github.Issue]{items: l, total: -1}, res, err
	})
	if err != nil {
		return nil, err
	}
	var mine []Issue
	for _, x := range all {
		have, ok := marker.Parse(x.GetBody())
		if ok && have.Key == m.Key && s.mine(x.GetUser().GetLogin(), login) && !x.IsPullRequest() && (candidate{have, x.GetCreatedAt().Time}).issue(m) {
			mine = append(mine, issueOf(x, login))
		}
	}
	slices.SortFunc(mine, func(a, b Issue) int {
		if (a.State == "open") != (b.State == "open") {
			return cmp.Compare(b.State, a.State) // "open" > "closed"
		}
		return cmp.Compare(a.Number, b.Number)
	})
	return slices.CompactFunc(mine, func(a, b Issue) bool { return a.Number == b.Number }), nil
}

// keepOne updates the body of the first of the bot's issues and closes the other open ones as
// duplicates.
func (s *IssuesService) keepOne(ctx context.Context, r Repo, mine []Issue, mark string, spec IssueSpec) (Issue, error) {
	for _, dup := range mine[1:] {
		if dup.State != "open" {
			continue
		}
		if err := s.setState(ctx, r, dup.Number, "closed", "not_planned"); err != nil {
			return Issue{}, err
		}
	}
	keep := mine[0]
	if keep.State != "open" { // a listing does not say who closed it
		i, err := s.Get(ctx, r, keep.Number)
		if err != nil {
			return Issue{}, err
		}
		keep = i
	}
	return s.bring(ctx, r, keep, mark, spec)
}

// bring replaces i's body unless i is up to date or newer.
func (s *IssuesService) bring(ctx context.Context, r Repo, i Issue, mark string, spec IssueSpec) (Issue, error) {
	write := spec.Write
	if write == nil {
		write = func(string) markdown.Text { return spec.Body }
	}
	e := bodyEdit{mark: mark, write: write, verify: spec.Write != nil, replaces: func(m marker.Marker, live, body string) bool {
		have, _ := marker.Parse(live)
		return replaces(m, have.Gen, live, body)
	}}
	i, _, err := e.apply(ctx, s, r, i)
	return i, err
}

// Rewrite replaces the body of an issue of the bot by the result of write, with marker below
// it. Unlike Upsert it also changes a body of marker's own generation; one of a newer
// generation stays.
func (s *IssuesService) Rewrite(ctx context.Context, r Repo, number int, mark string, write func(live string) markdown.Text) (issue Issue, changed bool, err error) {
	op := opf("write issue %s#%d", r, number)
	i, err := s.Get(ctx, r, number)
	if err != nil {
		return i, false, Wrap(op, err)
	}
	if login, err := s.botLogin(ctx); err != nil {
		return i, false, Wrap(op, err)
	} else if !s.mine(i.Author, login) {
		return i, false, failf(op, nil, "it is %s's, not the bot's", i.Author)
	}
	e := bodyEdit{mark: mark, write: write, verify: true, replaces: func(m marker.Marker, live, body string) bool {
		have, _ := marker.Parse(live)
		return m.Gen >= given(m, have.Gen, time.Now()) && !sameText(live, body)
	}}
	i, changed, err = e.apply(ctx, s, r, i)
	return i, changed, Wrap(op, err)
}

// Close closes an issue of the bot and comments why, once. It changes nothing about a closed
// issue.
func (s *IssuesService) Close(ctx context.Context, r Repo, number int, comment markdown.Text, mark string) (closed bool, err error) {
	return s.CloseAs(ctx, r, number, "completed", comment, mark)
}

// CloseAs is Close with a state reason: completed or not_planned.
func (s *IssuesService) CloseAs(ctx context.Context, r Repo, number int, reason string, comment markdown.Text, mark string) (closed bool, err error) {
	err = s.turn(ctx, r, number, "closed", reason, comment, mark, &closed)
	return closed, Wrap(opf("close issue %s#%d", r, number), err)
}

// Reopen is the inverse of Close. The caller decides whether the issue may be reopened,
// for instance not after a person closed it.
func (s *IssuesService) Reopen(ctx context.Context, r Repo, number int, comment markdown.Text, mark string) (reopened bool, err error) {
	err = s.turn(ctx, r, number, "open", "reopened", comment, mark, &reopened)
	return reopened, Wrap(opf("reopen issue %s#%d", r, number), err)
}

// turn comments first: after a crash in between it finds the comment and continues.
func (s *IssuesService) turn(ctx context.Context, r Repo, number int, state, reason string, comment markdown.Text, mark string, done *bool) error {
	i, err := s.Get(ctx, r, number)
	if err != nil || i.State == state {
		return err
	}
	if login, err := s.botLogin(ctx); err != nil {
		return err
	} else if !s.mine(i.Author, login) {
		return failf("", nil, "it is %s's, not the bot's", i.Author)
	}
	if comment != "" {
		if _, _, err := s.comments.PostOnce(ctx, r, number, mark, comment, false); err != nil {
			return err
		}
	}
	err = s.setState(ctx, r, number, state, reason)
	*done = err == nil
	return err
}

func (s *IssuesService) setState(ctx context.Context, r Repo, number int, state, reason string) error {
	_, _, err := s.gh.Issues.Edit(ctx, r.Owner, r.Name, number, &github.IssueRequest{State: &state, StateReason: &reason})
	return moved(Wrap("set state", err))
}

func issueOf(i *github.Issue, login string) Issue {
	out := Issue{Number: i.GetNumber(), URL: i.GetHTMLURL(), Title: i.GetTitle(), Body: i.GetBody(), State: i.GetState(), StateReason: i.GetStateReason(),
		Author: i.GetUser().GetLogin(), ClosedBy: i.GetClosedBy().GetLogin(), CreatedAt: i.GetCreatedAt().Time, UpdatedAt: i.GetUpdatedAt().Time, ClosedAt: i.GetClosedAt().Time}
	out.ClosedByBot = out.State == "closed" && own(i.ClosedBy, login)
	for _, l := range i.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}
