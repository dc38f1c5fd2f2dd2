//go:build unix

package worker

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// place is a folder with a ledger, and one port in it.
type place struct {
	*testing.T
	root   string
	spec   plan.Spec
	again  bool
	change func(*Pair)

	mu   sync.Mutex
	told []plan.Event
}

// newPlace makes a port out of two command lines.
func newPlace(t *testing.T, impl, test string) *place {
	t.Helper()
	p := &place{T: t, root: t.TempDir(), spec: plan.Spec{ID: "greet", Brief: "Say hello."}}
	if impl != "" {
		p.spec.Impl = &plan.Command{Run: []string{impl}}
	}
	p.spec.Test = &plan.Command{Run: []string{test}}
	return p
}

func (p *place) openJournal() *Journal {
	led, err := ledger.Open(filepath.Join(p.root, ".switchback", "ledger"))
	if err != nil {
		p.Fatal(err)
	}
	return &Journal{Ledger: led, Key: routing.PortKey("acme/app", "plan", p.spec.ID), Port: p.spec.ID, Now: time.Now, Tell: func(e plan.Event) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, e)
	}}
}

func (p *place) pair() *Pair {
	pair := &Pair{Journal: p.openJournal(), Plan: "plan", Spec: p.spec, Settings: plan.DefaultSettings(), Build: "build", Root: p.root,
		Dir: filepath.Join(p.root, ".switchback", "greet"), Env: os.Environ(), Me: Self(func(string) string { return "" }), Grace: 200 * time.Millisecond, Again: p.again}
	if p.change != nil {
		p.change(pair)
	}
	return pair
}

