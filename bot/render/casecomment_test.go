package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/marker"
)

// of returns v as a verdict of another checkpoint.
func of(checkpoint string, v routing.Verdict) routing.Verdict {
	v.Checkpoint = checkpoint
	return v
}

func caseOf(t testing.TB, fails, passes int, fs func() []routing.Failure) routing.Case {
	var vs []routing.Verdict
	for i := range fails {
		vs = append(vs, of(fmt.Sprintf("fails-%03d", i), runOf(1, routing.Fail, routing.LogicError, fs()...)))
	}
	for i := range passes {
		vs = append(vs, of(fmt.Sprintf("a-passes-%03d", i), runOf(1, routing.Pass, "")))
	}
	return play(t, routing.DefaultPolicy(), vs...)
}

func caseComment(c routing.Case, o Options) md {
	return CaseComment(c, o, func(checkpoint string) Options {
		o := o
		o.IssueURL = "https://github.com/acme/shop/issues/" + map[string]string{"e2e": "40"}[checkpoint]
		return o
	})
}

func TestCaseComment(t *testing.T) {
	t.Parallel()
	unclear := of("e2e", routing.Verdict{Result: routing.Unclear, Reason: "the report holds no test", Run: runOf(1, routing.Fail, "").Run})
	old := cartTotal()
	old.Standing, old.Since = history.StandingPreExisting, commit(4)
	flaky := missing()
	flaky.Standing = history.StandingFlaky
	mixed := of("integration", runOf(2, routing.Fail, routing.LogicError, coupon(), old, flaky))
	mixed.Base = &routing.BaseComparison{Name: "main", SHA: commit(4), Known: true}
	onlyOld := of("api", runOf(2, routing.Fail, routing.LogicError, old))
	onlyOld.Base, onlyOld.Counts.Failed = mixed.Base, 1
	c := play(t, routing.DefaultPolicy(), unclear, of("lint", runOf(1, routing.Pass, "")), mixed, onlyOld,
		runOf(1, routing.Fail, routing.LogicError, coupon(), missing()), runOf(2, routing.Fail, routing.LogicError, coupon()),
		of("vet", runOf(1, routing.Fail, routing.TypeError, missing())), of("vet", runOf(2, routing.Pass, "")))
	for name, language := range map[string]Language{"": English, "_ko": Korean} {
		o := options()
		o.Language = language
		got := caseComment(c, o)
		golden(t, "casecomment"+name+".md", got)
		if m, ok := marker.Parse(string(got)); !ok || m.Key != caseKey+"/comment" || m.Gen != c.Generation {
			t.Errorf("marker %+v, %v", m, ok)
		}
	}
	// docs/pictures/make.sh makes a picture of it.
	golden(t, "casecomment_short.md", caseComment(play(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.NotImplemented, missing()), onlyOld,
		of("lint", runOf(1, routing.Pass, "")), of("vet", runOf(1, routing.Fail, routing.TypeError, missing())), of("vet", runOf(2, routing.Pass, ""))), options()))
	got := string(caseComment(c, options()))
	t.Run("S5-96 a section per checkpoint, the failing ones first and in order, the passing ones a line", func(t *testing.T) {
		at := -1
		for _, head := range []string{"### 🛑 e2e", "### ❌ integration", "### ❌ unit", "### ⚪ api", "- **✅ lint passes**", "- **✅ vet passes after 1 fix attempt**"} {
			i := strings.Index(got, head)
			if i < at || i < 0 || strings.Count(got, head) != 1 {
				t.Errorf("%q stands at %d, the one before at %d", head, i, at)
			}
			at = i
		}
		if strings.Contains(got, "### ✅") {
			t.Errorf("a checkpoint that passes is more than a line")
		}
	})
	t.Run("S5-96 what is new stands open, what is flaky or pre-existing is folded", func(t *testing.T) {
		_, section, _ := strings.Cut(got, "### ❌ integration")
		section, _, _ = strings.Cut(section, "\n### ")
		fold := strings.Index(section, "<details>")
		for name, folded := range map[string]bool{"| `test_percent_coupon_is_capped`<br>": false, "| 🎲 flaky | `test_coupon_expires`<br>": true, "| ⚪ base | `test_total_with_tax`<br>": true} {
			if i := strings.Index(section, name); i < 0 || (i > fold) != folded {
				t.Errorf("%s stands at %d, the first fold at %d\n%s", name, i, fold, section)
			}
		}
	})
	t.Run("S5-96 each section that is open has its packet", func(t *testing.T) {
		all, err := VerifyPackets(got)
		if err != nil || len(all) != 4 {
			t.Fatalf("%d packets, %v", len(all), err)
		}
		for i, want := range []string{"e2e", "integration", "unit", "api"} {
			if all[i].Checkpoint != want || all[i].Recorded(c) != nil || !json.Valid(all[i].JSON) {
				t.Errorf("packet %d is of %s: %v", i, all[i].Checkpoint, all[i].Recorded(c))
			}
		}
	})
	t.Run("one checkpoint has the text of its own comment", func(t *testing.T) {
		for name, c := range stories(t) {
			if len(c.Checkpoints) != 1 {
				continue
			}
			own, _ := marker.Split(string(Comment(c, "unit", options())))
			if whole, _ := marker.Split(string(CaseComment(c, options(), func(string) Options { return options() }))); whole != own {
				t.Errorf("%s: %s", name, firstDifference(whole, own))
			}
		}
	})
}

