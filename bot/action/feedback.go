package action

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/surveyview"
	"github.com/switchback-ci/switchback/bot/surveys"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/survey"
)

// desk is where feedback prompts are handled.
func (f *face) desk() *surveys.Desk {
	return &surveys.Desk{
		Ledger: f.led, Issues: f.hub, Starts: f.hub, Repo: f.repo.String(), Config: f.config, Render: f.renderOptions(trigger{}),
		DefaultBranch: f.event.Repository.DefaultBranch, Owner: owner(f.env.Getenv), TTL: f.claimTTL(), Now: f.now,
	}
}

// largestResult bounds what is read of a result.
const largestResult = 2 << 20

// openPrompt asks people about the result that the input names, once its report
// is there to be read.
func (f *face) openPrompt(ctx context.Context) (int, error) {
	if f.in.Result == "" {
		return 2, errors.New("input result is missing; give the path of the result's JSON file")
	}
	res, err := ReadResult(f.path(f.in.Result), f.env.Getenv("GITHUB_WORKSPACE"))
	if err != nil {
		return 2, err
	}
	if res.RunID == "" {
		res.RunID = f.env.Getenv("GITHUB_RUN_ID")
	}
	p, err := f.desk().Open(ctx, res)
	if err != nil {
		return 1, err
	}
	if p.Number == 0 {
		f.notice("prompt %s is being opened by another run", p.ID)
	} else {
		f.notice("prompt %s asks for feedback in issue #%d %s", p.ID, p.Number, p.URL)
	}
	return 0, f.tellGoals(p)
}

