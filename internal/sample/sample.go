// Package sample makes ledgers that look like a team's: cases that fail, are handed
// back, fixed, escalated and answered, decided by the real rules. The same seed makes
// the same ledger. Tests, measurements and pictures of the documentation use it.
package sample

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Options say what is made.
type Options struct {
	Seed  uint64
	Cases int
	Repos []string      // default: a few of acme's
	End   time.Time     // when the newest events are
	Span  time.Duration // over which the cases are spread, default 30 days
	Own   bool          // every third failure is one that no other case has
}

// Stream is one stream of a ledger.
type Stream struct {
	Key    string
	Events []routing.Event
}

// trouble is a failure that several cases meet.
type trouble struct {
	name, suite, file, message string
	line                       int
	class                      routing.Class
	signal                     string
}

var troubles = []trouble{
	{"TestCheckout/rounds_down", "checkout", "checkout/total_test.go", "got 10.01, want 10.00", 41, routing.LogicError, "got-want"},
	{"TestCheckout/unknown_coupon", "checkout", "checkout/coupon_test.go", "got <nil>, want an error", 26, routing.LogicError, "got-want"},
	{"test_refund_is_idempotent", "tests/test_refund.py", "tests/test_refund.py", "NotImplementedError: refund", 88, routing.NotImplemented, "not-implemented"},
	{"cart › keeps its items after a reload", "cart.spec.ts", "web/cart.spec.ts", "expected 2 to be 3", 17, routing.LogicError, "assertion"},
	{"src/api/client.ts", "tsc", "src/api/client.ts", "TS2339: Property 'total' does not exist on type 'Order'", 120, routing.TypeError, "compiler"},
	{"com.acme.stock.LevelsTest.neverBelowZero", "LevelsTest", "stock/src/test/java/com/acme/stock/LevelsTest.java", "expected: <0> but was: <-1>", 63, routing.LogicError, "assertion"},
	{"lint", "eslint", "web/cart.ts", "no-unused-vars: 'old' is never used", 9, routing.Quality, "lint"},
	{"test_stock_service", "tests/test_stock.py", "tests/test_stock.py", "ConnectionRefusedError: [Errno 111] 127.0.0.1:5432", 12, routing.EnvIssue, "connection-refused"},
	{"pull image", "setup", "", "toomanyrequests: rate limit exceeded", 0, routing.EnvIssue, "registry"},
	{"TestSearch/timeout", "search", "search/index_test.go", "panic: test timed out after 10m0s", 0, routing.Timeout, "timeout"},
	{"orders contract", "contract", "contracts/orders.yaml", "the test asks for field `vat`, which the design does not have", 3, routing.DesignMismatch, "contract"},
	{"exit status 137", "job", "", "the job ended without a report", 0, routing.Unknown, ""},
	{"TestUpload/resumes", "upload", "upload/resume_test.go", "passed when it was run again", 77, routing.Flaky, "rerun"},
}

var checkpoints = []string{"ci", "lint", "e2e"}

// Cases yields the streams of cases, one for each, in no order of time.
func Cases(o Options) iter.Seq[Stream] {
	if len(o.Repos) == 0 {
		o.Repos = []string{"acme/shop", "acme/stock", "acme/web", "acme/billing"}
	}
	if o.Span == 0 {
		o.Span = 30 * 24 * time.Hour
	}
	return func(yield func(Stream) bool) {
		for i := range o.Cases {
			r := rand.New(rand.NewPCG(o.Seed, uint64(i)))
			repo := o.Repos[r.IntN(len(o.Repos))]
			start := o.End.Add(-time.Duration(r.Int64N(int64(o.Span))))
			if !yield(one(r, repo, i+1, start, o)) {
				return
			}
		}
	}
}

// maker makes one case.
type maker struct {
	r    *rand.Rand
	repo string
	n    int
	c    routing.Case
	at   time.Time
	runs int
	out  []routing.Event
}

// one makes a case that starts at a time, as far as it is at the end.
func one(r *rand.Rand, repo string, n int, start time.Time, o Options) Stream {
	end := o.End
	m := &maker{r: r, repo: repo, n: n, at: start.UTC().Truncate(time.Second), c: routing.Case{Key: fmt.Sprintf("%s#%d", repo, n)}}
	names := checkpoints[:1+r.IntN(len(checkpoints))]
	left := map[string][]trouble{}
	for _, name := range names {
		for range r.IntN(4) {
			t := troubles[r.IntN(len(troubles))]
			if o.Own && r.IntN(3) == 0 {
				t.name = fmt.Sprint(t.name, "/", n)
			}
			left[name] = append(left[name], t)
		}
	}
	alone := r.IntN(8) == 0 // nobody answers its calls
	for !m.c.Complete && len(m.out) < 80 && m.at.Before(end) && !(alone && m.calls()) {
		sha := m.sha()
		for _, name := range names {
			m.run(name, sha, left[name])
		}
		if m.at = m.at.Add(time.Duration(3+r.IntN(90)) * time.Minute); !m.at.Before(end) {
			break
		}
		for _, name := range names {
			if !alone {
				m.answer(name, left)
			}
			if k := len(left[name]); k > 0 && r.IntN(3) > 0 {
				left[name] = left[name][:k-1] // the worker fixes one
			}
		}
	}
	return Stream{m.c.Key, m.out}
}

