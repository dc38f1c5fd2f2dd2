package web

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// href is a place on GitHub; without URL it is but named.
type href struct{ URL, Text string }

// github is an address on GitHub of a repository, by the name its streams are kept under.
func (s *Server) github(repo string, parts ...string) string {
	return strings.TrimSuffix(s.o.GitHub, "/") + "/" + escapePath(s.o.Names.Now(repo)) + "/" + escapePath(strings.Join(parts, "/"))
}

// subjectHref is the pull request or the branch that a case is about.
func (s *Server) subjectHref(key string) href {
	repo := repoOf(key)
	rest := key[len(repo):]
	if n, ok := strings.CutPrefix(rest, "#"); ok && digits(n) {
		return href{s.github(repo, "pull", n), "Pull request #" + n}
	}
	if b, ok := strings.CutPrefix(rest, "@"); ok {
		return href{s.github(repo, "tree", b), "Branch " + oneLine(b)}
	}
	return href{Text: oneLine(key)}
}

// runHref is a run where it can be looked at.
func (s *Server) runHref(key string, r routing.Run) href {
	h := href{web(r.URL), oneLine(r.ID)}
	if h.URL == "" && digits(r.ID) {
		h.URL = s.github(repoOf(key), "actions", "runs", r.ID)
	}
	if r.Attempt > 1 {
		h.Text += ", attempt " + strconv.Itoa(r.Attempt)
	}
	return h
}

func (s *Server) commitHref(key, sha string) href {
	if !hexName.MatchString(sha) {
		return href{Text: oneLine(sha)}
	}
	return href{s.github(repoOf(key), "commit", sha), truncate.ShortSHA(sha)}
}

// placeHref is a line of a file as a commit has it.
func (s *Server) placeHref(key, sha, file string, line int) href {
	if file == "" {
		return href{}
	}
	h := href{Text: oneLine(file)}
	if line > 0 {
		h.Text += ":" + strconv.Itoa(line)
	}
	clean := strings.TrimPrefix(file, "./")
	if hexName.MatchString(sha) && clean == path.Clean(clean) && !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(clean, "\\\x00") {
		h.URL = s.github(repoOf(key), "blob", sha, clean)
		if line > 0 {
			h.URL += "#L" + strconv.Itoa(line)
		}
	}
	return h
}

// refHref is what an effect left behind on GitHub.
func (s *Server) refHref(key string, e routing.Effect, ref string) href {
	repo := repoOf(key)
	first, rest, _ := strings.Cut(ref, " ")
	switch e.Kind {
	case routing.EffectIssue:
		if digits(first) {
			return href{orElse(web(rest), s.github(repo, "issues", first)), "#" + first}
		}
	case routing.EffectCheck:
		if digits(first) {
			return href{s.github(repo, "runs", first), ""}
		}
	}
	id := strings.TrimPrefix(first, "comment:")
	if n := strings.TrimPrefix(key[len(repo):], "#"); digits(id) && digits(n) {
		return href{fmt.Sprintf("%s#issuecomment-%s", s.github(repo, "pull", n), id), ""}
	}
	return href{Text: oneLine(ref)}
}

var hexName = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

func digits(s string) bool {
	return s != "" && len(s) < 20 && strings.Trim(s, "0123456789") == ""
}

// web returns an address of the web, and "" for anything else.
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
