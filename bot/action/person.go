package action

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing/marker"
)

// App is a GitHub App in an event.
type App struct {
	ID int64 `json:"id"`
}

// standing is what the sender of an event may do here.
type standing struct {
	login   string
	id      int64
	ignored bool   // the bot itself, or another bot: neither obeyed nor answered
	may     bool   // answers count
	want    string // the role that is needed
	have    string // the role of a person, as GitHub says it now
}

// sender returns who did what the event tells, and whether that person has the
// role want. A bot counts only by the number of its App; its name says nothing.
func (f *face) sender(ctx context.Context, want string) (standing, error) {
	u := f.event.Sender
	if u.Login == "" && f.event.Comment != nil {
		u = f.event.Comment.User
	}
	if u.Login == "" {
		return standing{ignored: true}, nil
	}
	s := standing{login: u.Login, id: u.ID, want: want}
	login, err := f.hub.Login(ctx)
	if err != nil || strings.EqualFold(login, u.Login) {
		s.ignored = true
		return s, err
	}
	if strings.EqualFold(u.Type, "Bot") || strings.HasSuffix(u.Login, "[bot]") {
		s.may = f.allowed(u.ID) || f.event.Comment != nil && f.event.Comment.App != nil && f.allowed(f.event.Comment.App.ID)
		s.ignored = !s.may
		return s, nil
	}
	s.may, s.have, err = f.mayAnswer(ctx, u.Login, want)
	return s, err
}

func (f *face) allowed(id int64) bool {
	return slices.ContainsFunc(f.config.Answers.Apps, func(app int) bool { return int64(app) == id })
}

// quiet is how long a person who may not answer hears nothing more about it.
const quiet = time.Hour

// refuse tells a person on an issue that they may not answer: once within the
// hour, whatever they do. Nothing is recorded.
func (f *face) refuse(ctx context.Context, number int, s standing, putBack bool) error {
	prefix := f.key("refused", number, s.id, s.login)
	now := f.now()
	_, err := f.hub.PostSeldom(ctx, f.repo, number, marker.Format(prefix+"/"+now.UTC().Format("20060102T150405.000"), 0),
		render.NotAllowed(s.login, s.want, s.have, putBack, f.words()), escaped(prefix+"/"), now.Add(-quiet))
	return err
}

// escaped is a marker's key as it stands in the marker.
func escaped(key string) string {
	m := marker.Format(key, 0)
	_, rest, _ := strings.Cut(m, "key=")
	k, _, _ := strings.Cut(rest, " ")
	return k
}

// words are the options of a reply.
func (f *face) words() render.Options { return f.renderOptions(trigger{}) }
