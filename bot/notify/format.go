package notify

import (
	"encoding/json"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/catalog"
)

// body returns the request body of a message for an endpoint.
func (e Endpoint) body(m Message) ([]byte, error) {
	switch e.Format {
	case Slack:
		return json.Marshal(slackMessage(m, e.Language))
	case Teams:
		return json.Marshal(teamsMessage(m, e.Language))
	}
	return json.Marshal(m)
}

type object = map[string]any

// slackText escapes what Slack's markup would take for a link or a mention.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackMessage is a message for an incoming webhook of Slack. Titles and reasons are plain text: they
// hold what a run said.
func slackMessage(m Message, l catalog.Language) object {
	t := m.in(l)
	blocks := []object{{"type": "section", "text": object{"type": "plain_text", "text": t.title, "emoji": false}}}
	if t.body != "" {
		blocks = append(blocks, object{"type": "section", "text": object{"type": "plain_text", "text": t.body, "emoji": false}})
	}
	if m.URL != "" {
		blocks = append(blocks, object{"type": "actions", "elements": []object{
			{"type": "button", "text": object{"type": "plain_text", "text": l.Plain("notify.open")}, "url": m.URL}}})
	}
	return object{"text": slackText.Replace(t.title), "blocks": blocks, "unfurl_links": false, "unfurl_media": false}
}

// teamsMessage is a message for a workflow of Teams. RichTextBlock interprets no Markdown.
func teamsMessage(m Message, l catalog.Language) object {
	t := m.in(l)
	line := func(s string, run object) object {
		run["type"], run["text"] = "TextRun", s
		return object{"type": "RichTextBlock", "inlines": []object{run}}
	}
	body := []object{line(t.title, object{"weight": "Bolder"})}
	for s := range strings.SplitSeq(t.body, "\n") {
		if s != "" {
			body = append(body, line(s, object{}))
		}
	}
	card := object{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	if m.URL != "" {
		card["actions"] = []object{{"type": "Action.OpenUrl", "title": l.Plain("notify.open"), "url": m.URL}}
	}
	return object{"type": "message", "attachments": []object{{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}
