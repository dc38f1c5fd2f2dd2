package github

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/routing/marker"
)

// All workflows of a repository post under the login of github-actions[bot], and some post what
// strangers write. So a marker under our login proves little, and a post that is found by its marker
// alone has to fit what the ledger says.

const (
	timed     = 1 << 32 // generations from here on hold a time: milliseconds, then genBits of a count
	genBits   = 12      // see timed
	clockSkew = 5 * time.Minute
	// oldest is how long before its comment a case may have been opened: green runs post nothing.
	oldest = 90 * 24 * time.Hour
	// lagging is how many generations a process may be behind another one that posts about the same.
	lagging = 16
	// laggingIssue is lagging of issues, whose generations hold the time of the newest change.
	laggingIssue = int(time.Hour/time.Millisecond) << genBits
)

type sinceKey struct{}

// AskedAt returns a context for what was asked for at a time: posts that were there before are not
// taken for it, whatever their markers say. The zero time is no limit.
func AskedAt(ctx context.Context, t time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, t)
}

// candidate is a post under our login, found by its marker.
type candidate struct {
	have    marker.Marker
	created time.Time
}

func timeOf(gen int) time.Time { return time.UnixMilli(int64(gen >> genBits)) }

// early reports whether the candidate was there before what ctx asks for.
func (c candidate) early(ctx context.Context) bool {
	since, _ := ctx.Value(sinceKey{}).(time.Time)
	return !since.IsZero() && !c.created.IsZero() && c.created.Before(since.Add(-clockSkew))
}

// comment reports whether the candidate can be our comment with wanted's marker. A comment of an
// earlier ledger, which was lost, can: its generation holds when its case was opened.
func (c candidate) comment(ctx context.Context, wanted marker.Marker) bool {
	switch {
	case wanted.Gen == 0:
		return c.have.Gen == 0 && !c.early(ctx)
	case wanted.Gen < timed:
		return c.have.Gen <= wanted.Gen+lagging && !c.early(ctx)
	case c.have.Gen > wanted.Gen+lagging:
		return false
	}
	opened := timeOf(c.have.Gen)
	return c.created.IsZero() || !opened.After(c.created.Add(clockSkew)) && c.created.Sub(opened) < oldest
}

// issue reports whether the candidate can be our issue with wanted's marker: the generation of one is
// not older than the issue itself.
func (c candidate) issue(wanted marker.Marker) bool {
	if wanted.Gen < timed {
		return c.have.Gen <= wanted.Gen+lagging
	}
	return c.have.Gen <= wanted.Gen+laggingIssue && (c.created.IsZero() || !timeOf(c.have.Gen).Before(c.created.Add(-clockSkew)))
}

// given returns a generation that stands in a post of ours, 0 for one that no ledger has ever given
// out: it would keep every later state from being shown.
func given(m marker.Marker, have int, now time.Time) int {
	if m.Gen < timed && have >= timed || m.Gen >= timed && timeOf(have).After(now.Add(time.Hour)) && timeOf(have).After(timeOf(m.Gen).Add(time.Hour)) {
		return 0
	}
	return have
}
