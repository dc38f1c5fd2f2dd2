package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const mark = "0123456789abcdef01234567"

func TestDispatchKey(t *testing.T) {
	t.Parallel()
	d := Dispatch{"plans-one", "pay.api", Test, 11, mark}
	for _, title := range []string{d.Key(), "Agent " + d.Key(), "ci/" + d.Key() + " (main)"} {
		if got, ok := FindDispatch(title); !ok || got != d {
			t.Errorf("%q: %v %+v", title, ok, got)
		}
	}
	for _, title := range []string{"", "Agent", "plans/pay/impl/1/" + mark[:23], "plans/pay/impl/1/" + mark + "0", "plans/pay/review/1/" + mark, "plans/pay/impl/0/" + mark} {
		if got, ok := FindDispatch(title); ok {
			t.Errorf("%q: %+v", title, got)
		}
	}
}

// long is feedback of so many failed tests, each with a trace of so many runes.
func long(tests, trace int) TestFeedback {
	f := TestFeedback{FailedTests: []FailedTest{}, Suggestions: []string{"fix <it>"}}
	for i := range tests {
		f.FailedTests = append(f.FailedTests, FailedTest{Name: fmt.Sprintf("Test%04d", i), Expected: "a", Actual: "b", StackTrace: strings.Repeat("é", trace)})
	}
	f.Metrics = Metrics{Total: tests, Failed: tests}
	return f
}

