package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
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

// Issue reads one issue. A transferred or deleted one is ErrMoved.
func (h *Client) Issue(ctx context.Context, r Repo, number int) (Issue, error) {
	op := opf("read issue %s#%d", r, number)
	login, err := h.Login(ctx)
	if err != nil {
		return Issue{}, Wrap(op, err)
	}
	i, _, err := h.gh.Issues.Get(ctx, r.Owner, r.Name, number)
	if err != nil {
		return Issue{}, moved(Wrap(op, err))
	}
	return issueOf(i, login), nil
}

// UpsertIssue updates the body of the bot's issue with marker's key to spec.Body, and creates the
// issue if there is none. ref is its number if known, or ""; then it is searched for among all
// issues with the label Options.IssueLabel, never with the search API. If the listing fails or is
// incomplete no issue is created. A known issue that was transferred or deleted is ErrMoved: the
// caller decides whether to create another. A closed issue stays closed.
func (h *Client) UpsertIssue(ctx context.Context, r Repo, mark string, spec IssueSpec, ref string) (issue Issue, created bool, err error) {
	op := opf("issue %q in %s", spec.Title, r)
	m, body, err := seal(op, mark, spec.Body)
	if err != nil {
		return Issue{}, false, err
	}
	spec.Body = markdown.Text(body)
	known, err := h.knownIssue(ctx, r, m, ref)
	if err != nil {
		return Issue{}, false, Wrap(op, err)
	}
	if known != nil {
		issue, err = h.bringIssue(ctx, r, *known, mark, spec)
		return issue, false, Wrap(op, err)
	}
	issue, created, err = h.findOrFile(ctx, r, m, mark, spec)
	return issue, created, Wrap(op, err)
}

// knownIssue returns nil if ref is empty or names somebody else's issue.
func (h *Client) knownIssue(ctx context.Context, r Repo, m marker.Marker, ref string) (*Issue, error) {
	n, err := strconv.Atoi(ref)
	if err != nil || n <= 0 {
		return nil, nil
	}
	i, err := h.Issue(ctx, r, n)
	if err != nil {
		return nil, err
	}
	login, err := h.Login(ctx)
	if err != nil {
		return nil, err
	}
	have, ok := marker.Parse(i.Body)
	if ok && !sameKey(have.Key, m.Key) || !h.mine(i.Author, login) {
		return nil, nil
	}
	return &i, nil
}

func (h *Client) findOrFile(ctx context.Context, r Repo, m marker.Marker, mark string, spec IssueSpec) (Issue, bool, error) {
	for n := 1; ; n++ {
		mine, err := h.ownIssues(ctx, r, m)
		if err != nil {
			return Issue{}, false, err
		}
		if len(mine) > 0 {
			i, err := h.keepOne(ctx, r, mine, mark, spec)
			return i, n > 1, err
		}
		i, err := h.file(ctx, r, spec)
		if err == nil {
			return i, true, nil
		}
		if !Ambiguous(err) || n == tries || ctx.Err() != nil {
			return Issue{}, false, err
		}
		if err := h.o.Sleep(ctx, settle); err != nil {
			return Issue{}, false, err
		}
	}
}

// FindIssue looks for the bot's issue with marker's key among all issues with
// the label Options.IssueLabel, an open one before a closed one.
func (h *Client) FindIssue(ctx context.Context, r Repo, mark string) (issue Issue, found bool, err error) {
	op := opf("find the issue of %s in %s", mark, r)
	m, ok := marker.Parse(mark)
	if !ok {
		return Issue{}, false, failf(op, nil, "%q is not a mark", mark)
	}
	mine, err := h.ownIssues(ctx, r, m)
	if err != nil || len(mine) == 0 {
		return Issue{}, false, Wrap(op, err)
	}
	return mine[0], true, nil
}

