package github

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/marker"
)

// bodyLimit is GitHub's limit for a comment or an issue, in characters.
const bodyLimit = 65_536

// sameKey reports whether two keys mean one thing of a repository, of which one
// may be from before it was renamed. It is for posts that are known by their
// number: an issue that was transferred is found under another.
func sameKey(a, b string) bool {
	rest := func(key string) string {
		if i := strings.IndexAny(key, "#@!"); i >= 0 {
			return key[i:]
		}
		return key
	}
	return a == b || rest(a) == rest(b)
}

// seal returns text with mark, the line of a marker, on its last line, truncated to GitHub's limit.
// The marker is never truncated: without it the next run would post again.
func seal(op, mark string, text markdown.Text) (marker.Marker, string, error) {
	m, ok := marker.Parse(mark)
	if !ok || strings.Contains(mark, "\n") {
		return marker.Marker{}, "", failf(op, nil, "%q is not a marker", mark)
	}
	body := strings.TrimRight(strings.ToValidUTF8(string(text), "\uFFFD"), " \t\r\n")
	if have, ok := marker.Parse(body); ok && have.Key == m.Key {
		body, _ = marker.Split(body)
	}
	return m, string(markdown.Truncate(markdown.Text(body), bodyLimit-len(mark)-2, utf8.RuneCountInString)) + "\n\n" + mark, nil
}

// sameText compares posts as GitHub stores them: an edit in the browser makes line ends CRLF.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// replaces reports whether a post with marker m and text body is to be written over one of
// generation have and text old. What is newer stays. What has the same generation says the same, so
// a difference is a person's edit and stays too.
func replaces(m marker.Marker, have int, old, body string) bool {
	if have = given(m, have, time.Now()); m.Gen < have || m.Gen == have && m.Gen != 0 {
		return false
	}
	return !sameText(old, body)
}

func number(op, ref string) (int64, error) {
	n, err := strconv.ParseInt(ref, 10, 64)
	if err != nil || n <= 0 {
		return 0, failf(op, nil, "%q is not a reference", ref)
	}
	return n, nil
}

func opf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