func TestCaseCommentFits(t *testing.T) {
	t.Parallel()
	heavy := func() []routing.Failure { return many(60) }
	light := func() []routing.Failure { return []routing.Failure{coupon()} }
	for name, x := range map[string]struct {
		c     routing.Case
		limit int
	}{
		"two heavy":                 {caseOf(t, 2, 1, heavy), 0},
		"forty heavy":               {caseOf(t, 40, 3, heavy), 0},
		"three hundred of a line":   {caseOf(t, 300, 0, light), 0},
		"nine hundred that pass":    {caseOf(t, 1, 900, light), 0},
		"nothing but passing":       {caseOf(t, 0, 900, light), 0},
		"hostile":                   {caseOf(t, 12, 2, func() []routing.Failure { return []routing.Failure{hostile(), coupon()} }), 9_000},
		"too little for a headline": {caseOf(t, 30, 30, heavy), 900},
	} {
		t.Run("S5-96 "+name, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Limit = x.limit
			got := caseComment(x.c, o)
			if len(got) > o.MaxBytes() {
				t.Errorf("%d bytes of %d", len(got), o.MaxBytes())
			}
			if m, ok := marker.Parse(string(got)); !ok || m.Key != caseKey+"/comment" {
				t.Errorf("no marker: %s", got[max(0, len(got)-200):])
			}
			inert(t, got, o)
		})
	}
	t.Run("S5-96 heavy sections get the same share, and what a light one leaves", func(t *testing.T) {
		t.Parallel()
		vs := []routing.Verdict{of("light", runOf(1, routing.Fail, routing.LogicError, coupon()))}
		for _, name := range []string{"heavy-1", "heavy-2", "heavy-3"} {
			vs = append(vs, of(name, runOf(1, routing.Fail, routing.LogicError, many(300)...)))
		}
		got := string(caseComment(play(t, routing.DefaultPolicy(), vs...), options()))
		sections := strings.Split(got, "\n### ")
		if len(sections) != 4 || !strings.Contains(got, "❌ light:") {
			t.Fatalf("%d sections", len(sections))
		}
		alone := len(CaseComment(play(t, routing.DefaultPolicy(), vs[0]), options(), func(string) Options { return options() }))
		if light := sections[3]; !strings.Contains(light, "light:") || len(light) < alone*9/10 {
			t.Errorf("the light section is cut to %d of %d bytes", len(light), alone)
		}
		for _, s := range sections[:3] {
			if share := (DefaultLimit - alone) / 3; len(s) > share*3/2 || len(s) < share/2 {
				t.Errorf("a heavy section has %d bytes, its share is %d", len(s), share)
			}
		}
	})
}

func TestVerifyPackets(t *testing.T) {
	t.Parallel()
	c := play(t, routing.DefaultPolicy(), of("lint", runOf(1, routing.Fail, routing.Quality, coupon())), runOf(1, routing.Fail, routing.LogicError, hostile(), coupon()))
	real := string(caseComment(c, options()))
	if all, err := VerifyPackets(strings.ReplaceAll(real, "\n", "\r\n")); err != nil || len(all) != 2 {
		t.Fatalf("%d packets, %v", len(all), err)
	}
	for name, text := range map[string]string{
		"two packets of one checkpoint":  strings.Replace(real, `"checkpoint": "lint"`, `"checkpoint": "unit"`, 1),
		"a packet of another case":       strings.Replace(real, `"case": "acme/shop#12"`, `"case": "acme/shop#13"`, 1),
		"the marker of one checkpoint":   strings.Replace(real, "key=acme/shop#12/comment gen=", "key=acme/shop#12/unit/comment gen=", 1),
		"a block of JSON that is no one": strings.Replace(real, "\n### ", "\n```json\n{}\n```\n\n### ", 1),
		"a block that nothing closes":    strings.Replace(real, "\n<!-- switchback:v1 key=acme/shop#12/comment", "\n```json\n<!-- switchback:v1 key=acme/shop#12/comment", 1),
	} {
		t.Run("S6-9 refused: "+name, func(t *testing.T) {
			if all, err := VerifyPackets(text); text == real || err == nil {
				t.Errorf("%d packets", len(all))
			}
		})
	}
}
