package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Limits of the inputs of a workflow that is dispatched.
const (
	mostInputs     = 25     // GitHub's; some servers take ten
	mostInputBytes = 64_000 // of all names and values, below GitHub's 65,535 characters
	mostBrief      = 16 << 10
	mostFeedback   = 40 << 10
)

// ownInputs are the inputs that every workflow that is a worker is given besides those that the
// port's file names.
var ownInputs = []string{"key", "port", "plan", "build", "role", "iteration", "brief", "feedback"}

// Dispatch says which worker a workflow was dispatched as.
type Dispatch struct {
	Plan, Port string
	Role       Role
	Turn       int
	Mark       string // 24 hexadecimal digits that no other dispatch has
}

// Key is what the run that it starts is recognised by. The workflow shows it in
// its run-name.
func (d Dispatch) Key() string {
	return fmt.Sprintf("%s/%s/%s/%d/%s", d.Plan, d.Port, d.Role, d.Turn, d.Mark)
}

var dispatchRE = lazyregexp.New(`([A-Za-z0-9][A-Za-z0-9._-]{0,99})/([A-Za-z0-9][A-Za-z0-9._-]{0,79})/(impl|test)/([1-9][0-9]{0,3})/([0-9a-f]{24})\b`)

// FindDispatch returns the dispatch whose key stands in the title of a run.
func FindDispatch(title string) (Dispatch, bool) {
	m := dispatchRE.FindStringSubmatch(title)
	if m == nil {
		return Dispatch{}, false
	}
	turn, _ := strconv.Atoi(m[4]) // digits
	return Dispatch{m[1], m[2], Role(m[3]), turn, m[5]}, true
}

// Inputs returns what the workflow of a worker is dispatched with, within
// GitHub's limit: the brief and the feedback are cut where they are too long, and
// say so. last is what the turn before failed with, nil if there is none; requests is
// what other ports want, as JSON.
func (d Dispatch) Inputs(l Loop, spec Spec, last *TestFeedback, requests json.RawMessage) map[string]string {
	own := map[string]string{}
	if c := spec.Impl; d.Role == Impl && c != nil {
		own = c.Inputs
	} else if c := spec.Test; d.Role == Test && c != nil {
		own = c.Inputs
	}
	in := map[string]string{
		"key": d.Key(), "port": l.Port, "plan": d.Plan, "build": strings.TrimSuffix(l.Operator, "/"+l.Port), "role": string(d.Role),
		"iteration": strconv.Itoa(l.CurrentTry), "brief": shortBrief(spec, mostBrief), "feedback": "",
	}
	left := mostInputBytes
	for _, m := range []map[string]string{own, in} {
		for k, v := range m {
			left -= len(k) + len(v)
		}
	}
	if last != nil {
		in["feedback"] = string(last.Compact(min(mostFeedback, left), requests))
	}
	for k, v := range own {
		in[k] = v
	}
	return in
}

func shortBrief(s Spec, most int) string {
	if len(s.Brief) <= most {
		return s.Brief
	}
	return fmt.Sprintf("%s\n\n[%d bytes are cut here; all of it stands in %s]", truncate.Prefix(s.Brief, most), len(s.Brief)-len(truncate.Prefix(s.Brief, most)), s.File)
}

// Cut says what of some feedback was left out to make it fit.
type Cut struct {
	Tests       int `json:"failed_tests"` // that are not listed
	Suggestions int `json:"suggestions"`  // that are not listed
	Texts       int `json:"texts"`        // that end early
	Requests    int `json:"requests"`     // bytes of what other ports want
}

// Compact returns the feedback, and what other ports want, as JSON of at most so
// many bytes. What is cut stands under the key cut: first long texts are, then
// tests left out, from the end. What other ports want is there as a whole or, if
// it takes more than half of the space, not at all. With less space than a few
// hundred bytes nothing is returned.
func (f TestFeedback) Compact(most int, requests json.RawMessage) []byte {
	c := compact{TestFeedback: f, Requests: requests}
	if len(requests) > most/2 {
		c.Requests, c.gone = nil, len(requests)
	}
	for _, text := range []int{1 << 30, 4000, 1000, 300} {
		if b := c.json(len(f.FailedTests), text); len(b) <= most {
			return b
		}
	}
	// The longest list that fits: each further test makes it longer.
	low, high := 0, len(f.FailedTests)
	for low < high {
		if mid := (low + high + 1) / 2; len(c.json(mid, 300)) <= most {
			low = mid
		} else {
			high = mid - 1
		}
	}
	if b := c.json(low, 300); len(b) <= most {
		return b
	}
	return nil
}

// compact is feedback that is being cut.
type compact struct {
	TestFeedback
	Requests json.RawMessage `json:"requests,omitempty"`
	Cut      *Cut            `json:"cut,omitempty"`
	gone     int
}

// json keeps so many tests, and of every text so many bytes.
func (c compact) json(tests, text int) []byte {
	cut := Cut{Tests: len(c.FailedTests) - tests, Requests: c.gone}
	short := func(s *string) {
		if len(*s) > text {
			*s, cut.Texts = truncate.Prefix(*s, text)+"…", cut.Texts+1
		}
	}
	c.FailedTests = append([]FailedTest{}, c.FailedTests[:tests]...)
	for i := range c.FailedTests {
		t := &c.FailedTests[i]
		for _, s := range []*string{&t.Name, &t.Expected, &t.Actual, &t.StackTrace, &t.SuggestedFix, &t.File} {
			short(s)
		}
	}
	c.Suggestions = append([]string{}, c.Suggestions...)
	if most := 10; text <= 300 && len(c.Suggestions) > most {
		cut.Suggestions = len(c.Suggestions) - most
		c.Suggestions = c.Suggestions[:most]
	}
	for i := range c.Suggestions {
		short(&c.Suggestions[i])
	}
	if cut != (Cut{}) {
		c.Cut = &cut
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		panic(err) // unreachable: plain values
	}
	return bytes.TrimSpace(b.Bytes())
}

// Rested returns the pair without a time in which nobody was at work: it does
// not count.
func (l Loop) Rested(d time.Duration) Loop {
	l.StartedAt = l.StartedAt.Add(max(0, d))
	return l
}

// Explained returns a pair that ended with more of the reason, and with what
// people can do about it.
func (l Loop) Explained(why, remedy string) Loop {
	l.Reason = strings.TrimSpace(l.Reason + " " + why)
	if l.Escalation != nil {
		f := *l.Escalation
		f.Description = strings.TrimSpace(f.Description + " " + why)
		f.Suggested = append([]string{remedy}, f.Suggested...)
		l.Escalation = &f
	}
	return l
}