func (p *place) run() plan.Result {
	p.Helper()
	r, err := p.pair().Run(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func (p *place) journal() plan.Journal {
	p.Helper()
	j, err := p.openJournal().Load(context.Background())
	if err != nil {
		p.Fatal(err)
	}
	return j
}

func (p *place) read(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil {
		p.Error(err)
	}
	return string(data)
}

// kept is a file of the port's own folder.
func (p *place) kept(name string) string { return p.read(filepath.Join(".switchback", "greet", name)) }

func (p *place) kinds() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, e := range p.told {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

// junit is a test that passes once hello.txt says hello.
const junit = `if [ "$(cat hello.txt 2>/dev/null)" = hello ]; then n=0; f=
else n=1; f='<failure type="AssertionError" message="expected: hello but was: nothing">expected: hello but was: nothing</failure>'; fi
echo "<testsuite name='greet' tests='1' failures='$n'><testcase classname='greet' name='says hello'>$f</testcase></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"
exit $n`

// third does the work in its third turn, and only if it was told what failed.
const third = `echo 100 > "$SWITCHBACK_TOKENS_FILE"
echo "$SWITCHBACK_ATTEMPT $SWITCHBACK_ITERATION $SWITCHBACK_MAX_ITERATIONS $SWITCHBACK_ROLE $SWITCHBACK_SESSION" >> attempts
cat "$SWITCHBACK_BRIEF" > brief
if [ -n "$SWITCHBACK_FEEDBACK" ]; then grep -q "Suggested fix" "$SWITCHBACK_FEEDBACK" && grep -q '"expected": "hello"' "$SWITCHBACK_FEEDBACK_JSON" && echo told >> seen; fi
if [ "$(grep -c told seen 2>/dev/null)" = 2 ]; then echo hello > hello.txt; fi
true`

func TestPairPassesWithFeedback(t *testing.T) {
	t.Parallel()
	p := newPlace(t, third, junit)
	r := p.run()
	if r.Status != plan.Success || r.Attempts != 3 || r.Retries != 2 || r.Tokens != 300 || r.Hash == "" {
		t.Errorf("%+v", r)
	}
	t.Run("S2-1 S2-2 S2-13 sessions of three depths, then the channel, then the pair", func(t *testing.T) {
		var depths []int
		for _, e := range p.told {
			if e.Started != nil {
				depths = append(depths, e.Started.Depth)
			}
		}
		if !slices.Equal(depths, []int{0, 1, 2, 2}) || !strings.HasPrefix(strings.Replace(p.kinds(), "runner ", "", 1), "session.start session.start session.start session.start channel.open") {
			t.Errorf("%v %s", depths, p.kinds())
		}
	})
	t.Run("S2-25 each turn waits for impl, then tests", func(t *testing.T) {
		turn := "worker.spawn worker.complete direct.message worker.progress pair worker.spawn worker.complete "
		fed := turn + "worker.feedback direct.message worker.progress pair "
		if _, rest, _ := strings.Cut(p.kinds(), "pair "); !strings.HasPrefix(rest, fed+fed+turn+"channel.close worker.progress pair session.end") {
			t.Error(rest)
		}
	})
	t.Run("S2-24 S2-27 S2-28 feedback reaches impl by file and environment, and by the channel", func(t *testing.T) {
		want := "1 0 3 impl build/greet/impl\n2 1 3 impl build/greet/impl\n3 2 3 impl build/greet/impl\n"
		if got := p.read("attempts"); got != want || p.read("brief") != "Say hello.\n\n"[:11] {
			t.Errorf("%q %q", got, p.read("brief"))
		}
		var fed plan.TestFeedback
		if err := json.Unmarshal([]byte(p.kept("feedback.json")), &fed); err != nil {
			t.Fatal(err)
		}
		one := fed.FailedTests[0]
		if one.Name != "says hello" || one.Expected != "hello" || one.Actual != "nothing" || one.StackTrace == "" || one.SuggestedFix == "" {
			t.Errorf("%+v", one)
		}
		var types []string
		for _, m := range p.journal().Mail.Messages {
			types = append(types, string(m.Type))
		}
		if got := strings.Join(types, " "); got != "result feedback result feedback result" {
			t.Error(got)
		}
	})
	t.Run("S2-26 the pass is reported: a result file, and the sessions end", func(t *testing.T) {
		var kept plan.Result
		if err := json.Unmarshal([]byte(p.kept("result.json")), &kept); err != nil || kept.Status != plan.Success || kept.Attempts != 3 {
			t.Errorf("%+v %v", kept, err)
		}
		if strings.Count(p.kinds(), "session.end") != 3 {
			t.Error(p.kinds())
		}
	})
	t.Run("S2-81 S2-85 progress grows to 1, and events are in order of time", func(t *testing.T) {
		last, at := -1.0, time.Time{}
		for _, e := range p.told {
			if e.At.Before(at) {
				t.Errorf("%s is before what came before", e.Kind)
			}
			at = e.At
			if e.Progress == nil {
				continue
			}
			if e.Progress.Progress < last || e.Progress.Port != "greet" || e.Progress.Task == "" {
				t.Errorf("%+v after %v", e.Progress, last)
			}
			last = e.Progress.Progress
		}
		if last != 1 {
			t.Error(last)
		}
	})
	t.Run("what passed is not run again while it stays the same", func(t *testing.T) {
		if r := p.run(); r.Status != plan.Success || strings.Count(p.read("attempts"), "\n") != 3 {
			t.Errorf("%+v", r)
		}
		p.spec.Brief = "Say hello louder."
		if r := p.run(); r.Attempts != 1 || p.journal().Pairs != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestPairIsEscalated(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	short := 3 * time.Second // within which a worker starts and prints, on a busy machine too
	for _, c := range []struct {
		name, impl, test string
		change           func(*plan.Spec)
		outcome          plan.Outcome
		kind             string
		turns, feedback  int
	}{
		{"S2-29 S2-30 S2-65 the reworks are used up, and no feedback is sent with the escalation", "true", junit, func(s *plan.Spec) { s.MaxIterations = &one }, plan.UsedUp, "test_failure high", 2, 1},
		{"S2-22 S2-65 three reworks by default", "true", junit, nil, plan.UsedUp, "test_failure high", 4, 3},
		{"S2-65 no reworks at all", "true", junit, func(s *plan.Spec) { s.MaxIterations = &zero }, plan.UsedUp, "test_failure high", 1, 0},
		{"S2-66 the tokens are used up", "echo 95 > $SWITCHBACK_TOKENS_FILE", junit, func(s *plan.Spec) { s.TokenBudget = 100 }, plan.OutOfTokens, "token_exhausted medium", 1, 0},
		{"S2-66 a worker that uses its tokens up is ended", "echo 95 > $SWITCHBACK_TOKENS_FILE; sleep 1000", junit, func(s *plan.Spec) { s.TokenBudget = 100 }, plan.OutOfTokens, "token_exhausted medium", 1, 0},
		{"S2-51 S2-67 a worker that hangs is ended", "echo begun; sleep 1000", junit, func(s *plan.Spec) { s.Timeout = &short }, plan.TimedOut, "timeout high", 1, 0},
		{"S2-51 S2-67 a test that hangs is ended", "true", "echo begun; sleep 1000", func(s *plan.Spec) { s.Timeout = &short }, plan.TimedOut, "timeout high", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, c.impl, c.test)
			if c.change != nil {
				c.change(&p.spec)
			}
			r := p.run()
			if r.Status != plan.Raised || r.Outcome != c.outcome || r.Attempts != c.turns || strings.Count(p.kinds(), "worker.feedback") != c.feedback {
				t.Errorf("%+v %s", r, p.kinds())
			}
			calls := p.journal().Waiting()
			if len(calls) != 1 || string(calls[0].Type)+" "+string(calls[0].Severity) != c.kind || calls[0].Session != "build/greet" || calls[0].Port != "greet" || calls[0].Title == "" {
				t.Errorf("%+v", calls)
			}
			if strings.Contains(c.impl, "begun") && p.kept("impl-1.log") != "begun\n" || strings.Contains(c.test, "begun") && p.kept("test-1.log") != "begun\n" {
				t.Error("what the worker printed is lost")
			}
		})
	}
	t.Run("S2-70 S2-71 S2-72 a later pass resolves it, once", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, "test -f go && echo hello > hello.txt; true", junit)
		p.spec.MaxIterations = &zero
		p.run()
		id := p.journal().Waiting()[0].ID
		if err := os.WriteFile(filepath.Join(p.root, "go"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := p.run(); r.Status != plan.Success {
			t.Fatalf("%+v", r)
		}
		j := p.journal()
		if len(j.Waiting()) != 0 || len(j.Escalations) != 1 || j.Escalations[0].ID != id || j.Escalations[0].ResolvedBy != "switchback" || !strings.Contains(p.kinds(), "escalation.resolved") {
			t.Errorf("%+v", j.Escalations)
		}
		if err := j.Apply(plan.Event{Kind: plan.EscalationResolved, Escalation: &j.Escalations[0]}); err == nil {
			t.Error("resolved twice")
		}
	})
}

func TestPairThatBreaks(t *testing.T) {
	t.Parallel()
	t.Run("S2-31 cancelled is failed, and the worker's processes end", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, "echo $$ > pids; sleep 1000", junit)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan plan.Result, 1)
		go func() { r, _ := p.pair().Run(ctx); done <- r }()
		pid := pids(t, filepath.Join(p.root, "pids"), 1)[0]
		stop()
		if r := <-done; r.Status != plan.Failed || r.Outcome != plan.Broke || !strings.Contains(r.Reason, "cancelled") || !gone(pid) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S2-31 a machine that cannot run the worker is failed", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, "rm -r ../work", junit)
		p.change = func(x *Pair) { x.Root = filepath.Join(p.root, "work") }
		if err := os.Mkdir(filepath.Join(p.root, "work"), 0o755); err != nil {
			t.Fatal(err)
		}
		if r := p.run(); r.Status != plan.Failed || !strings.Contains(r.Reason, "runner failed") {
			t.Errorf("%+v", r)
		}
		if len(p.journal().Waiting()) != 0 {
			t.Error("a fault of the machine opens an escalation")
		}
	})
	t.Run("S2-31 never green without evidence: a test that says nothing", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, "true", "true")
		if r := p.run(); r.Status != plan.Raised || !strings.Contains(r.Reason, "no test report") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("an impl that fails is a failing turn, and nothing is tested", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, `[ -n "$SWITCHBACK_FEEDBACK" ] && cp "$SWITCHBACK_FEEDBACK" told && echo hello > hello.txt || { echo no idea; kill -KILL $$; }`, junit)
		if r := p.run(); r.Status != plan.Success || r.Attempts != 2 {
			t.Errorf("%+v", r)
		}
		if told := p.read("told"); !strings.Contains(told, "signal 9") || !strings.Contains(told, "no idea") {
			t.Error(told)
		}
	})
	t.Run("a worker that deletes and breaks its files", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, `[ "$SWITCHBACK_ATTEMPT" = 1 ] || grep -q . "$SWITCHBACK_FEEDBACK" && echo told >> seen; rm -rf "$SWITCHBACK_FEEDBACK" "$SWITCHBACK_BRIEF" "$(dirname "$SWITCHBACK_BRIEF")"; mkdir -p "$(dirname "$SWITCHBACK_TOKENS_FILE")"; printf '{"total_tokens": 7}\n{"total_tok' > "$SWITCHBACK_TOKENS_FILE"`,
			`echo '{"success": tr' > "$SWITCHBACK_TEST_FEEDBACK"; exit 0`)
		r := p.run()
		if r.Status != plan.Raised || r.Attempts != 4 || r.Tokens != 28 || !strings.Contains(r.Reason, "not readable") || strings.Count(p.read("seen"), "told") != 4 {
			t.Errorf("%+v", r)
		}
	})
}