// calls reports whether an escalation is open.
func (m *maker) calls() bool {
	for _, cp := range m.c.Checkpoints {
		if cp.State == routing.Escalated && !cp.Skipped {
			return true
		}
	}
	return false
}

func (m *maker) sha() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", m.c.Key, m.runs))
	return hex.EncodeToString(sum[:20])
}

func (m *maker) run(name, sha string, left []trouble) {
	m.runs++
	m.at = m.at.Add(time.Duration(20+m.r.IntN(300)) * time.Second)
	id := fmt.Sprint(7_000_000 + 1000*m.n + m.runs)
	v := routing.Verdict{
		Checkpoint: name, Head: sha, At: m.at, Result: routing.Pass,
		Run:    routing.Run{Repository: m.repo, ID: id, Attempt: 1, SHA: sha, URL: "https://github.com/" + m.repo + "/actions/runs/" + id},
		Counts: routing.Counts{Tests: 120, Passed: 120 - len(left), Failed: len(left)},
	}
	seen := map[trouble]bool{}
	for _, t := range left {
		if seen[t] {
			continue
		}
		seen[t] = true
		sum := sha256.Sum256([]byte(t.name + t.message))
		f := routing.Failure{Name: t.name, Suite: t.suite, File: t.file, Line: t.line, Class: t.class, Message: t.message, Kind: "assertion",
			Fingerprint: hex.EncodeToString(sum[:8]), Decisive: len(v.Failures) == 0, Flaky: t.class == routing.Flaky}
		if t.signal != "" {
			f.Evidence = []routing.Evidence{{Line: 10 + t.line, Text: t.message, Signal: t.signal}}
		}
		v.Failures = append(v.Failures, f)
	}
	if len(v.Failures) > 0 {
		v.Result = routing.Fail
		for _, class := range routing.Classes() {
			for _, f := range v.Failures {
				if v.Class == "" && f.Class == class {
					v.Class, v.Reason, v.Evidence = class, f.Message, f.Evidence
				}
			}
		}
		if v.Class == routing.Unknown {
			v.Result = routing.Unclear
		}
	}
	d := routing.Decide(m.c, v, routing.DefaultPolicy(), m.at)
	if d.Repeated {
		return
	}
	m.add(routing.RunEvent(m.c.Key, v, d, m.at))
	for _, e := range append([]routing.Effect(nil), m.c.Pending...) {
		m.at = m.at.Add(time.Second)
		ref := fmt.Sprint(90_000 + 100*m.n + len(m.out))
		if e.Kind == routing.EffectIssue {
			ref += " https://github.com/" + m.repo + "/issues/" + ref
		}
		m.add(routing.EffectEvent(m.c.Key, routing.EffectDone{Effect: e, Ref: ref}, m.at))
	}
}

// answer lets a human answer an escalation, most of the time.
func (m *maker) answer(name string, left map[string][]trouble) {
	cp := m.c.Checkpoints[name]
	if cp.State != routing.Escalated || m.r.IntN(3) == 0 {
		return
	}
	e := routing.HumanActed{Checkpoint: name, By: []string{"ana", "bo", "chen"}[m.r.IntN(3)],
		SHA: cp.Last.SHA, Answer: fmt.Sprintf("comment/%d", 500+len(m.out))}
	switch m.r.IntN(5) {
	case 0:
		e.Action, e.Class = routing.HumanWrong, routing.LogicError
	case 1:
		e.Action, e.N = routing.HumanExtend, 2
	case 2:
		e.Action = routing.HumanSkip
	default:
		e.Action = routing.HumanResume
		left[name] = nil
	}
	if m.c.Admit(e) != nil {
		return
	}
	m.add(routing.HumanEvent(m.c.Key, e, m.at))
}

// add records an event. What the real rules refuse is a fault of this package.
func (m *maker) add(e routing.Event) {
	next, err := m.c.Apply(e)
	if err != nil {
		panic(err)
	}
	m.c, m.out = next, append(m.out, e)
}
