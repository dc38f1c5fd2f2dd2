package github

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
	"github.com/hmarr/codeowners"
)

// Where GitHub looks for the owners of code, in its order.
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

const (
	maxAssignees = 10 // GitHub's limit of an issue
	maxAsked     = 20 // owners asked for, each a request
)

// Owners returns the logins of the people who own files according to CODEOWNERS at ref and who can
// be assigned to an issue, at most 10, the owners of the first files first. Teams cannot be
// assigned, and email addresses are not resolved. There are none without a readable CODEOWNERS.
func (h *Client) Owners(ctx context.Context, r Repo, ref string, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	rules, err := h.ownerRules(ctx, r, ref)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	var out []string
	for _, login := range named(rules, files) {
		ok, err := h.Assignable(ctx, r, login)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, login)
		}
		if len(out) == maxAssignees {
			break
		}
	}
	return out, nil
}

func (h *Client) ownerRules(ctx context.Context, r Repo, ref string) (codeowners.Ruleset, error) {
	for _, name := range ownersFiles {
		data, err := h.File(ctx, r, name, ref)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rules, bad := rulesOf(data)
		if bad != nil { // GitHub shows its errors to those who can fix it
			h.o.Log.Warn("some owners of the code cannot be read", "repo", r.String(), "file", name, "err", bad)
		}
		return rules, nil
	}
	return nil, nil
}

// rulesOf parses a CODEOWNERS. Like GitHub it skips invalid lines; bad is the error of the first of
// them.
func rulesOf(data []byte) (rules codeowners.Ruleset, bad error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for _, line := range bytes.Split(data, []byte("\n")) {
		one, err := codeowners.ParseFile(bytes.NewReader(line))
		if err != nil && bad == nil {
			bad = err
		}
		rules = append(rules, one...)
	}
	return rules, bad
}

// named returns the users that the rules name for files.
func named(rules codeowners.Ruleset, files []string) []string {
	var out []string
	for _, f := range files {
		rule, err := rules.Match(f)
		if err != nil || rule == nil {
			continue
		}
		for _, o := range rule.Owners {
			same := func(s string) bool { return strings.EqualFold(s, o.Value) }
			if o.Type == codeowners.UsernameOwner && !slices.ContainsFunc(out, same) && len(out) < maxAsked {
				out = append(out, o.Value)
			}
		}
	}
	return out
}

// Assignable reports whether an issue can be assigned to a user.
func (h *Client) Assignable(ctx context.Context, r Repo, login string) (bool, error) {
	ok, _, err := h.gh.Issues.IsAssignee(ctx, r.Owner, r.Name, login)
	if err = Wrap(opf("ask if %s can be assigned in %s", login, r), err); errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return ok && err == nil, err
}

// Contains reports whether commit head is base or has it among its ancestors.
// A commit that GitHub does not know, as after a push by force, contains
// nothing and is contained in nothing.
func (h *Client) Contains(ctx context.Context, r Repo, base, head string) (bool, error) {
	if base == head {
		return base != "", nil
	}
	if !isSHA(base) || !isSHA(head) {
		return false, nil
	}
	c, _, err := h.gh.Repositories.CompareCommits(ctx, r.Owner, r.Name, base, head, &github.ListOptions{PerPage: 1})
	if err = Wrap(opf("compare %s with %s in %s", base, head, r), err); errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return c.GetStatus() == "ahead" || c.GetStatus() == "identical", nil
}
