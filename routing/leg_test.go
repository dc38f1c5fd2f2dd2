package routing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// leg is failing in one leg of a matrix of two, or of as many as parts says.
func leg(part string, parts int, sha string, id int, names ...string) routing.Verdict {
	v := inventoried(sha, id, []string{"t", "u"}, func(n string) history.Status {
		for _, x := range names {
			if x == n {
				return history.Failed
			}
		}
		return history.Passed
	})
	v.Run.Part, v.Run.Parts = part, parts
	return v
}

func TestLegsAgainstTheBaseS5_1(t *testing.T) {
	t.Parallel()
	base := record(t, routing.Case{Key: "acme/app@main"}, leg("ubuntu", 2, "a", 1, "t"), leg("windows", 2, "a", 1))
	plain := record(t, routing.Case{Key: "acme/app@main"}, failing("a", 1, "t"))
	for name, c := range map[string]struct {
		base     routing.Case
		v        routing.Verdict
		standing history.Standing
	}{
		"S5-1 the leg that fails on the base":                              {base, leg("ubuntu", 2, "c", 2, "t"), history.StandingPreExisting},
		"S5-1 a leg that passes on the base is not excused by another":     {base, leg("windows", 2, "c", 2, "t"), history.StandingNew},
		"S5-1 a run without legs is compared with all":                     {base, leg("", 0, "c", 2, "t"), history.StandingPreExisting},
		"S5-1 a base without legs is compared with each":                   {plain, leg("windows", 2, "c", 2, "t"), history.StandingPreExisting},
		"S5-1 where the names of legs changed, with any of them":           {base, leg("windows-2025", 2, "c", 2, "t"), history.StandingPreExisting},
		"S5-1 so where it is not known how many there are":                 {base, leg("windows-2025", 0, "c", 2, "t"), history.StandingPreExisting},
		"S5-3 a leg that the base does not have, as it has fewer, is new":  {base, leg("macos", 3, "c", 2, "t"), history.StandingNew},
		"S5-35 another leg, another failure: the test never failed in it":  {base, leg("windows", 2, "c", 2, "u"), history.StandingNew},
		"S5-2 the same leg in another way is new, and says what base says": {base, differing(leg("ubuntu", 2, "c", 2, "t")), history.StandingNew},
	} {
		v := c.v.Against(c.base, history.MergeBase{SHA: "a"}, nil)
		f := v.Failures[0]
		if f.Standing != c.standing || !v.Base.Known || v.Base.SHA != "a" {
			t.Errorf("%s: %s, base %+v", name, f.Standing, v.Base)
		}
		if d := decide(routing.Case{Key: "acme/app#1"}, v); (d.Kind == routing.KindRetry) != (c.standing == history.StandingNew) {
			t.Errorf("%s: %s", name, d.Kind)
		}
		if fails := c.v.FailsSometimes(c.base); c.standing == history.StandingPreExisting && !fails {
			t.Errorf("%s: it is said not to fail on the base", name)
		}
	}
	t.Run("S5-1 a leg that did not report in the newest run is compared with the run before", func(t *testing.T) {
		base := record(t, base, leg("ubuntu", 2, "b", 5))
		for part, want := range map[string]history.Standing{"ubuntu": history.StandingNew, "windows": history.StandingNew} {
			if f := leg(part, 2, "c", 9, "t").Against(base, history.MergeBase{SHA: "b"}, nil).Failures[0]; f.Standing != want {
				t.Errorf("%s: %s", part, f.Standing)
			}
		}
		base = record(t, base, leg("windows", 2, "d", 6, "t"))
		if f := leg("ubuntu", 2, "e", 9, "t").Against(base, history.MergeBase{SHA: "d"}, nil).Failures[0]; f.Standing != history.StandingNew {
			t.Errorf("%s", f.Standing)
		}
	})
}

