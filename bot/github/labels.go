package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// LabelSpec is the label to create if the repository does not have it. An existing label is not
// changed.
type LabelSpec struct {
	Name        string
	Color       string // six hexadecimal digits; "" is GitHub's grey
	Description string // at most 100 characters
}

// SyncLabels adds and removes labels of an issue or pull request. current is its labels as read
// before, or nil to read them here. Only differences are sent.
func (h *Client) SyncLabels(ctx context.Context, r Repo, issue int, current []string, add, remove []LabelSpec) (changed bool, err error) {
	op := opf("label %s#%d", r, issue)
	if current == nil {
		if current, err = h.labelsOf(ctx, r, issue); err != nil {
			return false, Wrap(op, err)
		}
	}
	has := func(l LabelSpec) bool {
		return slices.ContainsFunc(current, func(s string) bool { return strings.EqualFold(s, l.Name) })
	}
	missing := slices.DeleteFunc(slices.Clone(add), has)
	if len(missing) > 0 {
		if err := h.ensureLabels(ctx, r, missing); err != nil {
			return false, Wrap(op, err)
		}
		if err := h.addLabels(ctx, r, issue, names(missing)); err != nil {
			return false, Wrap(op, err)
		}
	}
	for _, l := range remove {
		if !has(l) {
			continue
		}
		_, err := h.gh.Issues.RemoveLabelForIssue(ctx, r.Owner, r.Name, issue, url.PathEscape(l.Name))
		if err = Wrap(op, err); err != nil && !errors.Is(err, ErrNotFound) {
			return changed, err
		}
		changed = true
	}
	return changed || len(missing) > 0, nil
}

// addLabels sends an object, because GitHub's API description has no bare array as go-github sends
// it.
func (h *Client) addLabels(ctx context.Context, r Repo, issue int, labels []string) error {
	req, err := h.gh.NewRequest(http.MethodPost, opf("repos/%s/issues/%d/labels", r, issue), map[string]any{"labels": labels})
	if err != nil {
		return err
	}
	_, err = h.gh.Do(again(ctx), req, nil)
	return err
}

func (h *Client) labelsOf(ctx context.Context, r Repo, issue int) ([]string, error) {
	return list("list labels", func(o github.ListOptions) (page[string], *github.Response, error) {
		l, res, err := h.gh.Issues.ListLabelsByIssue(ctx, r.Owner, r.Name, issue, &o)
		p := page[string]{total: -1}
		for _, x := range l {
			p.items = append(p.items, x.GetName())
		}
		return p, res, err
	})
}

// ensureLabels creates the labels that the repository lacks. Labels known to exist are not
// requested again.
func (h *Client) ensureLabels(ctx context.Context, r Repo, specs []LabelSpec) error {
	for _, l := range specs {
		key := strings.ToLower(r.String() + "\x00" + l.Name)
		h.mu.Lock()
		known := h.labels[key]
		h.mu.Unlock()
		if known {
			continue
		}
		if err := h.ensureLabel(ctx, r, l); err != nil {
			return err
		}
		h.mu.Lock()
		h.labels[key] = true
		h.mu.Unlock()
	}
	return nil
}

func (h *Client) ensureLabel(ctx context.Context, r Repo, l LabelSpec) error {
	found, err := h.hasLabel(ctx, r, l.Name)
	if found || err != nil {
		return err
	}
	_, _, err = h.gh.Issues.CreateLabel(again(ctx), r.Owner, r.Name, &github.Label{Name: &l.Name,
		Color: text(strings.TrimPrefix(l.Color, "#")), Description: text(l.Description)})
	var e *Error
	if err = Wrap(opf("make label %q", l.Name), err); errors.As(err, &e) && e.Status == http.StatusUnprocessableEntity {
		// Somebody else made it in between, or it is invalid.
		if found, err := h.hasLabel(ctx, r, l.Name); found || err != nil {
			return err
		}
	}
	return err
}

func (h *Client) hasLabel(ctx context.Context, r Repo, name string) (bool, error) {
	_, _, err := h.gh.Issues.GetLabel(ctx, r.Owner, r.Name, url.PathEscape(name))
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
