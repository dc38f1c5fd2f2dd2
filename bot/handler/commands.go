package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan/plancommands"
)

// commands carries out the commands of a new comment on a pull request, on the issue of an escalation
// or on that of a plan.
type commands struct{ cases }

// Handle implements Handler.
func (h commands) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.Comment == nil || e.Issue == nil {
		return true, errNoAnswer
	}
	if e.Action != "created" {
		return true, nil
	}
	return true, h.comment(ctx, e, *e.Comment, *e.Issue)
}

// comment carries out the commands of a comment. What was done is answered by a reaction, an effect of
// the case; what was not gets a reply.
func (h commands) comment(ctx context.Context, e *Event, c Comment, is Issue) error {
	cmds := answers.Commands(c.Body)
	if len(cmds) == 0 {
		return nil
	}
	place, ours, err := h.placeOf(ctx, is)
	if err != nil {
		return err
	}
	if !ours { // a command that names a plan may be given anywhere
		cmds = slices.DeleteFunc(cmds, func(c answers.Command) bool { return !namesPlan(c) })
	}
	if len(cmds) == 0 {
		return nil
	}
	place.comment, place.said = c.ID, c.CreatedAt
	who, err := h.sender(ctx, e, h.Config.Answers.PermissionOrDefault())
	switch {
	case err != nil || who.ignored:
		return err
	case !who.may:
		return h.refuse(ctx, is.Number, who, false)
	}
	var lines []markdown.Text
	for n, cmd := range cmds {
		reply, err := h.obey(ctx, place, cmd, who.login, fmt.Sprintf("comment/%d/%d", c.ID, n+1))
		if err != nil {
			return err
		}
		lines = append(lines, reply...)
	}
	return h.reply(ctx, is.Number, fmt.Sprint(c.ID), lines...)
}

// place is where a comment is: on a pull request, whose case is key, on the issue of a record, or on
// that of a plan.
type place struct {
	key     string
	record  escalation.Record
	plan    string
	comment int64
	said    string // when the comment was written, as GitHub has it
}

func (h commands) placeOf(ctx context.Context, is Issue) (place, bool, error) {
	if is.PullRequest != nil {
		return place{key: effect.Subject{Number: is.Number}.Key(h.Repo)}, true, nil
	}
	reg, err := h.register(ctx)
	if err != nil {
		return place{}, false, err
	}
	if rec, ok := reg.ByNumber(is.Number); ok {
		return place{record: rec}, true, nil
	}
	plan, err := h.plans.PlanOf(ctx, is)
	return place{plan: plan}, plan != "", err
}

// obey carries out one command, and returns the lines of the reply. An error is a failure of the
// handler, which is repeated.
func (h commands) obey(ctx context.Context, p place, cmd answers.Command, by, answer string) ([]markdown.Text, error) {
	o := h.words()
	switch {
	case cmd.Err != nil:
		return []markdown.Text{render.Misread(cmd, o)}, nil
	case cmd.Asked() && !p.asks():
		return []markdown.Text{planview.NotAsked(cmd, o)}, nil
	case cmd.Action == "":
		return commandHandlers[cmd.Name](ctx, h, p, cmd, answer)
	}
	if cmd.Action == routing.HumanAck && cmd.Checkpoint == "" && p.key != "" {
		c, err := load(ctx, h.Deps, p.key)
		if err != nil {
			return nil, err
		}
		if c.Handoff != nil {
			cmd.Checkpoint = c.Handoff.Checkpoints[0]
		}
	}
	targets, err := h.targets(ctx, p, cmd.Checkpoint)
	if other, ok := cmd.CountLast(); ok && unclear(err) {
		if there, second := h.targets(ctx, p, other.Checkpoint); second == nil {
			cmd, targets, err = other, there, nil
		}
	}
	if err != nil {
		return []markdown.Text{render.NotDone(cmd.Line, err, o)}, unless(err)
	}
	var lines []markdown.Text
	react := false // of a case it is an effect
	for _, t := range targets {
		react = react || routing.IsRepositoryStream(t.key)
		e := cmd.Event(t.checkpoint)
		e.By, e.Answer = by, answer+"/"+t.checkpoint
		if e.Action == routing.HumanQuarantine {
			if e.Test, err = h.testOf(ctx, t, cmd.Test); err != nil {
				lines = append(lines, render.NotDone(cmd.Line, err, o))
				if failed := unless(err); failed != nil {
					return nil, failed
				}
				continue
			}
		}
		var err error
		if e.Action == routing.HumanHandoff || e.Action == routing.HumanAccept {
			err = h.bind(ctx, t, p.said, &e)
		}
		if err == nil {
			_, err = h.act(ctx, t.key, e)
		}
		if err != nil {
			if !refused(err) {
				return nil, err
			}
			lines = append(lines, render.NotDone(cmd.Line, err, o))
		}
	}
	if react && len(lines) == 0 {
		return nil, h.GitHub.Comments.React(ctx, h.Repo, p.comment)
	}
	return lines, nil
}