// ownIssues lists the bot's issues with m's key, open ones first, then oldest.
func (h *Client) ownIssues(ctx context.Context, r Repo, m marker.Marker) ([]Issue, error) {
	login, err := h.Login(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list("list issues", func(o github.ListOptions) (page[*github.Issue], *github.Response, error) {
		l, res, err := h.gh.Issues.ListByRepo(ctx, r.Owner, r.Name, &github.IssueListByRepoOptions{State: "all",
			Labels: []string{h.o.IssueLabel}, Sort: "created", Direction: "asc", ListOptions: o})
		return page[*github.Issue]{items: l, total: -1}, res, err
	})
	if err != nil {
		return nil, err
	}
	var mine []Issue
	for _, x := range all {
		have, ok := marker.Parse(x.GetBody())
		if ok && have.Key == m.Key && h.mine(x.GetUser().GetLogin(), login) && !x.IsPullRequest() {
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
func (h *Client) keepOne(ctx context.Context, r Repo, mine []Issue, mark string, spec IssueSpec) (Issue, error) {
	for _, dup := range mine[1:] {
		if dup.State != "open" {
			continue
		}
		if err := h.setState(ctx, r, dup.Number, "closed", "not_planned"); err != nil {
			return Issue{}, err
		}
	}
	keep := mine[0]
	if keep.State != "open" { // a listing does not say who closed it
		i, err := h.Issue(ctx, r, keep.Number)
		if err != nil {
			return Issue{}, err
		}
		keep = i
	}
	return h.bringIssue(ctx, r, keep, mark, spec)
}

// bringIssue replaces i's body unless i is up to date or newer.
func (h *Client) bringIssue(ctx context.Context, r Repo, i Issue, mark string, spec IssueSpec) (Issue, error) {
	write := spec.Write
	if write == nil {
		write = func(string) markdown.Text { return spec.Body }
	}
	i, _, err := h.rewrite(ctx, r, i, mark, write, func(m marker.Marker, live, body string) bool {
		have, _ := marker.Parse(live)
		return replaces(m, have.Gen, live, body)
	}, spec.Write != nil)
	return i, err
}

// RewriteIssue replaces the body of an issue of the bot by the result of write, with marker below
// it. Unlike UpsertIssue it also changes a body of marker's own generation; one of a newer
// generation stays.
func (h *Client) RewriteIssue(ctx context.Context, r Repo, number int, mark string, write func(live string) markdown.Text) (issue Issue, changed bool, err error) {
	op := opf("write issue %s#%d", r, number)
	i, err := h.Issue(ctx, r, number)
	if err != nil {
		return i, false, Wrap(op, err)
	}
	if login, err := h.Login(ctx); err != nil {
		return i, false, Wrap(op, err)
	} else if !h.mine(i.Author, login) {
		return i, false, failf(op, nil, "it is %s's, not the bot's", i.Author)
	}
	i, changed, err = h.rewrite(ctx, r, i, mark, write, func(m marker.Marker, live, body string) bool {
		have, _ := marker.Parse(live)
		return m.Gen >= have.Gen && !sameText(live, body)
	}, true)
	return i, changed, Wrap(op, err)
}

// rewrite is the only place that changes the body of an issue. GitHub has no conditional edit, so
// another write can happen in between: with look the body is read again, and if another write
// replaced ours, the body is computed again from that one, once.
func (h *Client) rewrite(ctx context.Context, r Repo, i Issue, mark string, write func(live string) markdown.Text, replaces func(m marker.Marker, live, body string) bool, look bool) (Issue, bool, error) {
	for n := 1; ; n++ {
		m, body, err := seal("", mark, write(i.Body))
		if err != nil || !replaces(m, i.Body, body) {
			return i, n > 1, err
		}
		if _, _, err := h.gh.Issues.Edit(ctx, r.Owner, r.Name, i.Number, &github.IssueRequest{Body: &body}); err != nil {
			return Issue{}, n > 1, moved(Wrap("edit", err))
		}
		if !look {
			i.Body = body
			return i, true, nil
		}
		live, err := h.Issue(ctx, r, i.Number)
		if err != nil || n == 2 || sameText(live.Body, body) {
			return live, true, err
		}
		i = live
	}
}

// file creates the issue, without assignees if none can be assigned.
func (h *Client) file(ctx context.Context, r Repo, spec IssueSpec) (Issue, error) {
	if err := h.countIssue(); err != nil {
		return Issue{}, err
	}
	labels := spec.Labels
	if !slices.ContainsFunc(labels, func(l LabelSpec) bool { return strings.EqualFold(l.Name, h.o.IssueLabel) }) {
		labels = append([]LabelSpec{{Name: h.o.IssueLabel, Color: "5319e7", Description: "Filed by Switchback"}}, labels...)
	}
	if err := h.ensureLabels(ctx, r, labels); err != nil {
		return Issue{}, err
	}
	list := names(labels)
	if len(spec.Assignees) == 0 && spec.Who != nil {
		spec.Assignees = spec.Who()
	}
	req := &github.IssueRequest{Title: &spec.Title, Body: github.String(string(spec.Body)), Labels: &list}
	if len(spec.Assignees) > 0 {
		req.Assignees = &spec.Assignees
	}
	i, _, err := h.gh.Issues.Create(ctx, r.Owner, r.Name, req)
	if req.Assignees != nil && refused(err, "assignees") {
		h.o.Log.Warn("nobody is assigned", "repo", r.String(), "assignees", spec.Assignees)
		req.Assignees = nil
		i, _, err = h.gh.Issues.Create(ctx, r.Owner, r.Name, req)
	}
	if err != nil {
		return Issue{}, Wrap("file", err)
	}
	return issueOf(i, i.GetUser().GetLogin()), nil
}

// countIssue enforces Options.IssueCap, so that a bug cannot flood a repository with issues.
func (h *Client) countIssue() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Now()
	h.filed = slices.DeleteFunc(h.filed, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if len(h.filed) >= h.o.IssueCap {
		h.o.Log.Error("too many new issues within an hour; nothing more is filed", "cap", h.o.IssueCap)
		return failf("file", ErrIssueCap, "%d new issues within an hour are the most", h.o.IssueCap)
	}
	h.filed = append(h.filed, now)
	return nil
}

func refused(err error, field string) bool {
	var res *github.ErrorResponse
	return errors.As(err, &res) && res.Response.StatusCode == http.StatusUnprocessableEntity &&
		(strings.Contains(res.Message, field) || slices.ContainsFunc(res.Errors, func(e github.Error) bool { return e.Field == field }))
}

// CloseIssue closes an issue of the bot and comments why, once. It changes nothing about a closed
// issue.
func (h *Client) CloseIssue(ctx context.Context, r Repo, number int, comment markdown.Text, mark string) (closed bool, err error) {
	return h.CloseIssueAs(ctx, r, number, "completed", comment, mark)
}

// CloseIssueAs is CloseIssue with a state reason: completed or not_planned.
func (h *Client) CloseIssueAs(ctx context.Context, r Repo, number int, reason string, comment markdown.Text, mark string) (closed bool, err error) {
	err = h.turn(ctx, r, number, "closed", reason, comment, mark, &closed)
	return closed, Wrap(opf("close issue %s#%d", r, number), err)
}

// ReopenIssue is the inverse of CloseIssue. The caller decides whether the issue may be reopened,
// for instance not after a person closed it.
func (h *Client) ReopenIssue(ctx context.Context, r Repo, number int, comment markdown.Text, mark string) (reopened bool, err error) {
	err = h.turn(ctx, r, number, "open", "reopened", comment, mark, &reopened)
	return reopened, Wrap(opf("reopen issue %s#%d", r, number), err)
}

// turn comments first: after a crash in between it finds the comment and continues.
func (h *Client) turn(ctx context.Context, r Repo, number int, state, reason string, comment markdown.Text, mark string, done *bool) error {
	i, err := h.Issue(ctx, r, number)
	if err != nil || i.State == state {
		return err
	}
	if login, err := h.Login(ctx); err != nil {
		return err
	} else if !h.mine(i.Author, login) {
		return failf("", nil, "it is %s's, not the bot's", i.Author)
	}
	if comment != "" {
		if _, _, err := h.PostOnce(ctx, r, number, mark, comment, false); err != nil {
			return err
		}
	}
	err = h.setState(ctx, r, number, state, reason)
	*done = err == nil
	return err
}

func (h *Client) setState(ctx context.Context, r Repo, number int, state, reason string) error {
	_, _, err := h.gh.Issues.Edit(ctx, r.Owner, r.Name, number, &github.IssueRequest{State: &state, StateReason: &reason})
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
