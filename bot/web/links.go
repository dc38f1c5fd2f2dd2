package web

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// links makes the links of pages, within the dashboard and to GitHub.
type links struct {
	names Names
	host  string // where people see GitHub, e.g. https://github.com
}

// href is a link to GitHub, or a text where URL is empty.
type href struct{ URL, Text string }

// github returns an address on GitHub of a repository, by the name of its streams.
func (l links) github(repo string, parts ...string) string {
	return strings.TrimSuffix(l.host, "/") + "/" + escapePath(l.names.Now(repo)) + "/" + escapePath(strings.Join(parts, "/"))
}

// subjectHref links to the pull request or the branch of a case.
func (l links) subjectHref(key string) href {
	repo := repoOf(key)
	rest := key[len(repo):]
	if n, ok := strings.CutPrefix(rest, "#"); ok && digits(n) {
		return href{l.github(repo, "pull", n), "Pull request #" + n}
	}
	if b, ok := strings.CutPrefix(rest, "@"); ok {
		return href{l.github(repo, "tree", b), "Branch " + OneLine(b)}
	}
	return href{Text: OneLine(key)}
}

// runHref links to a run.
func (l links) runHref(key string, r routing.Run) href {
	h := href{web(r.URL), OneLine(r.ID)}
	if h.URL == "" && digits(r.ID) {
		h.URL = l.github(repoOf(key), "actions", "runs", r.ID)
	}
	if r.Attempt > 1 {
		h.Text += ", attempt " + strconv.Itoa(r.Attempt)
	}
	return h
}

func (l links) commitHref(key, sha string) href {
	if !hexName.MatchString(sha) {
		return href{Text: OneLine(sha)}
	}
	return href{l.github(repoOf(key), "commit", sha), truncate.ShortSHA(sha)}
}

// placeHref links to a line of a file in a commit.
func (l links) placeHref(key, sha, file string, line int) href {
	if file == "" {
		return href{}
	}
	h := href{Text: OneLine(file)}
	if line > 0 {
		h.Text += ":" + strconv.Itoa(line)
	}
	clean := strings.TrimPrefix(file, "./")
	if hexName.MatchString(sha) && clean == path.Clean(clean) && !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(clean, "\\\x00") {
		h.URL = l.github(repoOf(key), "blob", sha, clean)
		if line > 0 {
			h.URL += "#L" + strconv.Itoa(line)
		}
	}
	return h
}

// refHref links to what an effect created on GitHub.
func (l links) refHref(key string, e routing.Effect, ref string) href {
	repo := repoOf(key)
	first, rest, _ := strings.Cut(ref, " ")
	switch e.Kind {
	case routing.EffectIssue:
		if digits(first) {
			return href{orElse(web(rest), l.github(repo, "issues", first)), "#" + first}
		}
	case routing.EffectCheck:
		if digits(first) {
			return href{l.github(repo, "runs", first), ""}
		}
	}
	id := strings.TrimPrefix(first, "comment:")
	if n := strings.TrimPrefix(key[len(repo):], "#"); digits(id) && digits(n) {
		return href{fmt.Sprintf("%s#issuecomment-%s", l.github(repo, "pull", n), id), ""}
	}
	return href{Text: OneLine(ref)}
}

// effectHref links to what an effect of a case created on GitHub, as far as the case records it.
func (l links) effectHref(st story, checkpoint string, kind routing.EffectKind, target string) href {
	slot := checkpoint + "/" + string(kind)
	if target != "" {
		slot += "/" + target
	}
	ref := st.Done[slot]
	if ref == "" {
		return href{}
	}
	return l.refHref(st.Key, routing.Effect{Kind: kind}, ref)
}

// casePath returns the path of the page of a case.
func (l links) casePath(key string) string {
	repo := repoOf(key)
	subject := strings.TrimPrefix(key[len(repo):], "#")
	return "/case/" + escapePath(l.names.Now(repo)+"/"+subject)
}

func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i, x := range parts {
		parts[i] = url.PathEscape(x)
	}
	return strings.Join(parts, "/")
}

// subject returns the name of a case, e.g. acme/shop#12.
func (l links) subject(key string) string {
	repo := repoOf(key)
	return fmt.Sprint(l.names.Now(repo), key[len(repo):])
}

var hexName = lazyregexp.New(`^[0-9a-f]{7,64}$`)

func digits(s string) bool {
	return s != "" && len(s) < 20 && strings.Trim(s, "0123456789") == ""
}

// web returns s if it is an http or https address, otherwise "".
func web(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
