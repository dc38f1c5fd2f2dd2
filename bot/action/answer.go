package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/prompt"
)

// Comment is a comment in an event.
type Comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
	CreatedAt string `json:"created_at"`
}

// Issue is an issue or pull request in an event.
type Issue struct {
	Number int    `json:"number"`
	Body   string `json:"body"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	PullRequest *struct{} `json:"pull_request"`
	UpdatedAt   string    `json:"updated_at"`
}

// answer carries out the commands of a new comment on a pull request or on an
// escalation issue, for people who may write to the repository.
func (f *face) answer(ctx context.Context) (int, error) {
	if ours, err := f.answerPrompt(ctx); err != nil {
		return 1, err
	} else if ours || f.event.Comment == nil && f.env.Getenv("GITHUB_EVENT_NAME") == "issues" {
		return 0, nil
	}
	c, is := f.event.Comment, f.event.Issue
	if c == nil || is == nil {
		return 1, errors.New("the event has no comment; use `on: issue_comment` with `types: [created]`")
	}
	cmds := prompt.Commands(c.Body)
	if len(cmds) == 0 || c.User.Type == "Bot" {
		return 0, nil
	}
	key, checkpoint, err := f.caseOf(ctx, *is)
	if err != nil || key == "" {
		return 0, err
	}
	may, err := f.hub.Permission(ctx, f.repo, c.User.Login)
	if err != nil {
		return 1, err
	}
	if may != "admin" && may != "write" {
		return 0, f.reply(ctx, is.Number, c.ID, fmt.Sprintf("Only people who may write to this repository can answer; `%s` has `%s`.", c.User.Login, may))
	}
	subject, err := f.subjectOf(ctx, key)
	if err != nil {
		return 1, err
	}
	var said []string
	for _, cmd := range cmds {
		said = append(said, f.obey(ctx, key, checkpoint, cmd, c.User.Login, subject))
	}
	return 0, f.reply(ctx, is.Number, c.ID, said...)
}

// caseOf returns the case a comment is about, and the checkpoint if the place
// of the comment names one: the issue's marker, of an issue of our own.
func (f *face) caseOf(ctx context.Context, is Issue) (key, checkpoint string, err error) {
	if is.PullRequest != nil {
		return effect.Subject{Number: is.Number}.Key(f.repo), "", nil
	}
	marked, _, ok := render.ParseMarker(is.Body)
	if !ok {
		return "", "", nil
	}
	login, err := f.hub.Login(ctx)
	if err != nil || !strings.EqualFold(login, is.User.Login) {
		return "", "", err
	}
	rest, _, ok := cutLast(marked, "/issue/")
	if !ok {
		return "", "", nil
	}
	// The reference (#12 or @branch) ends at the first slash behind the
	// repository for a pull request; a branch's name may hold slashes, so the
	// ledger is asked which of its cases it is.
	keys, err := f.led.Keys(ctx)
	if err != nil {
		return "", "", err
	}
	for _, k := range keys {
		if cp, ok := strings.CutPrefix(rest, k+"/"); ok && !routing.IsRegister(k) && len(k) > len(key) {
			key, checkpoint = k, cp
		}
	}
	return key, checkpoint, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// obey carries out one command and returns what to reply.
func (f *face) obey(ctx context.Context, key, checkpoint string, cmd prompt.Command, by string, subject effect.Subject) string {
	if cmd.Err != nil {
		return "Not understood: " + cmd.Err.Error() + "."
	}
	events, _, err := f.led.Load(ctx, key)
	if err != nil {
		return "Not done: " + err.Error()
	}
	c, err := routing.Fold(key, events)
	if err != nil {
		return "Not done: " + err.Error()
	}
	name, err := pick(c, orElse(cmd.Checkpoint, checkpoint))
	if err != nil {
		return "Not done: " + err.Error() + "."
	}
	t := trigger{subject: subject, labels: subject.Labels}
	line := f.line(f.effects(t))
	rec, err := line.Act(ctx, key, routing.Event{Checkpoint: name, Action: cmd.Action, By: by, N: cmd.N}, f.policies(t))
	if err == nil {
		_, err = line.Carry(ctx, rec)
	}
	if err != nil {
		return "Not done: " + err.Error()
	}
	return fmt.Sprintf("Done: `%s` of `%s`.", cmd.Action, name)
}

// pick returns the checkpoint that a command is about: the one it names, the
// only one there is, or the only one that waits for a human.
func pick(c routing.Case, name string) (string, error) {
	if name != "" {
		if _, ok := c.Checkpoints[name]; ok {
			return name, nil
		}
		return "", fmt.Errorf("there is no checkpoint `%s`; there are `%s`", name, strings.Join(c.Names(), "`, `"))
	}
	var waiting []string
	for _, n := range c.Names() {
		if cp := c.Checkpoints[n]; cp.State == routing.Escalated || cp.Paused || cp.Waiting {
			waiting = append(waiting, n)
		}
	}
	switch {
	case len(waiting) == 1:
		return waiting[0], nil
	case len(c.Names()) == 1:
		return c.Names()[0], nil
	}
	return "", fmt.Errorf("name the checkpoint; there are `%s`", strings.Join(c.Names(), "`, `"))
}

func (f *face) reply(ctx context.Context, number int, comment int64, lines ...string) error {
	id := strconv.FormatInt(comment, 10)
	text := render.Reply(lines, f.renderOptions(trigger{}))
	_, _, err := f.hub.PostOnce(ctx, f.repo, number, render.Marker(f.repo.String()+"/reply/"+id, 0), text, false)
	return err
}

func orElse(s, t string) string {
	if s != "" {
		return s
	}
	return t
}