// commandHandlers carry out the commands that record no action on a case, and return the lines of the
// reply. The key names the command, for what it does to be done once.
var commandHandlers = map[string]func(ctx context.Context, h commands, p place, cmd answers.Command, key string) ([]markdown.Text, error){
	answers.Help: func(_ context.Context, h commands, _ place, _ answers.Command, _ string) ([]markdown.Text, error) {
		return []markdown.Text{render.Help(h.words())}, nil
	},
	answers.Status: func(ctx context.Context, h commands, p place, _ answers.Command, _ string) ([]markdown.Text, error) {
		return h.status(ctx, p)
	},
	plancommands.Feedback: func(ctx context.Context, h commands, p place, cmd answers.Command, key string) ([]markdown.Text, error) {
		return h.plans.Send(ctx, feedbackCommand{cmd, p, key})
	},
}

// HandlesCommand reports whether a command that records no action has a handler.
func HandlesCommand(name string) bool { return commandHandlers[name] != nil }

// unless returns err if it is a failure of the handler, and nil if the reply tells the person.
func unless(err error) error {
	var unknown *answers.UnknownTestError
	if err == nil || refused(err) || errors.As(err, &unknown) || unclear(err) {
		return nil
	}
	return err
}

func unclear(err error) bool {
	var e *unclearError
	return errors.As(err, &e)
}

func (h commands) status(ctx context.Context, p place) ([]markdown.Text, error) {
	if plan := p.planName(); plan != "" {
		return h.plans.Status(ctx, plan)
	}
	keys := []string{p.key}
	if p.key == "" {
		keys = nil
		for _, t := range held(p.record) {
			if len(keys) == 0 || keys[len(keys)-1] != t.key {
				keys = append(keys, t.key)
			}
		}
	}
	var lines []markdown.Text
	for _, k := range keys {
		c, err := load(ctx, h.Deps, k)
		if err != nil {
			return nil, err
		}
		lines = append(lines, render.Status(c, h.words()))
	}
	return lines, nil
}

func (h commands) testOf(ctx context.Context, t target, written string) (string, error) {
	c, err := load(ctx, h.Deps, t.key)
	if err != nil {
		return "", err
	}
	return answers.FindTest(c, t.checkpoint, written)
}

// targets returns what a command is about: on a pull request the checkpoint that it names or the one
// that waits, on an issue all that it holds, or those of the name.
func (h commands) targets(ctx context.Context, p place, name string) ([]target, error) {
	if p.key != "" {
		c, err := load(ctx, h.Deps, p.key)
		if err != nil {
			return nil, err
		}
		cp, err := pick(c, name)
		return []target{{p.key, cp}}, err
	}
	if p.plan != "" {
		return h.plans.Targets(ctx, p.plan, name)
	}
	var out []target
	all := held(p.record)
	for _, t := range all {
		if name == "" || t.checkpoint == name {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		c, err := load(ctx, h.Deps, all[0].key)
		if err != nil {
			return nil, err
		}
		cp, err := pick(c, name)
		return []target{{c.Key, cp}}, err
	}
	return out, nil
}

// held returns what a record holds, or what it held last.
func held(r escalation.Record) []target {
	members := r.Members
	if len(members) == 0 {
		members = []escalation.Member{r.Host()}
	}
	out := make([]target, len(members))
	for i, m := range members {
		out[i] = target{m.Case, m.Checkpoint}
	}
	return out
}

// unclearError says that a command does not tell which checkpoint it means.
type unclearError struct{ *routing.RefusedError }

func unsure(id, text string, args ...any) error {
	return &unclearError{&routing.RefusedError{ID: id, Text: text, Args: args}}
}

// pick returns the checkpoint that a command is about: the one it names, the
// only one there is, or the only one that waits for a human.
func pick(c routing.Case, name string) (string, error) {
	if len(c.Names()) == 0 {
		return "", unsure("no-run", "no run of this case has been analyzed")
	}
	if name != "" {
		if _, ok := c.Checkpoints[name]; ok {
			return name, nil
		}
		return "", unsure("no-checkpoint", "no checkpoint {cp}; known are {known}", "cp", name, "known", c.Names())
	}
	var waiting []string
	for _, n := range c.Names() {
		if cp := c.Checkpoints[n]; cp.State == routing.Escalated && !cp.Skipped && cp.WontFix == nil || cp.Paused || cp.Waiting {
			waiting = append(waiting, n)
		}
	}
	switch {
	case len(waiting) == 1:
		return waiting[0], nil
	case len(c.Names()) == 1:
		return c.Names()[0], nil
	}
	return "", unsure("which-checkpoint", "name the checkpoint; known are {known}", "known", c.Names())
}
