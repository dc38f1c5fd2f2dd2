package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, yaml string
		want       []string // "line: part of the message", in order, all of them
	}{
		{"S0-56 an unknown key, with the one that was meant", "max_iteration: 3\n", []string{`1: unknown key "max_iteration"; did you mean "max_iterations"?`}},
		{"S0-56 an unknown key that is like no other", "\nflavour: sweet\n", []string{`2: unknown key "flavour"; known are version, language`}},
		{"S0-56 an unknown key inside a checkpoint", "checkpoints:\n  unit:\n    nedes: [a]\n", []string{`3: unknown key "nedes"; did you mean "needs"?`}},
		{"S0-56 an unknown key inside a hand-off", "handoff:\n  - mentions: x\n", []string{`2: unknown key "mentions"; did you mean "mention"?`, "2: name exactly one of mention, workflow"}},
		{"S0-56 an unknown key with a space", "max iterations: 3\n", []string{`1: unknown key "max iterations"; did you mean "max_iterations"?`}},
		{"S0-56 an unknown key with a line break", "\"max\\niterations\": 3\n", []string{`1: unknown key "max\niterations"`}},
		{"S0-56 a text for a number", "max_iterations: lots\n", []string{`1: max_iterations: "lots" is not a whole number`}},
		{"S0-56 a fraction for a number", "max_iterations: 2.5\n", []string{`1: max_iterations: "2.5" is not a whole number`}},
		{"S0-56 a number that is no number", "max_iterations: 99999999999999999999\n", []string{`" is not a whole number`}},
		{"S0-56 a text for true or false", "circuit_breaker: maybe\n", []string{`1: circuit_breaker: "maybe" is not true or false`}},
		{"S0-56 a list for a mapping", "checkpoints: [unit]\n", []string{"1: checkpoints: a list is not a mapping of keys to values"}},
		{"S0-56 a mapping for a list", "quarantine: {mention: author}\n", []string{"1: quarantine: a mapping is not a list; write each item on a line of its own with a leading dash"}},
		{"S0-56 a hand-off for the list of them", "handoff: {mention: author}\n", []string{`1: unknown key "mention"; known are forks, to`}},
		{"S6-4 whose changes start agents", "handoff:\n  forks: sometimes\n  to: [{mention: \"@a\"}]\n", []string{"2: forks is \"sometimes\"; it must be one of never, approved, always"}},
		{"S6-4 hand-offs under a key of their own", "handoff:\n  forks: never\n  to:\n    - mentions: x\n    - mention: y\n      label: z\n", []string{`4: unknown key "mentions"; did you mean "mention"?`, "4: name exactly one of", "5: name exactly one of"}},
		{"S0-56 a text for a list", "handoff: author\n", []string{`1: handoff: "author" is not a list`}},
		{"S0-56 a list for a text", "language: [en]\n", []string{"1: language: a list is not a text"}},
		{"S0-56 a list as the whole file", "- language: en\n", []string{"1: a list is not a mapping"}},
		{"S0-56 a text as the whole file", "hello\n", []string{`1: "hello" is not a mapping`}},
		{"S0-56 a key without value", "max_iterations:\nlanguage: en\n", []string{`1: "max_iterations" has no value; give it one or leave the key out`}},
		{"S0-56 an empty text", "language: \"\"\n", []string{`1: "language" has no value`}},
		{"S0-56 a key twice", "language: en\nmode: auto\nlanguage: ko\n", []string{`3: key "language" stands in line 1 already; keep one of them`}},
		{"S0-56 a second document", "language: en\n---\nlanguage: ko\n", []string{"2: a second document; keep one, without ---"}},
		{"S0-56 an unclosed list", "handoff: [\n", []string{"1: not valid YAML"}},
		{"S0-56 a tab", "checkpoints:\n\tunit:\n", []string{"2: not valid YAML: found character that cannot start any token"}},
		{"S0-56 a version of the future", "version: 2\n", []string{"1: version 2 is not known; write 1 or leave it out"}},
		{"S0-56 a language", "language: fr\n", []string{`1: language is "fr"; it must be one of en, ko`}},
		{"S4-31 on_max", "on_max: wait\n", []string{`1: on_max is "wait"; it must be one of manual, error, skip`}},
		{"S4-31 on_max in capitals", "on_max: Manual\n", []string{`1: on_max is "Manual"; it must be one of manual, error, skip`}},
		{"S0-56 pause_scope", "pause_scope: all\n", []string{`1: pause_scope is "all"; it must be one of checkpoint, case`}},
		{"S0-56 mode", "mode: semi\n", []string{`1: mode is "semi"; it must be one of auto, manual`}},
		{"S0-56 who may answer", "answers: {permission: read}\n", []string{`1: permission is "read"; it must be one of triage, write, maintain, admin`}},
		{"S0-56 an App by its name", "answers: {apps: [dependabot]}\n", []string{`"dependabot" is not a whole number`}},
		{"S0-56 an App that is none", "answers:\n  apps:\n    - 0\n", []string{"3: 0 is no id of an App; it is the number on its settings page"}},
		{"S0-56 too many iterations", "max_iterations: 11\n", []string{"1: max_iterations is 11; it must be 0 (return nothing for a fix) to 10"}},
		{"S0-56 negative iterations", "max_iterations: -1\n", []string{"1: max_iterations is -1; it must be 0 (return nothing for a fix) to 10"}},
		{"S0-56 iterations of a checkpoint", "checkpoints:\n  unit:\n    max_iterations: 12\n", []string{"3: max_iterations is 12"}},
		{"S0-56 iterations of a case", "cases:\n  \"#1\":\n    max_iterations: 12\n", []string{"3: max_iterations is 12"}},
		{"S0-56 a case that is none", "cases:\n  12: {max_iterations: 1}\n", []string{`2: case "12" is neither a pull request ("#12") nor a branch ("@main")`}},
		{"S0-56 a case that overrides nothing", "cases:\n  \"#12\": {}\n", []string{`2: case "#12" overrides nothing; write max_iterations`}},
		{"acts", "acts: both\n", []string{"1: acts is \"both\"; it must be one of action, app"}},
		{"reports", "reports:\n  - a/*.xml\n  - 'a/[b'\n", []string{`3: reports[1] is "a/[b", which is no pattern of files`}},
		{"S0-56 actions", "max_actions: 0\n", []string{"1: max_actions is 0; it must be 1 to 1000"}},
		{"S0-56 new issues", "escalation:\n  max_issues: 0\n", []string{"2: max_issues is 0; it must be 1 to 50"}},
		{"S0-56 a type of escalation", "escalation:\n  auto_resolve: {tests: false}\n", []string{`2: tests is "tests"; it must be one of general`}},
		{"S0-56 a duration without unit", "retry_delay: 5\n", []string{`1: "5" is not a duration; write e.g. 5s or 2m`}},
		{"S0-56 a fraction inside a checkpoint", "checkpoints:\n  a:\n    criteria: {min_tests: 1.5}\nreview: {fail_on: {major: 0.5}}\n", []string{`3: min_tests: "1.5" is not a whole number`, `4: major: "0.5" is not a whole number`}},
		{"S0-56 a negative duration", "retry_delay: -5s\n", []string{`1: "-5s" is not a duration`}},
		{"S0-56 a duration in words", "retry_delay: five seconds\n", []string{`1: "five seconds" is not a duration`}},
		{"S0-56 a duration that no job should wait", "retry_delay: 61m\n", []string{`1: "61m" is longer than an hour`}},
		{"S0-56 a list for a duration", "retry_delay: [5s]\n", []string{"1: a list or mapping is not a duration"}},
		{"S0-56 an unknown need", "checkpoints:\n  unit:\n  e2e:\n    needs:\n      - unit\n      - unti\n", []string{`6: checkpoint "e2e" needs "unti", which is not among the checkpoints; did you mean "unit"?`}},
		{"S0-56 a circle", "checkpoints:\n  a:\n    needs: [c]\n  b:\n    needs: [a]\n  c:\n    needs: [b]\n", []string{"3: the checkpoints need each other in a circle: a → c → b → a; remove one of these needs"}},
		{"S0-56 a checkpoint that needs itself", "checkpoints:\n  a:\n    needs: [a]\n", []string{"3: the checkpoints need each other in a circle: a → a"}},
		{"S0-56 two ways to hand over", "handoff:\n  - mention: author\n  - mention: x\n    label: y\n", []string{"3: name exactly one of mention, workflow, repository_dispatch, label; 2 are named"}},
		{"S0-56 no way to hand over", "handoff:\n  - {}\n", []string{"2: name exactly one of mention, workflow, repository_dispatch, label; 0 are named"}},
		{"S0-56 inputs without workflow", "handoff:\n  - label: x\n    inputs: {a: b}\n", []string{"2: ref and inputs go with workflow only"}},
		{"S0-56 a workflow with its folder", "handoff:\n  - workflow: .github/workflows/fix.yml\n", []string{`2: workflow ".github/workflows/fix.yml"; give the file name alone`}},
		{"S5-80 a worker without limits before others", "handoff:\n  - mention: \"@a\"\n  - workflow: fix.yml\n    ack_within: 10m\n", []string{"2: a has neither ack_within nor deliver_within, so the workers behind it are never told"}},
		{"S5-80 an acknowledgement after the delivery", "handoff:\n  - mention: \"@a\"\n    ack_within: 2h\n    deliver_within: 1h\n", []string{"3: ack_within is longer than deliver_within"}},
		{"S5-80 a limit that is none", "handoff:\n  - mention: \"@a\"\n    ack_within: 10s\n", []string{`3: "10s" is no time to wait`}},
		{"S5-80 limits of what nobody else can take over", "reviewer: {mention: \"@a\", ack_within: 10m}\ncheckpoints:\n  a:\n    start:\n      workflow: a.yml\n      login: x\n", []string{"1: ack_within, deliver_within and login go with the workers of handoff only", "4: ack_within, deliver_within"}},
		{"S5-80 too many workers in turn", "handoff:\n  to: [" + strings.Repeat("{label: a, ack_within: 10m}, ", 10) + "]\n", []string{"2: 10 workers with ack_within or deliver_within, at most 9"}},
		{"S0-56 a reviewer", "reviewer:\n  ref: x\n", []string{"1: name exactly one of", "1: ref and inputs go with workflow only"}},
		{"S0-56 a start", "checkpoints:\n  a:\n    start: {}\n", []string{"3: name exactly one of"}},
		{"S0-56 a severity", "review:\n  fail_on:\n    fatal: 1\n", []string{`3: fatal is "fatal"; it must be one of blocker, critical, major, minor`}},
		{"S0-56 a negative number of issues", "review:\n  fail_on: {major: -1}\n", []string{"2: fail_on.major is -1; it must be 0 (never) or more"}},
		{"S0-56 a negative criterion", "criteria:\n  min_tests: -1\n  max_flaky: -2\n", []string{"2: min_tests is -1; it must not be negative", "3: max_flaky is -2"}},
		{"S0-56 a criterion of a checkpoint", "checkpoints:\n  a:\n    criteria:\n      max_skipped: -1\n", []string{"4: max_skipped is -1"}},
		{"S0-56 a bad regular expression", "rules:\n  - name: a\n    class: QUALITY\n    pattern: '(unclosed'\n", []string{"4: rule \"a\": error parsing regexp: missing closing ): `(unclosed`; the syntax is RE2"}},
		{"S0-56 a lookahead, which RE2 has not", "rules:\n  - {name: a, class: QUALITY, pattern: '(?=x)'}\n", []string{"2: rule \"a\": error parsing regexp: invalid or unsupported Perl syntax"}},
		{"S0-56 a class", "rules:\n  - {name: a, pattern: x, class: LOGIC_EROR}\n", []string{`2: rule "a": class "LOGIC_EROR" is not known; did you mean "LOGIC_ERROR"?`}},
		{"S0-56 a class by keyword that needs evidence", "rules:\n  - {name: a, pattern: x, class: FLAKY}\n", []string{`2: rule "a": FLAKY needs a test that failed and passed on one commit`}},
		{"S0-56 a rule without anything", "rules:\n  - priority: 1\n", []string{"2: a rule without name; give it one", `2: rule "" has no pattern; give it a regular expression`, `2: rule "": class "" is not known; known are`}},
		{"S0-56 two rules of one name", "rules:\n  - {name: a, pattern: x, class: QUALITY}\n  - {name: a, pattern: y, class: QUALITY}\n", []string{`3: a second rule named "a"`}},
		{"S0-56 several problems at once, in order of lines", "on_max: wait\nmax_iterations: lots\nretry_delay: soon\nflavour: sweet\nrules:\n  - {name: a, pattern: '(', class: QUALITY}\n",
			[]string{`1: on_max is "wait"`, `2: max_iterations: "lots" is not a whole number`, `3: "soon" is not a duration`, `4: unknown key "flavour"`, `6: rule "a"`}},
		{"S0-56 lines stay right behind an item of a wrong type", "handoff:\n  - author\n  - mention: a\n    label: b\n", []string{`2: "author" is not a mapping`}},
		{"S0-56 behind a byte order mark", "\ufeffmode: semi\n", []string{`1: mode is "semi"`}},
		{"S0-56 with Windows line ends", "language: en\r\n\r\nmode: semi\r\n", []string{`3: mode is "semi"`}},
		{"S0-56 through an alias", "checkpoints:\n  a: &a\n    max_iterations: 3\n  b: *a\ncriteria: &c\n  min_tests: -1\n", []string{"6: min_tests is -1"}},
		{"S0-56 an unknown anchor", "criteria: *none\n", []string{"not valid YAML: unknown anchor 'none' referenced"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("sb.yml", []byte(c.yaml))
			var all *Error
			if !errors.As(err, &all) {
				t.Fatalf("accepted: %+v, %v", f, err)
			}
			if !reflect.DeepEqual(f, File{}) {
				t.Error("a refused configuration is returned all the same")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) || len(all.Problems) != len(c.want) {
				t.Fatalf("%d problems, want %d:\n%s", len(lines), len(c.want), err)
			}
			for i, w := range c.want {
				if w[0] >= '1' && w[0] <= '9' {
					w = "sb.yml:" + w
				}
				if !strings.HasPrefix(lines[i], "sb.yml:") || !strings.Contains(lines[i], w) {
					t.Errorf("problem %d is\n%s\nwant\n%s", i+1, lines[i], w)
				}
			}
		})
	}
}

