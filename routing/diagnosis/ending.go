package diagnosis

import (
	"regexp"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// An ending is what the last lines of a log say, after the last success.
type ending struct {
	text string
	// final reports that the run cannot have ended well, whatever its conclusion says: it was
	// cancelled, ran out of time or crashed. A command that failed can have been tolerated.
	final bool
}

var (
	// dump begins what a program prints when it ends by an error that nobody handled, in any language.
	dump = regexp.MustCompile(`^(?:panic: |fatal error: |runtime: goroutine stack exceeds|Traceback \(most recent call last\)|` +
		`Exception in thread |Unhandled exception|Uncaught (?:\w+Error|exception)|thread '[^']*' (?:\(\d+\) )?panicked at |` +
		`terminate called |PHP Fatal error: |Fatal error: Uncaught |\*\*\* Error in |==\d+==ERROR: \w+Sanitizer|` +
		`Segmentation fault|Aborted|Killed$|Bus error|Illegal instruction)`)
	// stopped is what runners say of a run that they ended.
	stopped = regexp.MustCompile(`(?i)^(?:error: )?(?:the operation was cancell?ed\.?$|the job (?:running on runner .* )?(?:has )?exceeded the maximum (?:execution )?time|` +
		`the action .* has timed out after|build timed out|job execution (?:has )?timed out|panic: test timed out after|execution timed out|no output has been received in the last)`)
	// shellError is a shell's message on a command, a file or an interpreter that is not there.
	shellError = regexp.MustCompile(`^(?:\S*/)?(?:ba|da|z|k|a)?sh: .*(?:not found|No such file or directory|Permission denied|bad interpreter|unbound variable|parameter null or not set|syntax error)`)
	// thrown is the last line of a trace: the error that nobody handled.
	thrown = regexp.MustCompile(`^(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt)(?:: |$)`)
)

// ending returns what the end of the log says against the tests that passed, false if nothing. It
// looks at the lines behind the last success only: before it, such lines can be the output of a test.
func (r *recent) ending() (ending, bool) {
	lines := r.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Passing || saysWell(lines[i]) {
			lines = lines[i+1:]
			break
		}
	}
	tail := 0 // lines with text from the end
	for i := len(lines) - 1; i >= 0; i-- {
		text := strings.TrimSpace(lines[i].Text)
		if text == "" {
			continue
		}
		tail++
		switch {
		case tail <= 3 && stopped.MatchString(text):
			return ending{text, true}, true
		case dump.MatchString(text) && ownsRest(lines[i+1:]):
			return ending{text, true}, true
		case tail <= 2 && (shellError.MatchString(text) || thrown.MatchString(lines[i].Text)):
			return ending{text, false}, true
		}
	}
	return ending{}, false
}

// ownsRest reports whether the lines behind the first of a dump belong to it: indented frames, frames
// of goroutines, and the error at its end. Anything else means that the run went on.
func ownsRest(rest []testreport.Line) bool {
	other := 0
	for _, l := range rest {
		t := l.Text
		switch {
		case strings.TrimSpace(t) == "", t[0] == ' ' || t[0] == '\t' || t[0] == '#' || t[0] == '=':
		case strings.HasPrefix(t, "goroutine "), strings.HasPrefix(t, "created by "), strings.HasSuffix(t, ")"), strings.HasPrefix(t, "note: "),
			strings.HasPrefix(t, "SUMMARY: "), strings.HasPrefix(t, "caused by"), strings.HasPrefix(t, "Caused by"), thrown.MatchString(t), l.Mark == "error",
			strings.HasPrefix(t, "exit status "), strings.HasPrefix(t, "FAIL"), strings.HasPrefix(t, "make"):
		default:
			if other++; other > 1 { // a message may have a second line
				return false
			}
		}
	}
	return true
}

// lines returns the lines, oldest first, as they stand in the ring.
func (r *recent) lines() []testreport.Line {
	n := min(r.n, recentLines)
	out := make([]testreport.Line, 0, n)
	for i := r.n - n; i < r.n; i++ {
		out = append(out, r.ring[i%recentLines])
	}
	return out
}
