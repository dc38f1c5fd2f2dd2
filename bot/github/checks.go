package github

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/switchback-ci/switchback/bot/render/markdown"
)

const (
	textLimit      = 65_535 // bytes of a check's summary or text, or an annotation's message
	titleLimit     = 255
	perRequest     = 50  // annotations
	maxAnnotations = 500 // of a check; more make the page unusable
)

// Check is the wanted state of a check run. ExternalID is its key.
type Check struct {
	Name, ExternalID string
	Status           string // queued, in_progress or completed
	Conclusion       string // of a completed one
	Title            string
	Summary, Text    markdown.Text
	DetailsURL       string
	Annotations      []Annotation // at most 500 are sent
}

// Annotation is an annotation on lines of a file. Lines count from 1.
type Annotation struct {
	Path               string
	StartLine, EndLine int
	Level              string // notice, warning or failure
	Title, Message     string
}

// ChecksService shows check runs on commits.
type ChecksService struct{ *core }

// Upsert creates or updates the bot's check run with c's name and key on a commit, and returns
// its id. With fresh the caller knows that there is none, which saves the listing. A completed
// check is not made incomplete again, and existing annotations are not sent twice, because GitHub
// keeps them all.
func (s *ChecksService) Upsert(ctx context.Context, r Repo, sha string, c Check, fresh bool) (ref string, err error) {
	op := opf("check %q on %s of %s", c.Name, sha, r)
	if !isSHA(sha) || c.Name == "" || c.ExternalID == "" {
		return "", failf(op, nil, "a check needs a commit, a name and a key")
	}
	notes := annotations(c.Annotations)
	for n := 1; ; n++ {
		if !fresh || n > 1 {
			have, err := s.find(ctx, r, sha, c)
			if err != nil {
				return "", Wrap(op, err)
			}
			if have != nil {
				return checkRef(have), Wrap(op, s.bring(ctx, r, have, c, notes))
			}
		}
		have, _, err := s.gh.Checks.CreateCheckRun(ctx, r.Owner, r.Name, github.CreateCheckRunOptions{Name: c.Name, HeadSHA: sha,
			ExternalID: &c.ExternalID, Status: text(c.Status), Conclusion: text(c.Conclusion), DetailsURL: text(c.DetailsURL),
			Output: output(c, first(notes))})
		if err == nil {
			return checkRef(have), Wrap(op, s.annotate(ctx, r, have.GetID(), c, notes, min(perRequest, len(notes))))
		}
		if err = Wrap(op, err); !Ambiguous(err) || n == tries || ctx.Err() != nil {
			return "", err
		}
		if err := s.o.Sleep(ctx, settle); err != nil {
			return "", Wrap(op, err)
		}
	}
}

