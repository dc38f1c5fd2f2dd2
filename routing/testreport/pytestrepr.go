package testreport

import (
	"strconv"
	"strings"
)

// pytestLong is what pytest calls a longrepr: how a failure is shown, a text
// or an object with entries.
type pytestLong struct {
	whole   string
	lines   strings.Builder
	message string // of the crash
	file    string
	line    int
}

func (l *pytestLong) text() string {
	return strings.Trim(firstOf(l.whole, l.lines.String(), l.message), "\n")
}

// crash reads the place and the words of the exception.
func (l *pytestLong) crash(r *jsonReader) {
	r.object(func(key string) {
		switch key {
		case "path":
			l.file = r.short(1000)
		case "lineno":
			l.line = max(r.int(), 0)
		case "message":
			l.message = strings.TrimSpace(r.str())
		}
	})
}

func (l *pytestLong) add(s string, max int) {
	if l.lines.Len() < max {
		l.lines.WriteString(s)
		l.lines.WriteByte('\n')
	}
}

// pytestRepr reads a longrepr.
func pytestRepr(r *jsonReader) pytestLong {
	l := &pytestLong{}
	if r.peek() != '{' {
		l.whole = r.str()
		return *l
	}
	r.object(func(key string) {
		switch key {
		case "reprcrash":
			l.crash(r)
		case "longrepr":
			l.whole = r.str() // of a file that could not be collected
		case "reprtraceback":
			l.traceback(r)
		}
	})
	return pytestLong{whole: strings.Trim(firstOf(l.whole, l.lines.String()), "\n"), message: l.message, file: l.file, line: l.line}
}

func (l *pytestLong) traceback(r *jsonReader) {
	extra := ""
	r.object(func(key string) {
		switch key {
		case "extraline":
			extra = r.str()
		case "reprentries":
			r.array(func() {
				r.object(func(key string) {
					if key == "data" {
						l.entry(r)
					}
				})
			})
		}
	})
	if extra != "" {
		l.add(extra, r.text)
	}
}

func (l *pytestLong) entry(r *jsonReader) {
	var place string
	r.object(func(key string) {
		switch key {
		case "lines":
			r.array(func() { l.add(r.short(4000), r.text) })
		case "reprfileloc":
			var at pytestLong
			at.crash(r)
			if at.file != "" {
				place = at.file + ":" + strconv.Itoa(at.line) + ": " + at.message
			}
		}
	})
	if place != "" {
		l.add("\n"+place, r.text)
	}
}