func TestTestingWorkerSpeaksForItself(t *testing.T) {
	t.Parallel()
	said := func(text, then string) string {
		return `grep -q '"attempt":1' "$SWITCHBACK_RESULT_JSON" && echo '` + text + `' > "$SWITCHBACK_TEST_FEEDBACK"; ` + then
	}
	zero := 0
	for _, c := range []struct {
		name, test, want string
		status           plan.LoopStatus
	}{
		{"S2-23 it says success", said(`{"success": true}`, "exit 0"), "", plan.Success},
		{"S2-23 it says success, but ends with an error", said(`{"success": true}`, "exit 1"), "exit code 1", plan.Raised},
		{"S2-24 it names what failed", said(`{"success": false, "failed_tests": [{"name": "a b", "suggested_fix": "c"}]}`, "exit 1"), "a b", plan.Raised},
		{"it contradicts itself", said(`{"success": true, "failed_tests": [{"name": "a"}]}`, "exit 0"), "no use", plan.Raised},
		{"it says more than can be read", `head -c 2000000 /dev/zero | tr '\0' ' ' > "$SWITCHBACK_TEST_FEEDBACK"; echo '{"success": true}' >> "$SWITCHBACK_TEST_FEEDBACK"`, "no use", plan.Raised},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "true", c.test)
			p.spec.MaxIterations = &zero
			if r := p.run(); r.Status != c.status || !strings.Contains(r.Reason, c.want) {
				t.Errorf("%+v", r)
			}
		})
	}
}
