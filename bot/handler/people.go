package handler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing/marker"
)

// standing is what the sender of an event may do in the repository.
type standing struct {
	login   string
	id      int64
	ignored bool   // the bot itself, or another bot: its answers do not count, and it gets no reply
	may     bool   // answers count
	want    string // the role that is needed
	have    string // the role of a person, as GitHub says now
}

// sender returns who caused an event, and whether that person has the role want. A bot is known by
// the id of its App alone: anybody may choose its name, and an account's id is another number.
func (d Deps) sender(ctx context.Context, e *Event, want string) (standing, error) {
	u := e.Sender
	if u.Login == "" && e.Comment != nil {
		u = e.Comment.User
	}
	if u.Login == "" {
		return standing{ignored: true}, nil
	}
	s := standing{login: u.Login, id: u.ID, want: want}
	login, err := d.GitHub.Users.Login(ctx)
	if err != nil || strings.EqualFold(login, u.Login) {
		s.ignored = true
		return s, err
	}
	if strings.EqualFold(u.Type, "Bot") || strings.HasSuffix(u.Login, "[bot]") {
		s.may, err = d.allowedApp(ctx, e, u.Login)
		s.ignored = !s.may
		return s, err
	}
	s.may, s.have, err = d.mayAnswer(ctx, u.Login, want)
	return s, err
}

// mayAnswer asks GitHub whether a person has the role want in the repository now, and returns which
// role the person has.
func (d Deps) mayAnswer(ctx context.Context, login, want string) (may bool, role string, err error) {
	role, err = d.GitHub.Collaborators.Role(ctx, d.Repo, login)
	return github.Allows(role, want), role, err
}

// allowedApp reports whether the App of a bot that caused an event may answer: the App that GitHub
// says performed the comment, and for what is no comment the one whose bot has this login, which
// GitHub gives to nobody else.
func (d Deps) allowedApp(ctx context.Context, e *Event, login string) (bool, error) {
	if len(d.Config.Answers.Apps) == 0 {
		return false, nil
	}
	var id int64
	if e.Comment != nil {
		if e.Comment.App == nil {
			return false, nil
		}
		id = e.Comment.App.ID
	} else if slug, ok := strings.CutSuffix(login, "[bot]"); ok {
		var err error
		if id, err = d.GitHub.Apps.ID(ctx, slug); errors.Is(err, github.ErrNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(d.Config.Answers.Apps, func(app int) bool { return int64(app) == id }), nil
}

// quiet is how long a person who may not answer gets no second reply about it.
const quiet = time.Hour

// refuse replies to a person on an issue that they may not answer, once an hour, whatever they do.
// Nothing is recorded.
func (d Deps) refuse(ctx context.Context, number int, s standing, putBack bool) error {
	prefix := d.key("refused", number, s.id, s.login)
	now := d.Now()
	_, err := d.GitHub.Comments.PostSeldom(ctx, d.Repo, number, marker.Format(prefix+"/"+now.UTC().Format("20060102T150405.000"), 0),
		render.NotAllowed(s.login, s.want, s.have, putBack, d.words()), prefix+"/", now.Add(-quiet))
	return err
}
