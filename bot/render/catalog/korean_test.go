package catalog

import (
	"testing"

	"github.com/switchback-ci/switchback/bot/render/markdown"
)

func TestParticlesFollowTheLastSound(t *testing.T) {
	t.Parallel()
	fill := func(text string, v string) string {
		return Fill(text, func(string) (string, bool) { return v, true })
	}
	for _, tc := range []struct{ word, subject, object, topic, with, by string }{
		{"서버", "가", "를", "는", "와", "로"},
		{"실행", "이", "을", "은", "과", "으로"},
		{"파일", "이", "을", "은", "과", "로"},
		{"`1100`", "이", "을", "은", "과", "으로"},
		{"`10`", "이", "을", "은", "과", "으로"},
		{"1", "이", "을", "은", "과", "로"},
		{"2", "가", "를", "는", "와", "로"},
		{"3", "이", "을", "은", "과", "으로"},
		{"7", "이", "을", "은", "과", "로"},
		{"9", "가", "를", "는", "와", "로"},
		{"`unit`", "이", "을", "은", "과", "으로"},
		{"`build`", "가", "를", "는", "와", "로"},
		{"`main`", "이", "을", "은", "과", "으로"},
		{"`model`", "이", "을", "은", "과", "로"},
		{"`goal.json`", "이", "을", "은", "과", "으로"},
		{"`.github/switchback.yml`", "이", "을", "은", "과", "로"},
		{"`pipeline`", "이", "을", "은", "과", "으로"},
		{"`test`", "가", "를", "는", "와", "로"},
		{"`TestEmail`", "이", "을", "은", "과", "로"},
		{"`LOGIC_ERROR`", "가", "를", "는", "와", "로"},
		{"`TIMEOUT`", "이", "을", "은", "과", "으로"},
		{"CI", "가", "를", "는", "와", "로"},
		{"URL", "이", "을", "은", "과", "로"},
		{"`unit (3.12)`", "가", "를", "는", "와", "로"},
		{"[`abcdef0`](https://github.com/acme/shop/commit/abcdef1)", "이", "을", "은", "과", "으로"},
		{"**`plan`**", "이", "을", "은", "과", "으로"},
		{"“이대로 두기”", "가", "를", "는", "와", "로"},
		{"`FB-001`", "이", "을", "은", "과", "로"},
	} {
		for text, want := range map[string]string{"{v}이(가)": tc.subject, "{v}을(를)": tc.object, "{v}은(는)": tc.topic, "{v}과(와)": tc.with, "{v}(으)로": tc.by} {
			if got := fill(text+" x", tc.word); got != tc.word+want+" x" {
				t.Errorf("%s of %s: got %q, want %q", text, tc.word, got, tc.word+want+" x")
			}
		}
	}
	if got := fill("{v}이(가)", "–"); got != "–이(가)" {
		t.Errorf("a word that nobody reads aloud: %q", got)
	}
	if got := fill("{v} 이(가)", "`unit`"); got != "`unit` 이(가)" {
		t.Errorf("a particle that does not follow a value: %q", got)
	}
}

func TestParticlesStandOutsideCodeSpans(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"1100", "unit", "a`b", "@octocat"} {
		code := markdown.Code(v)
		if got := Korean.Say("misread.unknown", "word", code); got[:len(code)] != code || got[len(code)] == ' ' {
			t.Errorf("%s", got)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	values := map[string]string{"a": "{b}", "b": "x"}
	got := Fill("{a} {b} {c} { {a", func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	if got != "{b} x {c} { {a" {
		t.Error(got)
	}
	if got := English.Say("misread.unknown", "word", "@octocat closes #1"); got != "`@octocat` closes `#1` is not a command" {
		t.Errorf("a plain string is not made safe: %s", got)
	}
}

func TestParticlesOfText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"결과가 3 대신 4이(가) 되도록":        "결과가 3 대신 4가 되도록",
		"TestUnit은(는) 실패, 값을 만을(를)": "TestUnit은 실패, 값을 만을",
		"{{}}이(가)":        "{{}}이(가)",
		"plain (text) 으로": "plain (text) 으로",
	} {
		if got := Particles(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