// find returns the newest of the bot's check runs with c's key, or nil.
func (s *ChecksService) find(ctx context.Context, r Repo, sha string, c Check) (*github.CheckRun, error) {
	login, err := s.botLogin(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list("list check runs", func(o github.ListOptions) (page[*github.CheckRun], *github.Response, error) {
		l, res, err := s.gh.Checks.ListCheckRunsForRef(ctx, r.Owner, r.Name, sha,
			&github.ListCheckRunsOptions{CheckName: &c.Name, Filter: github.String("all"), ListOptions: o})
		if err != nil {
			return page[*github.CheckRun]{}, res, err
		}
		return page[*github.CheckRun]{items: l.CheckRuns, total: total(l.Total)}, res, nil
	})
	if err != nil {
		return nil, err
	}
	var found *github.CheckRun
	for _, x := range all {
		app := x.GetApp().GetSlug()
		mine := app == "" || !strings.HasSuffix(login, "[bot]") || strings.EqualFold(app+"[bot]", login)
		if mine && x.GetExternalID() == c.ExternalID && x.GetName() == c.Name && (found == nil || x.GetID() > found.GetID()) {
			found = x
		}
	}
	return found, nil
}

// bring sends the fields in which have differs from c.
func (s *ChecksService) bring(ctx context.Context, r Repo, have *github.CheckRun, c Check, notes []*github.CheckRunAnnotation) error {
	if have.GetStatus() == "completed" && c.Status != "completed" {
		return nil
	}
	o := output(c, nil)
	same := have.GetStatus() == c.Status && have.GetConclusion() == c.Conclusion && (c.DetailsURL == "" || have.GetDetailsURL() == c.DetailsURL) &&
		have.GetOutput().GetTitle() == o.GetTitle() && sameText(have.GetOutput().GetSummary(), o.GetSummary()) && sameText(have.GetOutput().GetText(), o.GetText())
	sent := have.GetOutput().GetAnnotationsCount()
	if !same && sent >= len(notes) {
		_, _, err := s.gh.Checks.UpdateCheckRun(ctx, r.Owner, r.Name, have.GetID(), update(c, o))
		return Wrap("update", err)
	}
	return s.annotate(ctx, r, have.GetID(), c, notes, sent)
}

// annotate sends the annotations after the first sent ones. After a request with an unknown result
// it first reads how many arrived.
func (s *ChecksService) annotate(ctx context.Context, r Repo, id int64, c Check, notes []*github.CheckRunAnnotation, sent int) error {
	for faults := 0; sent < len(notes); {
		upto := min(sent+perRequest, len(notes))
		_, _, err := s.gh.Checks.UpdateCheckRun(once(ctx), r.Owner, r.Name, id, update(c, output(c, notes[sent:upto])))
		if err == nil {
			sent = upto
			continue
		}
		faults++
		if err = Wrap("annotate", err); !Ambiguous(err) || faults == tries || ctx.Err() != nil {
			return err
		}
		if err := s.o.Sleep(ctx, settle); err != nil {
			return err
		}
		now, _, err := s.gh.Checks.GetCheckRun(ctx, r.Owner, r.Name, id)
		if err != nil {
			return Wrap("read check", err)
		}
		sent = max(sent, now.GetOutput().GetAnnotationsCount())
	}
	return nil
}

func update(c Check, o *github.CheckRunOutput) github.UpdateCheckRunOptions {
	return github.UpdateCheckRunOptions{Name: c.Name, ExternalID: &c.ExternalID, Status: text(c.Status), Conclusion: text(c.Conclusion),
		DetailsURL: text(c.DetailsURL), Output: o}
}

// output always has a title and a summary, which GitHub requires.
func output(c Check, notes []*github.CheckRunAnnotation) *github.CheckRunOutput {
	return &github.CheckRunOutput{Title: github.String(cut(cmp.Or(c.Title, c.Name), titleLimit)),
		Summary: github.String(shown(cmp.Or(c.Summary, markdown.Prose(cmp.Or(c.Title, c.Name))))), Text: text(shown(c.Text)), Annotations: notes}
}

// shown returns a text of a check in the length that GitHub takes.
func shown(text markdown.Text) string {
	valid := strings.ToValidUTF8(string(text), "\uFFFD")
	return string(markdown.Truncate(markdown.Text(valid), textLimit, func(s string) int { return len(s) }))
}

func annotations(all []Annotation) []*github.CheckRunAnnotation {
	var out []*github.CheckRunAnnotation
	for _, a := range all[:min(len(all), maxAnnotations)] {
		if !slices.Contains([]string{"notice", "warning", "failure"}, a.Level) {
			a.Level = "failure"
		}
		line := max(1, a.StartLine)
		out = append(out, &github.CheckRunAnnotation{Path: github.String(cmp.Or(a.Path, ".github")), StartLine: &line,
			EndLine: github.Int(max(line, a.EndLine)), AnnotationLevel: &a.Level, Title: text(cut(a.Title, titleLimit)),
			Message: github.String(cut(cmp.Or(a.Message, a.Title, a.Level), textLimit))})
	}
	return out
}

func first(notes []*github.CheckRunAnnotation) []*github.CheckRunAnnotation {
	return notes[:min(perRequest, len(notes))]
}

func checkRef(c *github.CheckRun) string { return strconv.FormatInt(c.GetID(), 10) }

// text returns nil for "", so that the field is not sent.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
