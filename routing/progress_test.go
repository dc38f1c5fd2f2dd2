package routing

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// failed returns a verdict of commit n in which tests failed: a word names a test, and behind = how.
func failed(n int, tests ...string) Verdict {
	v := run(n, Fail, LogicError)
	v.Counts = Counts{Tests: 9, Failed: len(tests)}
	for _, t := range tests {
		name, how, _ := strings.Cut(t, "=")
		f := Failure{Suite: "s", Name: name, Class: LogicError, Kind: "assertion", Fingerprint: name + how}
		switch how {
		case "unnamed":
			f.Name, f.Fingerprint, f.Kind = "", "", "exit"
		case "truncated":
			f.Kind = "truncated"
		}
		v.Failures = append(v.Failures, f)
	}
	return v
}

func TestNoProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		runs string // one word for each commit: its failures, joined by +; ^n has the tree of commit n
		max  int
		no   int
		want string // kinds from the first run on: r returned, n no progress, m limit
	}{
		{"S5-40 the same on three new commits in a row", "a a a a", 9, 3, "rrrn"},
		{"S5-40 the default leaves the limit of 3 as it is", "a a a a", 3, 3, "rrrm"},
		{"S5-40 two new commits", "a a a", 3, 2, "rrn"},
		{"S5-40 several tests in any order", "a+b b+a a+b b+a", 9, 3, "rrrn"},
		{"S5-40 another message of the same test", "a=1 a=1 a=2 a=2 a=2 a=2", 9, 3, "rrrrrn"},
		{"S5-40 begins again after something else", "a a a b a b", 9, 5, "rrrrrn"},
		{"S5-40 0 never stops early", "a a a a a a", 9, 0, "rrrrrr"},
		{"S5-41 back and forth", "a b a b", 9, 3, "rrrn"},
		{"S5-41 three in turn", "a b c a b c", 9, 3, "rrrrrr"},
		{"S5-42 the tree of an earlier commit", "a b^1 c^1 d^1", 9, 3, "rrrn"},
		{"S5-42 each commit has a tree of its own", "a^1 b^2 c^3 d^4", 9, 3, "rrrr"},
		{"S5-42 the tree of an earlier one among others that are the same", "a^1 a^2 b^1 a^3", 9, 3, "rrrn"},
		{"S5-43 fewer tests", "a+b+c a+b+c a+b a+b a a", 9, 2, "rrrrrr"},
		{"S5-43 from a compiler error to an assertion", "a=compile a=compile a=assert a=assert a=assert", 9, 2, "rrrrn"},
		{"S5-44 truncated ones count neither way", "a a=truncated a a=truncated a a", 9, 3, "rrrrrn"},
		{"S5-44 unnamed ones count neither way", "a x=unnamed a x=unnamed a a", 9, 3, "rrrrrn"},
		{"S5-44 unnamed ones alone", "x=unnamed x=unnamed x=unnamed x=unnamed", 9, 3, "rrrr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.p.Max, w.p.NoProgress = c.max, c.no
			got := ""
			for i, word := range strings.Fields(c.runs) {
				word, tree, _ := strings.Cut(word, "^")
				v := failed(i+1, strings.Split(word, "+")...)
				if v.Run.Tree = tree; strings.Contains(c.runs, "^") && tree == "" {
					v.Run.Tree = "1"
				}
				d := w.analyze(v)
				got += map[Kind]string{KindRetry: "r", KindNoProgress: "n", KindMaxRetry: "m"}[d.Kind]
				if d.Kind == KindNoProgress && (d.Saved() != c.max-i || d.Rule != "no-progress" || w.c.Checkpoints["unit"].State != Escalated) {
					t.Errorf("S5-46: %d saved of %d, rule %s, %s", d.Saved(), c.max, d.Rule, w.c.Checkpoints["unit"].State)
				}
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("S5-40 after a person's answer the count begins anew", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 9
		for i := range 4 {
			w.analyze(failed(i+1, "a"))
		}
		w.human(HumanExtend, 1)
		for i, want := range []Kind{KindRetry, KindRetry, KindNoProgress} {
			if d := w.analyze(failed(i+5, "a")); d.Kind != want {
				t.Errorf("run %d: %s, want %s (%s)", i+5, d.Kind, want, d.Reason)
			}
		}
	})
	t.Run("S5-40 a second run of a commit is no new commit", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 9
		for i := range 6 {
			v := failed(1+i/3, "a")
			v.Run.ID = fmt.Sprint(100 + i)
			if d := w.analyze(v); d.Kind != KindRetry {
				t.Errorf("run %d: %s", i, d.Kind)
			}
		}
	})
}

// S5-45: with the rule attempts never last longer than without it, and until it applies every
// decision is the same.
func TestNoProgressNeverLaterThanTheLimitS5_45(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 45))
	for range 300 {
		with, without := newWorld(t), newWorld(t)
		with.p.Max = rnd.IntN(HardCap + 1)
		with.p.NoProgress = 1 + rnd.IntN(4)
		without.p.Max, without.p.NoProgress = with.p.Max, 0
		stopped := false
		for i := range 14 {
			tests := []string{"a", "b", "a+b", "x=unnamed", "a=truncated"}
			v := failed(1+i-rnd.IntN(2), strings.Split(tests[rnd.IntN(len(tests))], "+")...)
			v.Run.ID = fmt.Sprint(100 + i)
			v.Run.Tree = fmt.Sprint(rnd.IntN(4))
			a, b := with.analyze(v), without.analyze(v)
			if b.Kind == KindMaxRetry && !stopped && a.Kind != KindMaxRetry {
				t.Fatalf("S5-45: at the limit of %d it is %s", with.p.Max, a.Kind)
			}
			stopped = stopped || a.Kind.Escalates()
			if !stopped && a.Kind != b.Kind {
				t.Fatalf("S5-45: %s, without the rule %s", a.Kind, b.Kind)
			}
			if stopped && a.Kind == KindRetry && !a.Again {
				t.Fatalf("S5-45: returned after it had stopped")
			}
		}
	}
}
