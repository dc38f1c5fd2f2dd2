package render

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Language is the language of the fixed texts; see package catalog.
type Language = catalog.Language

// The languages; any other counts as English.
const (
	English = catalog.English
	Korean  = catalog.Korean
)

// DefaultLimit is the size of a post in bytes. GitHub refuses bodies of more
// than 65,536 characters, and counts them in its own way.
const DefaultLimit = 60_000

// Options are what a rendering needs besides the case. All fields may be empty.
type Options struct {
	ServerURL   string              // "" is https://github.com
	Repo        string              // owner/name of the subject, "" is the run's
	Language    Language            // of the fixed texts
	Mention     string              // the one mention that stays live, e.g. "@octocat"
	IssueURL    string              // of the escalation issue, once it is known
	RunURL      string              // of the run, "" is the one the verdict names
	Redact      func(string) string // removes secrets; applied before anything is cut
	Limit       int                 // bytes, 0 is DefaultLimit
	HandoffNote string              // how the rework is handed over, one sentence
	Approval    *Approval           // of a change that starts nobody before it, nil if none is awaited
	Handles     []string            // logins and teams, without "@", whose mention may trigger a workflow
	Shared      Shared              // of an escalation issue
}

func (o Options) MaxBytes() int {
	if o.Limit <= 0 {
		return DefaultLimit
	}
	return o.Limit
}

func (o Options) Server() string {
	u, err := url.Parse(o.ServerURL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "https://github.com"
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(path.Clean("/"+u.EscapedPath()), "/")
}

// Redacted cleans s, removes secrets and breaks configured handles: a secret split by an escape
// sequence is whole again when it is looked for. Whatever is not ours passes through here.
func (o Options) Redacted(s string) string {
	if s == "" {
		return s
	}
	s = markdown.Clean(s)
	if o.Redact != nil {
		s = markdown.Clean(o.Redact(s))
	}
	return o.Unmentioned(s)
}

// brokenAt stands for the "@" of a configured handle in text that is not ours.
const brokenAt = "(at)"

// Unmentioned breaks the configured handles in s, in any case and as the beginning of a longer name:
// a workflow with `contains(comment.body, '@agent')` reads no Markdown and would be started by what a
// test prints.
func (o Options) Unmentioned(s string) string {
	if len(o.Handles) == 0 || !strings.Contains(s, "@") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '@')
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		if s = s[i+1:]; o.startsHandle(s) {
			b.WriteString(brokenAt)
		} else {
			b.WriteByte('@')
		}
	}
}

func (o Options) startsHandle(s string) bool {
	return slices.ContainsFunc(o.Handles, func(h string) bool {
		return h != "" && len(s) >= len(h) && strings.EqualFold(s[:len(h)], h)
	})
}

// Approval is the approval that a hand-off waits for.
type Approval struct {
	What []string // starts then
	Role string   // that who approves needs
}

var (
	repoName    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
	commitHash  = lazyregexp.New(`^[0-9a-f]{7,64}$`)
	mentionName = lazyregexp.New(`^@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\[bot\])?(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?$`)
)

// mention returns the mentions of o that have the form of one, separated by spaces.
func (o Options) Mentions() string {
	var out []string
	for _, m := range strings.Fields(o.Mention) {
		if m = strings.TrimRight(m, ","); mentionName.MatchString(m) && len(m) <= 100 {
			out = append(out, m)
		}
	}
	return strings.Join(out, " ")
}

// blob returns the address of a line of a file at a commit, "" if one of them
// is not what it should be.
func (o Options) blob(repo, sha, file string, line int) string {
	if !repoName.MatchString(repo) || !commitHash.MatchString(sha) || !relative(file) {
		return ""
	}
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = escapePath(parts[i])
	}
	u := o.Server() + "/" + repo + "/blob/" + sha + "/" + strings.Join(parts, "/")
	if line > 0 {
		u += "#L" + strconv.Itoa(line)
	}
	return u
}

// relative reports whether file is a path within the repository.
func relative(file string) bool {
	return file != "" && len(file) <= 300 && path.Clean(file) == file && !path.IsAbs(file) && file != ".." &&
		!strings.HasPrefix(file, "../") && !strings.ContainsAny(file, "\\\n\t:<>`") && markdown.Clean(file) == file
}

// escapePath escapes more than url.PathEscape: a parenthesis would end a link.
func escapePath(s string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", "'", "%27", "!", "%21", "*", "%2A", "@", "%40").Replace(url.PathEscape(s))
}

// address returns u if it is a page of the server, else "".
func (o Options) Address(u string) string {
	p, err := url.Parse(u)
	if err != nil || p.User != nil || len(u) > 400 {
		return ""
	}
	s := p.String()
	if !strings.HasPrefix(s, o.Server()+"/") || strings.ContainsAny(s, " ()<>[]`\"'\\|@*") || markdown.Clean(s) != s {
		return ""
	}
	return s
}
