package github

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bodyLimit is GitHub's limit for a comment or an issue, in characters.
const bodyLimit = 65_536

// mark is the hidden last line of a post of the bot:
//
//	<!-- switchback:v1 key=… gen=12 -->
//
// The key, which holds no space, says what "once" means. A post of a larger
// generation is newer; 0 means that generations are not counted.
type mark struct {
	key string
	gen int
}

// markOf reads the marker on the last line of text. A quoted or indented one,
// and one with text behind it, is none.
func markOf(text string) (mark, bool) {
	text = strings.TrimRight(text, " \t\r\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	rest, ok := strings.CutPrefix(line, "<!-- switchback:v1 key=")
	if rest, ok = cutSuffix(rest, " -->", ok); !ok {
		return mark{}, false
	}
	key, fields, _ := strings.Cut(rest, " ")
	m := mark{key: key}
	for _, f := range strings.Fields(fields) {
		if n, found := strings.CutPrefix(f, "gen="); found {
			gen, err := strconv.Atoi(n)
			if err != nil || gen < 0 {
				return mark{}, false
			}
			m.gen = gen
		}
	}
	return m, key != "" && !strings.Contains(key, "--")
}

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

func cutSuffix(s, suffix string, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, suffix)
}

// seal returns body with marker on its last line, cut to what GitHub takes.
// The marker is never cut: without it the next run would post again.
func seal(op, marker, body string) (mark, string, error) {
	m, ok := markOf(marker)
	if !ok || strings.Contains(marker, "\n") {
		return mark{}, "", failf(op, nil, "%q is not a marker", marker)
	}
	body = strings.TrimRight(strings.ToValidUTF8(body, "\uFFFD"), " \t\r\n")
	if have, ok := markOf(body); ok && have.key == m.key {
		body = strings.TrimRight(body[:strings.LastIndexByte("\n"+body, '\n')], " \t\r\n")
	}
	const note = "\n\n… (cut)"
	room := bodyLimit - len(marker) - 2
	if utf8.RuneCountInString(body) > room {
		body = string([]rune(body)[:room-utf8.RuneCountInString(note)]) + note
	}
	return m, body + "\n\n" + marker, nil
}

// sameText compares posts as GitHub keeps them: an edit in the browser makes
// line ends CRLF.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// replaces reports whether a post of generation m.gen and text body is to be
// written over one of generation have and text old. What is newer stays. What
// has the same generation says the same, so a difference is a person's edit
// and stays too.
func (m mark) replaces(have int, old, body string) bool {
	if m.gen < have || m.gen == have && m.gen != 0 {
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
