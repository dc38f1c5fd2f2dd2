package generic

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// cucumberJSONFormat reads the JSON of Cucumber for Ruby, JavaScript, the JVM
// and Go (godog), and that of behave.
var cucumberJSONFormat = format.Format{
	Name:  "cucumber-json",
	Order: 250,
	Opens: []string{"uri", "id", "keyword", "name", "description", "comments", "tags", "line", "elements"}, Document: readCucumberJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"keyword"`, func(h jsonstream.Head) bool {
		// What names the feature may stand behind its elements.
		return h.Any("[].elements[].keyword", "[].keyword") && h.Any("[].elements[].steps", "[].elements[].type", "[].elements")
	}),
}

type cucumberJSON struct {
	d         *format.Document
	r         *jsonstream.Reader
	undefined int
	at        int // line of the first undefined scenario
}

func readCucumberJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "cucumber-json", func(r *jsonstream.Reader) bool {
		c := &cucumberJSON{d: d, r: r}
		known := false
		r.Array(func() { known = true; c.feature() })
		if c.undefined > 0 {
			d.Out.Problem(model.Problem{Kind: model.KindExit, Name: "cucumber", At: c.at,
				Message: fmt.Sprintf("%s undefined steps, which fail a strict run", parse.Plural(c.undefined, "scenario")+" with")})
		}
		return known
	})
}

// cucumberElement is a scenario or a background.
type cucumberElement struct {
	t          model.Test
	id         string
	background bool
	steps      int
	status     string // the worst of its steps and hooks
	step       string // that decided it
	text       string
	hook       bool
}

func (c *cucumberJSON) feature() {
	r := c.r
	var uri, name string
	var held failtext.Reruns
	var elements []cucumberElement
	r.Object(func(key string) {
		switch key {
		case "uri":
			uri = r.Short(1000)
		case "location":
			uri, _ = cucumberPlace(r.Short(1000))
		case "name":
			name = r.Short(1000)
		case "elements":
			var before cucumberElement // the background of the next scenario
			r.Array(func() {
				e, ok := c.element()
				if !ok {
					return
				}
				if e.background {
					before = e
					return
				}
				e.after(&before)
				before = cucumberElement{}
				if elements = append(elements, e); len(elements) >= failtext.HoldTests/4 {
					c.flush(&held, elements, uri, name)
					elements = elements[:0]
				}
			})
		}
	})
	c.flush(&held, elements, uri, name)
	held.Flush()
}

// flush emits scenarios. One of the same place as another is its retry.
func (c *cucumberJSON) flush(held *failtext.Reruns, elements []cucumberElement, uri, name string) {
	held.Out = c.d.Out
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "file:"), "classpath:")
	for i := range elements {
		e := &elements[i]
		e.t.Suite = strings.TrimSpace(name)
		e.t.File = parse.FirstOf(uri, e.t.File)
		key := ""
		if e.t.Line > 0 {
			key = e.id + "\x00" + e.t.Name + "\x00" + strconv.Itoa(e.t.Line)
		}
		t := e.test(c)
		held.Take(key, &t)
	}
	held.Flush()
}

// cucumberPlace splits "features/a.feature:12".
func cucumberPlace(s string) (file string, line int) {
	if i := strings.LastIndexByte(s, ':'); i > 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil {
			return s[:i], n
		}
	}
	return s, 0
}

func (c *cucumberJSON) element() (cucumberElement, bool) {
	r := c.r
	e := cucumberElement{t: model.Test{At: r.At()}}
	status := ""
	whole := r.Object(func(key string) {
		switch key {
		case "id":
			e.id = r.Short(1000)
		case "type":
			e.background = r.Short(40) == "background"
		case "keyword":
			if r.Short(40) == "Background" {
				e.background = true
			}
		case "name":
			e.t.Name = r.Short(2000)
		case "line":
			e.t.Line = max(r.Int(), 0)
		case "location":
			e.t.File, e.t.Line = cucumberPlace(r.Short(1000))
		case "status":
			status = r.Short(40) // behave
		case "before", "after":
			r.Array(func() { c.step(&e, true) })
		case "steps":
			r.Array(func() { c.step(&e, false) })
		}
	})
	if status != "" && e.status == "" {
		e.status = strings.ToLower(status)
	}
	return e, whole || cucumberRank(e.status) >= cucumberRank("failed")
}

// step reads a step or hook, whose hooks may stand inside it.
func (c *cucumberJSON) step(e *cucumberElement, hook bool) {
	r := c.r
	var keyword, name, status, text string
	hidden, result := false, false
	r.Object(func(key string) {
		switch key {
		case "keyword":
			keyword = r.Short(100)
		case "name":
			name = r.Short(1000)
		case "hidden":
			hidden = r.Truth()
		case "before", "after":
			r.Array(func() { c.step(e, true) })
		case "result":
			result = true
			r.Object(func(key string) {
				switch key {
				case "status":
					status = strings.ToLower(r.Short(40))
				case "duration":
					e.t.Duration += cucumberDuration(r)
				case "error_message":
					text = c.errorMessage()
				}
			})
		}
	})
	if !hook && !hidden {
		e.steps++
	}
	if status == "" && !result && !hook {
		status = "skipped" // behave gives steps that did not run no result
	}
	if cucumberRank(status) > cucumberRank(e.status) {
		e.status, e.text, e.hook = status, text, hook || hidden
		e.step = strings.TrimSpace(keyword + name)
		if !strings.HasSuffix(keyword, " ") {
			e.step = strings.TrimSpace(keyword + " " + name)
		}
	}
}

// errorMessage is a text, or in behave a list of lines.
func (c *cucumberJSON) errorMessage() string {
	if c.r.Peek() != '[' {
		return c.r.Str()
	}
	var lines []string
	c.r.Array(func() {
		if s := c.r.Short(4000); len(lines) < 200 {
			lines = append(lines, s)
		}
	})
	return strings.Join(lines, "\n")
}

// cucumberRank orders the states of steps: the highest is the scenario's.
func cucumberRank(status string) int {
	switch status {
	case "":
		return 0
	case "passed":
		return 1
	case "skipped", "untested":
		return 2
	case "pending", "unknown":
		return 3
	case "undefined":
		return 4
	case "failed", "ambiguous", "error", "hook_error", "cleanup_error":
		return 5
	}
	return 3 // a word that nobody knows
}

// after takes what happened in the background before the scenario.
func (e *cucumberElement) after(b *cucumberElement) {
	e.t.Duration += b.t.Duration
	e.steps += b.steps
	if cucumberRank(b.status) > cucumberRank(e.status) {
		e.status, e.step, e.text, e.hook = b.status, b.step, b.text, b.hook
	}
}

func (e *cucumberElement) test(c *cucumberJSON) model.Test {
	t := e.t
	t.Name = parse.FirstOf(strings.TrimSpace(t.Name), e.id, "(no name)")
	switch rank := cucumberRank(e.status); {
	case rank == 5:
		t.Status = model.Failed
		cucumberFailure(&t, e)
	case rank == 4:
		t.Status, t.Message = model.Pending, "undefined: "+e.step
		if c.undefined++; c.at == 0 {
			c.at = t.At
		}
	case rank == 3 && e.status != "pending" && e.status != "unknown":
		t.Status, t.Message = model.Other, "the status of "+parse.FirstOf(e.step, "the scenario")+" is "+e.status
	case rank == 3, e.steps == 0:
		t.Status = model.Pending
	case rank == 2:
		t.Status = model.Skipped
	default:
		t.Status = model.Passed
	}
	return t
}

func cucumberFailure(t *model.Test, e *cucumberElement) {
	text := strings.TrimSpace(e.text)
	t.Message, t.Trace = text, text
	if i := strings.Index(text, "\n    at "); i > 0 {
		t.Message = strings.TrimSpace(text[:i])
	} else if i := cucumberTrace(text); i > 0 {
		t.Message = strings.TrimSpace(text[:i])
	}
	if strings.HasPrefix(text, "Traceback (most recent call last)") {
		t.Message = text[strings.LastIndexByte(text, '\n')+1:] // behave: the exception stands last
		t.Type, _, _ = strings.Cut(t.Message, ":")
	}
	if t.Message == "" {
		t.Message = parse.FirstOf(e.step, "the scenario") + ": " + e.status
	}
	t.Type = parse.FirstOf(failtext.JSErrorType(t.Message), t.Type)
	head, last := parse.HeadLine(t.Message), t.Message[strings.LastIndexByte(t.Message, '\n')+1:]
	if i := strings.LastIndex(last, " ("); i >= 0 && strings.HasSuffix(last, ")") && !strings.ContainsAny(last[i+2:len(last)-1], " ,'\"") && parse.HasAny(last[i:], "Error", "Exception", "::") {
		t.Type = last[i+2 : len(last)-1] // Ruby: words (Class)
	}
	if name, _, ok := strings.Cut(head, ": "); ok && t.Type == "" && parse.HasAny(name, "Error", "Exception") && !strings.Contains(name, " ") {
		t.Type = name // Java
	}
	t.Expected, t.Actual, _ = failtext.SplitAssertion(t.Message)
	switch {
	case e.hook:
		t.Kind = model.KindSetup
	case strings.Contains(head, "timed out, ensure the promise"), strings.Contains(head, "function timed out"):
		t.Kind = model.KindTimeout
	case strings.HasPrefix(head, "Assertion Failed:"), strings.HasPrefix(head, "ASSERT FAILED:"), parse.HasAny(t.Type, "Assert", "Expectation", "ComparisonFailure") || t.Type == "" && t.Expected != "":
		t.Kind = model.KindAssertion
	case t.Type != "":
		t.Kind = model.KindError
	}
	if e.step != "" && !e.hook {
		t.Trace = e.step + "\n" + t.Trace
	}
}

// cucumberTrace returns where the frames of Ruby begin, or -1.
func cucumberTrace(text string) int {
	for i := 0; i < len(text); {
		line := parse.HeadLine(text[i:])
		if strings.Contains(line, ":in `") || strings.Contains(line, ":in '") || strings.HasPrefix(line, "\tat ") {
			return i
		}
		i += len(line) + 1
	}
	return -1
}

// cucumberDuration reads a duration: Cucumber's are nanoseconds, behave's
// seconds with a fraction.
func cucumberDuration(r *jsonstream.Reader) time.Duration {
	if r.Peek() == '"' {
		return parse.Nanos(r.Float())
	}
	s := r.Short(64)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f {
		return 0
	}
	if strings.ContainsAny(s, ".eE-") && f < 1e6 {
		return parse.Secs(f)
	}
	return parse.Nanos(f)
}
