package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Cell returns a text of a run as code that does not end the cell of a table, a dash for none.
func Cell(s string, most int, o Options) markdown.Text {
	if s == "" {
		return "–"
	}
	s = truncate.Head(s, 16*most, truncate.Ellipsis) // as it may be a megabyte
	return markdown.Code(strings.ReplaceAll(markdown.Cut(o.Redacted(s), most), "|", "¦"))
}

// CaseCell names a case within its repository and links its pull request, in the cell of a table.
func CaseCell(key string, o Options) markdown.Text {
	i := strings.IndexAny(key, "#@")
	switch {
	case i < 0:
		return Cell(key, 120, o)
	case key[i] == '#' && strings.Trim(key[i+1:], "0123456789") == "":
		return o.caseLink(key)
	}
	return Cell(key[i+1:], 120, o)
}

// RunCell links a run, in the cell of a table.
func RunCell(r routing.Run, o Options) markdown.Text {
	if r.ID == "" {
		return "–"
	}
	text := r.ID
	if r.Attempt > 1 {
		text = fmt.Sprintf("%s/%d", r.ID, r.Attempt)
	}
	return markdown.Link(Cell(text, 40, o), o.Address(r.URL))
}

// Who names a person without a mention, or says that it is somebody.
func Who(login string, o Options) markdown.Text {
	if login == "" {
		return o.say("act.someone")
	}
	return markdown.Code(o.Redacted(login))
}

// Minute returns a time to the minute.
func Minute(t time.Time) markdown.Text { return md(t.UTC().Format("2006-01-02 15:04") + " UTC") }