// differing returns v with other fingerprints.
func differing(v routing.Verdict) routing.Verdict {
	for i := range v.Failures {
		v.Failures[i].Fingerprint += "'"
	}
	return v
}

// S5-10: a case is on hold for the leg that fails, and resumes when that passes.
func TestBaseFixedInALegS5_10(t *testing.T) {
	t.Parallel()
	base := record(t, routing.Case{Key: "acme/app@main"}, leg("ubuntu", 2, "a", 1, "t"), leg("windows", 2, "a", 1, "t"))
	pr := record(t, routing.Case{Key: "acme/app#1"},
		leg("ubuntu", 2, "c", 2, "t").Against(base, history.MergeBase{SHA: "a"}, nil), leg("windows", 2, "c", 2).Against(base, history.MergeBase{SHA: "a"}, nil))
	if cp := pr.Checkpoints["ci"]; !routing.OnHoldForBase(cp) {
		t.Fatalf("%+v", cp.Attempts)
	}
	windows := record(t, base, leg("windows", 2, "b", 3), leg("ubuntu", 2, "b", 3, "t"))
	if sha, ok := routing.BaseFixed(pr.Checkpoints["ci"], windows); ok {
		t.Errorf("resumed at %s, where another leg passes", sha)
	}
	half := record(t, base, leg("ubuntu", 2, "b", 3))
	if sha, ok := routing.BaseFixed(pr.Checkpoints["ci"], half); ok {
		t.Errorf("resumed at %s, of which a leg has not reported", sha)
	}
	ubuntu := record(t, base, leg("ubuntu", 2, "b", 3), leg("windows", 2, "b", 3, "t"))
	if sha, ok := routing.BaseFixed(pr.Checkpoints["ci"], ubuntu); !ok || sha != "b" || !routing.Fixes(ubuntu.Checkpoints["ci"]) {
		t.Errorf("not resumed, where the leg passes: %s %v", sha, ok)
	}
}

// S5-9: whatever a base has lost of its legs, no decision becomes greener.
func TestLostLegsAreNeverGreenerS5_9(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(35, 9))
	parts := []string{"ubuntu", "windows", "macos"}
	excused, stricter := 0, 0
	for range 800 {
		var whole []routing.Verdict
		for i := range 1 + rnd.IntN(6) {
			sha := string(rune('a' + rnd.IntN(6)))
			for _, part := range parts[:2+rnd.IntN(2)] {
				var red []string
				if rnd.IntN(3) > 0 {
					red = []string{"t", "u"}[:1+rnd.IntN(2)]
				}
				v := leg(part, 0, sha, i+1, red...)
				whole = append(whole, v)
			}
		}
		mine := leg(parts[rnd.IntN(3)], 0, "z", 99, []string{"t", "u"}[:1+rnd.IntN(2)]...)
		at, pr := history.MergeBase{SHA: string(rune('a' + rnd.IntN(7)))}, routing.Case{Key: "acme/app#1"}
		base := func(runs []routing.Verdict) routing.Case {
			return record(t, routing.Case{Key: "acme/app@main"}, runs...)
		}
		full, part, none := decide(pr, mine.Against(base(whole), at, nil)), decide(pr, mine.Against(base(forget(rnd, whole)), at, nil)), decide(pr, mine.Uncompared("main"))
		if greenness(part.Kind) > greenness(full.Kind) || greenness(none.Kind) > greenness(part.Kind) {
			t.Fatalf("S5-9: %s with the base, %s with what is left of it, %s without, merge base %s, leg %s\n%s", full.Kind, part.Kind, none.Kind, at.SHA, mine.Run.Part, brief(whole))
		}
		excused += greenness(full.Kind) / 2
		stricter += greenness(full.Kind) - greenness(part.Kind)
	}
	if excused < 50 || stricter < 20 {
		t.Errorf("%s", fmt.Sprint(excused, " decisions were excused by the base, ", stricter, " not any more with less of it"))
	}
}
