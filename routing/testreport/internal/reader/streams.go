package reader

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// streams are the outputs of processes that run at once and whose lines a monorepo's runner mixes:
// it sets a prefix before each line of theirs. A prefix is believed where the runner shows behind
// or beside it which command it starts. Each stream is read by consoles of its own.
type streams struct {
	open []*stream
	last int // the stream of the last line
	made int // in this log
}

type stream struct {
	prefix   string
	consoles consoles
}

// maxStreams bounds the streams of one step; the lines of further ones are read as they are.
const maxStreams = 64

// of returns the stream that l belongs to, and l without the prefix; nil if it has none.
func (s *streams) of(l *lines.Line) (*stream, string) {
	for i := range s.open {
		st := s.open[(s.last+i)%len(s.open)]
		if text, ok := lines.CutPrefixed(l.Text, st.prefix); ok {
			s.last = (s.last + i) % len(s.open)
			return st, text
		}
	}
	return nil, ""
}

// knows reports whether a stream has that prefix.
func (s *streams) knows(prefix string) bool {
	for _, st := range s.open {
		if st.prefix == prefix {
			return true
		}
	}
	return false
}

// declaredPrefix returns the prefix of the process whose start t shows:
//
//	packages/a test$ vitest run          pnpm
//	a:test: cache miss, executing 1f2e   turbo
//	a: > a@1.0.0 test                    lerna, nx, turbo, behind npm's or pnpm's own line
//	[a]: Process started                 yarn
//	[0] $ jest                           concurrently, npm-run-all
func declaredPrefix(t string) string {
	if len(t) < 6 || t[0] == ' ' || t[0] == '#' {
		return ""
	}
	if i := strings.Index(t, "$ "); i > 0 && i < 160 {
		if p := pnpmPrefix(t[:i]); p != "" {
			return p
		}
	}
	prefix := lines.OutputPrefix(t)
	if prefix == "" {
		return ""
	}
	rest := t[len(prefix):]
	switch {
	case strings.HasPrefix(rest, "> ") && npmEcho(rest[2:]),
		strings.HasPrefix(rest, "$ ") && len(rest) > 3 && rest[2] >= 'a' && rest[2] <= 'z',
		strings.HasPrefix(rest, "cache miss, executing "), strings.HasPrefix(rest, "cache bypass, force executing "),
		strings.HasPrefix(rest, "cache hit, replaying "), rest == "Process started":
		return prefix
	}
	return ""
}

// pnpmPrefix reads "packages/a test" before "$ cmd".
func pnpmPrefix(head string) string {
	dir, script, ok := strings.Cut(head, " ")
	if !ok || dir == "" || script == "" || strings.ContainsAny(head, "\"'`=()<>{}|;") || strings.Contains(script, " ") {
		return ""
	}
	return head + ": "
}

// npmEcho reads "name@1.0.0 test" with which npm and pnpm announce a script.
func npmEcho(s string) bool {
	name, script, ok := strings.Cut(s, " ")
	at := strings.LastIndexByte(name, '@')
	return ok && at > 0 && at+1 < len(name) && name[at+1] >= '0' && name[at+1] <= '9' && script != ""
}