// ReadResult reads the result in a file and makes sure that its report exists
// below root, "" for the working directory: people are asked about something
// that they can read.
func ReadResult(file, root string) (survey.Result, error) {
	r, err := os.Open(file)
	if err != nil {
		return survey.Result{}, fmt.Errorf("the result: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, largestResult))
	if err != nil {
		return survey.Result{}, fmt.Errorf("the result: %w", err)
	}
	res, err := survey.ParseResult(file, data)
	if err != nil {
		return res, err
	}
	if root == "" {
		root = "."
	}
	below, err := os.OpenRoot(root)
	if err != nil {
		return res, err
	}
	defer below.Close()
	if st, err := below.Stat(filepath.FromSlash(res.ReportPath)); err != nil || st.IsDir() {
		return res, &survey.FieldError{File: file, Key: "report_path", Problem: fmt.Sprintf("there is no file %q below %s; write the report first, people are asked about it", res.ReportPath, root)}
	}
	return res, nil
}

// tellGoals writes the goals of prompts that are closed: each as a file, and
// the first as outputs.
func (f *face) tellGoals(ps ...survey.Prompt) error {
	outputs := map[string]string{}
	for _, p := range ps {
		if _, told := outputs["prompt-issue"]; !told && p.Number > 0 {
			outputs["prompt-issue"] = strconv.Itoa(p.Number)
		}
		if p.Goal == nil {
			continue
		}
		name := filepath.Join(f.temp(), "switchback-goal", p.ID, "goal.json")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, p.Goal.JSON(), 0o644); err != nil {
			return err
		}
		if outputs["goal"] == "" {
			outputs["goal"], outputs["goal-file"], outputs["goal-artifact"] = p.Goal.Line(), name, "switchback-goal-"+p.ID
		}
	}
	if len(outputs) == 0 {
		return nil
	}
	return setOutputs(f.env.Getenv("GITHUB_OUTPUT"), outputs)
}

// answerPrompt takes the event for an answer to a prompt. It reports whether
// the event's issue is one; then nothing else is to be done about it.
func (f *face) answerPrompt(ctx context.Context) (bool, error) {
	is := f.event.Issue
	if is == nil || is.PullRequest != nil {
		return false, nil
	}
	d := f.desk()
	reg, err := d.Register(ctx)
	if err != nil {
		return false, err
	}
	p, ok := reg.ByNumber(is.Number)
	if !ok {
		return false, nil
	}
	switch {
	case f.event.Comment != nil:
		return true, f.answerComment(ctx, d, p)
	case f.event.Changes.Body != nil:
		return true, f.answerEdit(ctx, d, p)
	}
	return true, nil
}

// answerComment takes a comment for an answer, if it is one.
func (f *face) answerComment(ctx context.Context, d *surveys.Desk, p survey.Prompt) error {
	c := f.event.Comment
	a, is, bad := p.ReadComment(c.Body, f.event.Issue.Body)
	if f.event.Action != "created" || !is && len(answers.Commands(c.Body)) == 0 {
		return nil
	}
	who, err := f.sender(ctx, f.config.Feedback.Role())
	if err != nil || who.ignored {
		return err
	}
	source := "comment/" + strconv.FormatInt(c.ID, 10)
	switch {
	case !who.may:
		return f.refuse(ctx, p.Number, who, false)
	case !is && p.Open(): // a command, but none that answers
		bad = &survey.Refused{Why: survey.NoLevel}
	case !is:
		a = survey.Answer{} // too late, whatever it says
	}
	if bad != nil {
		return d.Reply(ctx, p, source, surveyview.Refused(p, bad, d.Render))
	}
	return f.take(ctx, d, p, survey.Said{Answer: a, By: who.login, Source: source, At: f.saidAt(c.CreatedAt)})
}

// answerEdit takes an edit of the prompt's body for an answer once Submit is
// ticked in it; what somebody did who may not answer is put back.
func (f *face) answerEdit(ctx context.Context, d *surveys.Desk, p survey.Prompt) error {
	who, err := f.sender(ctx, f.config.Feedback.Role())
	if err != nil || who.ignored {
		return err
	}
	from, to := f.event.Changes.Body.From, f.event.Issue.Body
	sum := sha256.Sum256([]byte(f.event.Issue.UpdatedAt + "\x00" + who.login + "\x00" + to))
	source := "body/" + hex.EncodeToString(sum[:8])
	before, _ := answers.Parse(from)
	after, _ := answers.Parse(to)
	change := answers.Diff(before, after)
	touched := !change.Empty() || answers.BodyText(from) != answers.BodyText(to)
	a, submitted, bad := p.ReadBody(to)
	switch {
	case !touched && (!submitted || !who.may):
		return f.restore(ctx, d, p, source)
	case !who.may:
		err := d.Rewrite(ctx, p, func(live string) string {
			if plain(live) == plain(to) { // nobody has written since: all of it, also what was deleted
				return from
			}
			return answers.SwapText(answers.Undo(live, change), answers.BodyText(to), answers.BodyText(from))
		})
		if err != nil {
			return err
		}
		return f.refuse(ctx, p.Number, who, true)
	case !submitted:
		return f.restore(ctx, d, p, source)
	case bad != nil && p.Open():
		if err := d.Reply(ctx, p, source, surveyview.Refused(p, bad, d.Render)); err != nil {
			return err
		}
		return d.Rewrite(ctx, p, func(live string) string { return answers.Untick(live, answers.Submit) })
	case bad != nil:
		a = survey.Answer{} // too late, whatever it says
	}
	return f.take(ctx, d, p, survey.Said{Answer: a, By: who.login, Source: source, At: f.saidAt(f.event.Issue.UpdatedAt)})
}

// plain is a body whatever its line ends are.
func plain(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// restore puts the text of the issue back if a part of the questions is gone:
// then it is no longer what was asked. What was ticked and written stays, also
// what this edit took away.
func (f *face) restore(ctx context.Context, d *surveys.Desk, p survey.Prompt, source string) error {
	is, from := f.event.Issue.Body, f.event.Changes.Body.From
	key, _, ok := render.ParseMarker(strings.ReplaceAll(is, "\r\n", "\n"))
	if ok && key == d.PromptKey(p.ID) && (!p.Open() || whole(p, is)) {
		return nil
	}
	before, _ := answers.Parse(from)
	err := d.Rewrite(ctx, p, func(live string) string {
		if !p.Open() {
			return surveyview.Closed(p, d.Render)
		}
		boxes, _ := answers.Parse(live)
		ticked := boxes.Ticked
		for _, id := range before.Ticked {
			if !slices.Contains(boxes.Boxes, id) {
				ticked = append(ticked, id)
			}
		}
		text := answers.BodyText(live)
		if !strings.Contains(live, answers.TextBegin) || !strings.Contains(live, answers.TextEnd) {
			text = answers.BodyText(from)
		}
		return answers.SwapText(answers.Keep(surveyview.Body(p, d.Render), ticked), "", text)
	})
	if err != nil {
		return err
	}
	return d.Reply(ctx, p, source, surveyview.Restored(p))
}

// whole reports whether a body holds all that an answer is given by.
func whole(p survey.Prompt, body string) bool {
	boxes, _ := answers.Parse(body)
	want := []string{answers.Submit}
	for _, c := range survey.Choices {
		want = append(want, survey.LevelBox(c))
	}
	for _, s := range p.Result.Suggestions {
		want = append(want, survey.SuggestionBox(s))
	}
	return strings.Contains(body, answers.TextBegin) && strings.Contains(body, answers.TextEnd) &&
		!slices.ContainsFunc(want, func(id string) bool { return !slices.Contains(boxes.Boxes, id) })
}

// take records an answer and says what became of it.
func (f *face) take(ctx context.Context, d *surveys.Desk, p survey.Prompt, said survey.Said) error {
	out, p, err := d.Answer(ctx, p.ID, said)
	if err != nil {
		return err
	}
	switch out {
	case survey.Second:
		return d.Reply(ctx, p, said.Source, surveyview.Second(p, d.Render))
	case survey.Late:
		err = d.Reply(ctx, p, said.Source, surveyview.Late(p, d.Render))
	}
	return errors.Join(err, f.tellGoals(p))
}

// saidAt reads when something was said, as GitHub writes it; now if it cannot
// be known, and never later than that.
func (f *face) saidAt(text string) time.Time {
	now := f.now()
	if t, err := time.Parse(time.RFC3339, text); err == nil && t.Before(now) {
		return t
	}
	return now
}

// reconcilePrompts does what the time brings about for prompts, and what others
// left.
func (f *face) reconcilePrompts(ctx context.Context) error {
	ps, err := f.desk().Reconcile(ctx)
	for _, p := range ps {
		f.notice("nobody answered prompt %s in time", p.ID)
	}
	return errors.Join(err, f.tellGoals(ps...))
}

// reenter starts the next cycle when a run has completed, if one is to start.
func (f *face) reenter(ctx context.Context) error {
	e := f.event.WorkflowRun
	if e == nil || !f.config.Feedback.Reenters() {
		return nil
	}
	run := survey.Completed{ID: strconv.FormatInt(e.ID, 10), Workflow: e.Name}
	run.At, _ = time.Parse(time.RFC3339, e.UpdatedAt) // zero if unknown
	if e.Event == "workflow_dispatch" || e.Event == "repository_dispatch" {
		login, err := f.hub.Login(ctx)
		if err != nil {
			return err
		}
		run.Own = surveys.Own(e.Event, e.Title, e.Actor.Login, login)
	}
	started, err := f.desk().Reenter(ctx, run)
	if err != nil {
		return fmt.Errorf("starting the next cycle: %w", err)
	}
	if started {
		f.notice("run %s of %s starts the next cycle", run.ID, strings.TrimSpace(e.Name))
	}
	return nil
}
