package rust

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// rustFailure makes a Test of the output of one that failed.
func rustFailure(suite, name, text string, at int, crashed bool) model.Test {
	t := model.Test{Suite: suite, Name: name, Status: model.Failed, Trace: text, At: at}
	p := readPanic(text)
	t.File, t.Line, t.Column, t.Message = p.file, p.line, p.col, p.message
	t.Kind = rustKind(t.Message, text)
	if crashed {
		t.Kind = model.KindCrash
		t.Message = parse.FirstOf(parse.FirstOf(t.Message, text), "the process ended while the test ran")
	}
	if left, right, ok := leftRight(t.Message); ok {
		t.Actual, t.Expected = left, right
	} else if e, a, ok := failtext.SplitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	}
	return t
}

func rustKind(msg, text string) model.Kind {
	switch {
	case strings.HasPrefix(msg, "assertion "), strings.HasPrefix(msg, "test did not panic"), strings.HasPrefix(msg, "panic did not contain"):
		return model.KindAssertion
	case strings.Contains(text, "Couldn't compile the test."):
		return model.KindBuild
	case msg == "":
		return ""
	}
	return model.KindError
}

// rustPanic is what a panic says of itself.
type rustPanic struct {
	file      string
	line, col int
	message   string
}

// readPanic finds the first panic in what a test printed, else the error it
// returned, else how a doctest failed.
func readPanic(text string) rustPanic {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if j := strings.Index(l, " panicked at "); j > 0 && strings.HasPrefix(l, "thread ") {
			p := panicAt(l[j+len(" panicked at "):], lines[i+1:])
			if p.message != "" || p.file != "" {
				return p
			}
		}
	}
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "Error: "):
			return rustPanic{message: strings.TrimSpace(untilNote(l, lines[i+1:]))}
		case strings.HasPrefix(l, "note: test did not panic as expected"), strings.HasPrefix(l, "note: panic did not contain expected string"):
			return rustPanic{message: strings.TrimPrefix(l, "note: ")}
		case strings.HasPrefix(l, "error") && strings.Contains(l, ": "):
			p := rustPanic{message: l}
			if i+1 < len(lines) {
				if place, ok := strings.CutPrefix(strings.TrimLeft(lines[i+1], " "), "--> "); ok {
					p.file, p.line, p.col, _ = parse.Location(place)
				}
			}
			return p
		case strings.HasPrefix(l, "Test executable failed"), strings.HasPrefix(l, "Test executable succeeded, but"), strings.HasPrefix(l, "Test compiled successfully, but"):
			return rustPanic{message: l}
		}
	}
	return rustPanic{}
}

// panicAt reads what stands behind "panicked at": the place and then the
// message, or before Rust 1.73 the message in quotes and then the place.
func panicAt(head string, following []string) rustPanic {
	if file, line, col, ok := parse.Location(strings.TrimSuffix(head, ":")); ok && strings.HasSuffix(head, ":") {
		return rustPanic{file, line, col, strings.TrimSpace(untilNote("", following))}
	}
	if !strings.HasPrefix(head, "'") {
		return rustPanic{message: head}
	}
	msg := head
	for _, l := range following {
		if strings.Contains(msg, "', ") || strings.HasPrefix(l, "note: ") {
			break
		}
		msg += "\n" + l
	}
	i := strings.LastIndex(msg, "', ")
	if i < 1 {
		return rustPanic{message: msg}
	}
	p := rustPanic{message: strings.TrimSpace(msg[1:i])}
	p.file, p.line, p.col, _ = parse.Location(parse.HeadLine(msg[i+3:]))
	return p
}

// untilNote joins head and the lines that follow, up to a note or a backtrace.
func untilNote(head string, lines []string) string {
	for i, l := range lines {
		if i > 100 || strings.HasPrefix(l, "note: ") || l == "stack backtrace:" || strings.HasPrefix(l, "thread '") {
			break
		}
		head += "\n" + l
	}
	return head
}

// leftRight reads the sides of assert_eq!: by convention the left one is what
// the code gave and the right one what was expected.
func leftRight(msg string) (left, right string, ok bool) {
	var hasL, hasR bool
	for _, l := range strings.Split(msg, "\n") {
		s := strings.TrimLeft(l, " ")
		switch {
		case !hasL && strings.HasPrefix(s, "left: "):
			left, hasL = oldSide(s[6:]), true
		case !hasR && strings.HasPrefix(s, "right: "):
			right, hasR = oldSide(s[7:]), true
		case hasR || !hasL:
		default:
			left += "\n" + l // a value of several lines
		}
	}
	return left, right, hasL && hasR
}

// oldSide removes the backquotes of versions before 1.73, and what followed them.
func oldSide(s string) string {
	if s == "" || s[0] != '`' {
		return s
	}
	s = s[1:]
	if i := strings.Index(s, "`: "); i >= 0 {
		return s[:i]
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, ","), "`")
}
