package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-github/v60/github"
)

// LabelSpec is the label to create if the repository does not have it. An existing label is not
// changed.
type LabelSpec struct {
	Name        string
	Color       string // six hexadecimal digits; "" is GitHub's grey
	Description string // at most 100 characters
}

// LabelsService labels issues and pull requests.
type LabelsService struct {
	*core

	mu   sync.Mutex
	seen map[string]bool // "owner/name\x00label": it exists
}

// Sync adds and removes labels of an issue or pull request. current is its labels as read
// before, or nil to read them here. Only differences are sent.
func (s *LabelsService) Sync(ctx context.Context, r Repo, issue int, current []string, add, remove []LabelSpec) (changed bool, err error) {
	op := opf("label %s#%d", r, issue)
	if current == nil {
		if current, err = s.of(ctx, r, issue); err != nil {
			return false, Wrap(op, err)
		}
	}
	has := func(l LabelSpec) bool {
		return slices.ContainsFunc(current, func(s string) bool { return strings.EqualFold(s, l.Name) })
	}
	missing := slices.DeleteFunc(slices.Clone(add), has)
	if len(missing) > 0 {
		if err := s.ensure(ctx, r, missing); err != nil {
			return false, Wrap(op, err)
		}
		if err := s.add(ctx, r, issue, names(missing)); err != nil {
			return false, Wrap(op, err)
		}
	}
	for _, l := range remove {
		if !has(l) {
			continue
		}
		_, err := s.gh.Issues.RemoveLabelForIssue(ctx, r.Owner, r.Name, issue, url.PathEscape(l.Name))
		if err = Wrap(op, err); err != nil && !errors.Is(err, ErrNotFound) {
			return changed, err
		}
		changed = true
	}
	return changed || len(missing) > 0, nil
}

// add sends an object, because GitHub's API description has no bare array as go-github sends
// it.
func (s *LabelsService) add(ctx context.Context, r Repo, issue int, labels []string) error {
	req, err := s.gh.NewRequest(http.MethodPost, opf("repos/%s/issues/%d/labels", r, issue), map[string]any{"labels": labels})
	if err != nil {
		return err
	}
	_, err = s.gh.Do(again(ctx), req, nil)
	return err
}

func (s *LabelsService) of(ctx context.Context, r Repo, issue int) ([]string, error) {
	return list("list labels", func(o github.ListOptions) (page[string], *github.Response, error) {
		l, res, err := s.gh.Issues.ListLabelsByIssue(ctx, r.Owner, r.Name, issue, &o)
		p := page[string]{total: -1}
		for _, x := range l {
			p.items = append(p.items, x.GetName())
		}
		return p, res, err
	})
}

// ensure creates the labels that the repository lacks. Labels known to exist are not
// requested again.
func (s *LabelsService) ensure(ctx context.Context, r Repo, specs []LabelSpec) error {
	for _, l := range specs {
		key := strings.ToLower(r.String() + "\x00" + l.Name)
		s.mu.Lock()
		known := s.seen[key]
		s.mu.Unlock()
		if known {
			continue
		}
		if err := s.ensureOne(ctx, r, l); err != nil {
			return err
		}
		s.mu.Lock()
		s.seen[key] = true
		s.mu.Unlock()
	}
	return nil
}

func (s *LabelsService) ensureOne(ctx context.Context, r Repo, l LabelSpec) error {
	found, err := s.has(ctx, r, l.Name)
	if found || err != nil {
		return err
	}
	_, _, err = s.gh.Issues.CreateLabel(again(ctx), r.Owner, r.Name, &github.Label{Name: &l.Name,
		Color: text(strings.TrimPrefix(l.Color, "#")), Description: text(l.Description)})
	var e *Error
	if err = Wrap(opf("make label %q", l.Name), err); errors.As(err, &e) && e.Status == http.StatusUnprocessableEntity {
		// Somebody else made it in between, or it is invalid.
		if found, err := s.has(ctx, r, l.Name); found || err != nil {
			return err
		}
	}
	return err
}

func (s *LabelsService) has(ctx context.Context, r Repo, name string) (bool, error) {
	_, _, err := s.gh.Issues.GetLabel(ctx, r.Owner, r.Name, url.PathEscape(name))
	if err = Wrap(opf("read label %q", name), err); errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func names(specs []LabelSpec) []string {
	out := make([]string, 0, len(specs))
	for _, l := range specs {
		out = append(out, l.Name)
	}
	return out
}
