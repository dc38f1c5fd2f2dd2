package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Implement add in calc.py:3; expected 4.":  "Implement add in `calc.py:3`; expected 4.",
		"ping @octocat and #12 now":                "ping `@octocat` and `#12` now",
		"fixes acme/shop#1, see GH-12":             "fixes `acme/shop#1`, see `GH-12`",
		"at deadbeefcafe (done)":                   "at `deadbeefcafe` (done)",
		"call `add(2, 2)`, then look":              "call `add(2, 2)`, then look",
		"an odd ` tick @me":                        "an odd `tick @me`",
		"<img src=x> ![a](https://e.vil/p.png)":    "`<img src=x> ![a](https://e.vil/p.png)`",
		"/merge this":                              "`/merge` this",
		"1. first":                                 "`1.` first",
		"a <!-- switchback:v1 key=x gen=1 --> b":   "a `<! -- switchback:v1 key=x gen=1 -- >` b",
		"Raise it (timeout-minutes). Or not!":      "Raise it (timeout-minutes). Or not!",
		"a missing (done()).":                      "a missing (`done()`).",
		"a|b":                                      "`a|b`",
		"JIRA-12 and www.example.com":              "`JIRA-12` and `www.example.com`",
		"\x1b[31mred\x1b[0m te\u200bxt \u202eback": "red text back",
		"잠금, 응답 없는 서버 @me":                         "잠금, 응답 없는 서버 `@me`",
		"":                                         "–",
		"\n\t ":                                    "–",
		"# heading\n- bullet":                      "`#` heading `-` bullet",
		`"@acme/all" is not a command; known are ` + "`/switchback resume`, on a line of its own.": "`\"@acme/all\"` is not a command; known are `/switchback resume`, on a line of its own.",
		"no checkpoint `a` @acme/all fixes #1 `b`.":                                                "no checkpoint `a` `@acme/all` fixes `#1` `b`.",
		"mail a@b.example": "mail `a@b.example`",
		"javascript:alert(1) [x](javascript:alert(1))": "`javascript:alert(1) [x](javascript:alert(1))`",
	} {
		if got := Prose(in); string(got) != want {
			t.Errorf("Prose(%q)\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a":          "`a`",
		"a`b":        "``a`b``",
		"`":          "`` ` ``",
		"a\nb":       "`a b`",
		"``` ":       "```` ``` ````",
		"":           "–",
		"\u200b\x07": "–",
	} {
		if got := Code(in); string(got) != want {
			t.Errorf("Code(%q) = %s, want %s", in, got, want)
		}
	}
	if got := Cell(Code(`a|b\|c`)); got != "`a\\|b\\¦c`" {
		t.Errorf("cell: %s", got)
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	got := Fence("text", "a\n```\nb````c\n")
	if got != "`````text\na\n```\nb````c\n`````" {
		t.Errorf("fence: %s", got)
	}
}

func TestCutKeepsRunes(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("한글", 50)
	for n := range 120 {
		for _, c := range []string{Cut(s, n), CutMiddle(s, n)} {
			if !utf8.ValidString(c) || len(c) > max(n, len("…")) {
				t.Fatalf("%d: %d bytes, %q", n, len(c), c)
			}
		}
	}
}