func TestCompactFeedback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tests, trace, most, kept, texts int }{
		{3, 10, 40 << 10, 3, 0},
		{3, 20_000, 40 << 10, 3, 3},
		{300, 2_000, 40 << 10, 40, 40},
		{1000, 0, 40 << 10, 300, 0},
		{1, 100_000, 1000, 1, 1},
		{2, 100_000, 300, 0, 0},
	} {
		b := long(c.tests, c.trace).Compact(c.most, nil)
		var got struct {
			TestFeedback
			Cut Cut
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%+v: %v in %s", c, err, b)
		}
		if n := len(got.FailedTests); len(b) > c.most || n < c.kept || n+got.Cut.Tests != c.tests || got.Cut.Texts < c.texts || !utf8.Valid(b) || got.Metrics.Failed != c.tests {
			t.Errorf("%+v: %d bytes, %d tests, %+v", c, len(b), n, got.Cut)
		}
		if (c.tests != len(got.FailedTests) || c.texts > 0) != strings.Contains(string(b), `"cut":`) {
			t.Errorf("%+v: it does not say whether something is cut: %.200s", c, b)
		}
	}
	if b := string(long(1, 5).Compact(1000, json.RawMessage(`"`+strings.Repeat("x", 600)+`"`))); !strings.Contains(b, `"requests":602}`) {
		t.Errorf("%s", b)
	}
	for _, most := range []int{2000, 3000, 4001} { // the longest list that fits is also the one that just fits
		b := long(40, 500).Compact(most, nil)
		if again := long(40, 500).Compact(len(b), nil); string(again) != string(b) {
			t.Errorf("%d bytes that fit into %d are %d in as many", len(b), most, len(again))
		}
	}
	for size, kept := range map[int]bool{500: true, 501: false} {
		b := string(long(1, 5).Compact(1000, json.RawMessage(`"`+strings.Repeat("x", size-2)+`"`)))
		if strings.Contains(b, `"requests":"xx`) != kept || strings.Contains(b, `"cut":{`) == kept {
			t.Errorf("%d bytes of what others want in 1000: %s", size, b)
		}
	}
	for n, cut := range map[int]int{10: 0, 11: 1} { // only where texts are cut as far as they may be
		f := long(1, 2000)
		f.Suggestions = strings.Split(strings.Repeat("s ", n), " ")[:n]
		var got struct {
			TestFeedback
			Cut Cut
		}
		if err := json.Unmarshal(f.Compact(800, nil), &got); err != nil || len(got.Suggestions) != n-cut || got.Cut.Suggestions != cut {
			t.Errorf("%d suggestions: %v %+v", n, err, got)
		}
	}
	whole := long(2, 20)
	size := len(whole.Compact(10_000, nil))
	if b := whole.Compact(size, nil); len(b) != size || strings.Contains(string(b), `"cut"`) {
		t.Errorf("what fits exactly is cut: %s", b)
	}
	if b := long(5, 5).Compact(20, nil); b != nil {
		t.Errorf("%s", b)
	}
	f := long(3, 20_000)
	f.Compact(1000, nil)
	if len(f.FailedTests[0].StackTrace) != 40_000 || len(f.FailedTests) != 3 {
		t.Error("what was cut for GitHub is cut in the feedback itself")
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	l, _ := NewLoop("run-7", Spec{ID: "api"}, DefaultSettings(), t0)
	f := long(300, 1000)
	l.Last, l.CurrentTry, l.Attempt = &f, 1, 2
	spec := Spec{ID: "api", File: "ports/api.md", Brief: strings.Repeat("é", 100_000)}
	d := Dispatch{"ports", "api", Impl, 2, mark}
	for _, own := range []map[string]string{nil, {"model": "small"}, {"big": strings.Repeat("x", 30_000)}, {"big": strings.Repeat("x", 47_000)}} {
		spec.Impl = &Command{Workflow: "a.yml", Inputs: own}
		in, size := d.Inputs(l, spec, l.Last, json.RawMessage(`{"feedback":[]}`)), 0
		for k, v := range in {
			size += len(k) + len(v)
		}
		if size >= 65_535 || len(in) != 8+len(own) || in["build"] != "run-7" || in["iteration"] != "1" || in["key"] != d.Key() || !strings.Contains(in["brief"], "bytes are cut here; all of it stands in ports/api.md") {
			t.Errorf("%d bytes in %d inputs", size, len(in))
		}
		if len(own["big"]) < 40_000 && !strings.Contains(in["feedback"], `"cut":{"failed_tests":`) {
			t.Errorf("%.300s", in["feedback"])
		}
		if len(own["big"]) == 0 && !strings.Contains(in["feedback"], `"requests":{"feedback":[]}`) {
			t.Errorf("what other ports want is lost: %.300s", in["feedback"])
		}
		for _, name := range ownInputs {
			if _, ok := in[name]; !ok {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

// A worker is given the inputs of its own command, and no others.
func TestInputsOfARole(t *testing.T) {
	t.Parallel()
	l, _ := NewLoop("run-7", Spec{ID: "api"}, DefaultSettings(), t0)
	impl, test := &Command{Workflow: "a.yml", Inputs: map[string]string{"own": "impl"}}, &Command{Workflow: "b.yml", Inputs: map[string]string{"own": "test"}}
	for _, c := range []struct {
		role Role
		spec Spec
		want string
	}{
		{Impl, Spec{Impl: impl, Test: test}, "impl"},
		{Test, Spec{Impl: impl, Test: test}, "test"},
		{Impl, Spec{Test: test}, ""},
		{Test, Spec{Impl: impl}, ""},
	} {
		in := Dispatch{"ports", "api", c.role, 1, mark}.Inputs(l, c.spec, nil, nil)
		if got, ok := in["own"]; got != c.want || ok != (c.want != "") || in["feedback"] != "" {
			t.Errorf("%s of %+v: %q", c.role, c.spec, in)
		}
	}
	for brief, cut := range map[int]bool{mostBrief: false, mostBrief + 1: true} {
		in := Dispatch{"ports", "api", Impl, 1, mark}.Inputs(l, Spec{Brief: strings.Repeat("x", brief), File: "a.md"}, nil, nil)
		if strings.HasSuffix(in["brief"], "\n\n[1 bytes are cut here; all of it stands in a.md]") != cut {
			t.Errorf("a brief of %d bytes: %.200s", brief, in["brief"])
		}
	}
}

func TestInputsOfAPort(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range 18 {
		many += fmt.Sprintf("i%d: x, ", i)
	}
	_, err := Compile([]File{{Name: "p.yml", Data: []byte("id: a\nimpl:\n  workflow: w.yml\n  inputs: {model: x, key: y}\ntest:\n  workflow: w.yml\n  inputs: {" + many + "}\n")}})
	for _, want := range []string{`p.yml:4: impl.inputs sets "key", which is set for every worker; give it another name`, "p.yml:7: test.inputs has 18 inputs; GitHub takes 25, of which 8 are set for every worker, so that 17 are left"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestWaitingForAWorkflow(t *testing.T) {
	t.Parallel()
	l, _ := NewLoop("b", Spec{ID: "api"}, DefaultSettings(), t0)
	later := t0.Add(time.Hour)
	j := Journal{Loop: &l, Updated: t0, Runner: &Runner{ID: "r", Run: "9", Of: "7", Events: true}}
	if got := j.Resumed(later); !got.StartedAt.Equal(later) {
		t.Errorf("a break in which nobody works counts: %s", got.StartedAt)
	}
	j.Worker = &Spawn{Key: "k", Sent: true}
	if got := j.Resumed(later); !got.StartedAt.Equal(t0) {
		t.Errorf("the time of a workflow at work does not count: %s", got.StartedAt)
	}
	k := Known{Standing: IsRunning, Run: "7", Build: "run-7"}
	if got := k.Heard(j); got != k {
		t.Errorf("a port whose workflow is at work stands as %+v", got)
	}
	if got := (Known{Standing: IsRunning, Run: "8"}).Heard(j); got.Standing != IsFailed {
		t.Errorf("a port that its job never began stands as %+v", got)
	}
	broken, _, _ := l.Break("gone", later)
	j.Loop = &broken
	if got := k.Heard(j); got.Standing != IsFailed || got.Reason != "gone" {
		t.Errorf("%+v", got)
	}
}

func TestShortBrief(t *testing.T) {
	t.Parallel()
	for brief, want := range map[string]string{
		"":       "",
		"12345":  "12345",
		"123456": "12345\n\n[1 bytes are cut here; all of it stands in a.md]",
	} {
		if got := shortBrief(Spec{Brief: brief, File: "a.md"}, 5); got != want {
			t.Errorf("%q in 5 bytes is %q, want %q", brief, got, want)
		}
	}
}