// full reads the example that sets every key.
func full(t *testing.T) (File, []byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/full.yml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse("full.yml", data)
	if err != nil {
		t.Fatal(err)
	}
	return f, data
}

func TestFullExample(t *testing.T) {
	t.Parallel()
	f, _ := full(t)
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the example does not set %s", v.Type().Field(i).Name)
		}
	}
	p := f.Policy("e2e", "#7", nil)
	if p.Max != 1 || p.OnMax != routing.OnMaxSkip || p.Breaker || p.RetryDelay != 90*time.Second || p.EscalateOnDesign || p.RunReviewerOnPass ||
		p.Notify || p.Scope != routing.ScopeCase || !p.Manual || p.MaxActions != 20 || !p.Reviewer || p.Override != nil {
		t.Errorf("policy %+v", p)
	}
	if q := p.Quarantine; len(q) != 2 || q[0].Test != "TestUpload" || q[1].Test != "cart › totals" || q[1].Until != time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC) || f.QuarantineTime() != 21*24*time.Hour {
		t.Errorf("quarantine %v for %s", q, f.QuarantineTime())
	}
	if !reflect.DeepEqual(p.Needs, map[string][]string{"e2e": {"unit"}, "deploy": {"unit", "e2e"}}) || len(p.Checkpoints) != 3 {
		t.Errorf("needs %v of %v", p.Needs, p.Checkpoints)
	}
	if !reflect.DeepEqual(p.FailOn, routing.FailOn{routing.Blocker: 1, routing.Critical: 2, routing.Major: 3, routing.Minor: 0}) {
		t.Errorf("fail_on %v", p.FailOn)
	}
	if p := f.Policy("unit", "", nil); p.Max != 5 {
		t.Errorf("max of unit is %d", p.Max)
	}
	if c := f.CriteriaOf("e2e"); *c.MinTests != 12 {
		t.Errorf("criteria of e2e: %+v", c)
	}
	if c := f.CriteriaOf("unit"); *c.MinTests != 1 {
		t.Errorf("criteria of unit: %+v", c)
	}
	if hs := f.HandoffsOrDefault(); len(hs) != 5 || hs[2].Workflow != "fix.yml" {
		t.Errorf("hand-offs %+v", hs)
	}
	if f.ForksOrDefault() != ForksApproved || !f.HandsOff() || !f.Starts()["e2e"] {
		t.Errorf("forks %q, starts %v", f.ForksOrDefault(), f.Starts())
	}
	if in := f.Checkpoints["e2e"].Start.Inputs; in["suite"] != "slow" || len(in) != 2 {
		t.Errorf("inputs %v", in)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{"empty": "", "comments": "# nothing\n\n# yet\n", "a byte order mark": "\ufeff", "null": "~\n", "empty mapping": "{}\n", "white space": "\n  \n", "start of a document": "---\n", "version alone": "version: 1\n"} {
		f, err := Parse("sb.yml", []byte(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		p := f.Policy("ci", "#1", nil)
		want := routing.DefaultPolicy()
		want.Needs = map[string][]string{}
		if !reflect.DeepEqual(p, want) {
			t.Errorf("%s: policy %+v, want %+v", name, p, want)
		}
	}
	p := File{}.Policy("ci", "#1", nil)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"S0-51 three reworks", p.Max, 3},
		{"S0-52 five seconds before each retry", p.RetryDelay, 5 * time.Second},
		{"S0-53 a design mismatch escalates", p.EscalateOnDesign, true},
		{"S0-54 the reviewer runs on a pass", p.RunReviewerOnPass, true},
		{"S0-54 but only where one is configured", p.Reviewer, false},
		{"S0-55 an escalation notifies", p.Notify, true},
		{"S4-26 three refinements", p.Max, 3},
		{"S4-27 on_max is manual", p.OnMax, routing.OnMaxManual},
		{"S4-32 the breaker is on", p.Breaker, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("%v, want %v", c.got, c.want)
			}
		})
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	f, err := Parse("sb.yml", []byte("max_iterations: 4\ncheckpoints:\n  unit: {max_iterations: 2}\ncases:\n  \"#12\": {max_iterations: 7}\n  \"@main\": {max_iterations: 0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	nine := 9
	for _, c := range []struct {
		name, checkpoint, ref string
		label                 *int
		want                  int
	}{
		{"the file's", "lint", "#1", nil, 4},
		{"a checkpoint's", "unit", "#1", nil, 2},
		{"S4-34 a case's, before a checkpoint's", "unit", "#12", nil, 7},
		{"S4-34 a label's, before a case's", "unit", "#12", &nine, 9},
		{"S4-35 none at all on a branch", "unit", "@main", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := routing.Limit(routing.Checkpoint{}, f.Policy(c.checkpoint, c.ref, c.label)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
	off, _ := Parse("sb.yml", []byte("circuit_breaker: false\n"))
	t.Run("S4-33 without the breaker ten", func(t *testing.T) {
		if got := routing.Limit(routing.Checkpoint{}, off.Policy("unit", "#12", nil)); got != routing.HardCap || routing.HardCap != 10 {
			t.Errorf("%d", got)
		}
	})
}

func TestMergeKeysAndAnchors(t *testing.T) {
	t.Parallel()
	f, err := Parse("sb.yml", []byte("checkpoints:\n  a: &base\n    max_iterations: 2\n    criteria: {min_tests: 3}\n  b:\n    <<: *base\n    needs: [a]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if b := f.Checkpoints["b"]; *b.MaxIterations != 2 || *b.Criteria.MinTests != 3 || b.Needs[0] != "a" {
		t.Errorf("%+v", b)
	}
}

// Hostile files end with an error, or none, but they end.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i, c := 0, 'b'; c < 'k'; i, c = i+1, c+1 {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	var cps, rules, unknown strings.Builder
	cps.WriteString("checkpoints:\n")
	for i := range 200 {
		fmt.Fprintf(&cps, "  checkpoint-%d: {needs: [chekpoint-%d]}\n", i, i)
	}
	rules.WriteString("rules:\n")
	for i := range 10_000 {
		fmt.Fprintf(&rules, "  - {name: rule-%d, pattern: 'x%d.*y', class: QUALITY}\n", i, i)
	}
	for i := range 900 {
		fmt.Fprintf(&unknown, "max_iteration_%d: 1\n", i)
	}
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"a bomb of aliases":         {bomb, "sb.yml"},
		"a loop of aliases":         {"checkpoints: &a\n  x: *a\n", "sb.yml"},
		"deep nesting":              {strings.Repeat("[", 20_000), "sb.yml"},
		"a key of 250 KB":           {strings.Repeat("k", 250_000) + ": 1\n", "not valid YAML"},
		"a value of 250 KB":         {"language: " + strings.Repeat("v", 250_000) + "\n", "language is"},
		"250 KB of comments":        {strings.Repeat("# nothing\n", 25_000), ""},
		"a megabyte of comments":    {strings.Repeat("# nothing\n", 1<<17), "at most 262144 are read"},
		"a megabyte of rules":       {rules.String(), "at most 262144 are read"},
		"200 unknown needs":         {cps.String(), "and 150 further problems"},
		"900 unknown keys":          {unknown.String(), "and 850 further problems"},
		"NUL bytes":                 {"language: en\x00\n", "not valid YAML"},
		"invalid UTF-8":             {"language: \xff\xfe\n", "not valid YAML"},
		"binary":                    {"\x7fELF\x02\x01\x01\x00\x00", "not valid YAML"},
		"UTF-16":                    {"\xff\xfem\x00o\x00d\x00e\x00:\x00 \x00s\x00e\x00m\x00i\x00\n\x00", `mode is "semi"`},
		"a tag of another language": {"language: !!python/object/apply:os.system ['id']\n", "sb.yml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := Parse("sb.yml", []byte(c.data))
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
			if (err != nil) != (c.want != "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("want %q, got %.300v", c.want, err)
			}
			if err != nil && len(err.Error()) > 20_000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	if data, err := os.ReadFile("testdata/full.yml"); err == nil {
		f.Add(data)
	}
	f.Add([]byte("checkpoints:\n  a: &a {needs: [b]}\n  b: *a\n"))
	f.Add([]byte("rules: [{name: a, pattern: '(', class: x}]\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("sb.yml", data)
		if err == nil {
			p := file.Policy("a", "#1", nil)
			if n := routing.Limit(routing.Checkpoint{}, p); n < 0 || n > routing.HardCap {
				t.Errorf("limit %d", n)
			}
			return
		}
		for _, l := range strings.Split(err.Error(), "\n") {
			if !strings.HasPrefix(l, "sb.yml:") {
				t.Errorf("a line without file: %q", l)
			}
		}
	})
}
