package render

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Implement add in calc.py:3; expected 4.":      "Implement add in `calc.py:3`; expected 4.",
		"ping @octocat and #12 now":                    "ping `@octocat` and `#12` now",
		"fixes acme/shop#1, see GH-12":                 "fixes `acme/shop#1`, see `GH-12`",
		"at deadbeefcafe (done)":                       "at `deadbeefcafe` (done)",
		"call `add(2, 2)`, then look":                  "call `add(2, 2)`, then look",
		"an odd ` tick @me":                            "an odd `tick @me`",
		"<img src=x> ![a](https://e.vil/p.png)":        "`<img src=x> ![a](https://e.vil/p.png)`",
		"/merge this":                                  "`/merge` this",
		"1. first":                                     "`1.` first",
		"a <!-- switchback:v1 key=x gen=1 --> b":       "a `<! -- switchback:v1 key=x gen=1 -- >` b",
		"Raise it (timeout-minutes). Or not!":          "Raise it (timeout-minutes). Or not!",
		"a missing (done()).":                          "a missing (`done()`).",
		"a|b":                                          "`a|b`",
		"JIRA-12 and www.example.com":                  "`JIRA-12` and `www.example.com`",
		"\x1b[31mred\x1b[0m te\u200bxt \u202eback":     "red text back",
		"잠금, 응답 없는 서버 @me":                             "잠금, 응답 없는 서버 `@me`",
		"":                                             "–",
		"\n\t ":                                        "–",
		"# heading\n- bullet":                          "`#` heading `-` bullet",
		"mail a@b.example":                             "mail `a@b.example`",
		"javascript:alert(1) [x](javascript:alert(1))": "`javascript:alert(1) [x](javascript:alert(1))`",
	} {
		if got := prose(in); got != want {
			t.Errorf("prose(%q)\n got %s\nwant %s", in, got, want)
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
		if got := code(in); got != want {
			t.Errorf("code(%q) = %s, want %s", in, got, want)
		}
	}
	if got := cell(code(`a|b\|c`)); got != "`a\\|b\\¦c`" {
		t.Errorf("cell: %s", got)
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	got := fence("text", "a\n```\nb````c\n")
	if got != "`````text\na\n```\nb````c\n`````" {
		t.Errorf("fence: %s", got)
	}
}

func TestCutKeepsRunes(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("한글", 50)
	for n := range 120 {
		for _, c := range []string{cut(s, n), cutMiddle(s, n)} {
			if !utf8.ValidString(c) || len(c) > max(n, len("…")) {
				t.Fatalf("%d: %d bytes, %q", n, len(c), c)
			}
		}
	}
}

func TestOptionsTrustNoAddress(t *testing.T) {
	t.Parallel()
	o := Options{}
	sha := strings.Repeat("a", 40)
	for _, file := range []string{"../../x", "/etc/passwd", "a/../b", "", "https://e.vil/x", "a\nb", `a\b`, "./a"} {
		if u := o.blob("acme/shop", sha, file, 1); u != "" {
			t.Errorf("blob(%q) = %s", file, u)
		}
	}
	if u := o.blob("acme/shop", sha, "a dir/(x)#?.go", 3); u != "https://github.com/acme/shop/blob/"+sha+"/a%20dir/%28x%29%23%3F.go#L3" {
		t.Errorf("blob: %s", u)
	}
	for _, u := range []string{"https://e.vil/x", "javascript:alert(1)", "https://github.com.e.vil/x", "https://a@github.com/x", "https://github.com/x)y", "//github.com/x"} {
		if got := o.address(u); got != "" {
			t.Errorf("address(%q) = %q", u, got)
		}
	}
	for in, want := range map[string]string{"@octocat": "@octocat", "octocat": "", "@a b @c": "@a @c", "@x](y)": "", "@acme/team": "@acme/team", "@copilot[bot]": "@copilot[bot]"} {
		if got := (Options{Mention: in}).mention(); got != want {
			t.Errorf("mention(%q) = %q, want %q", in, got, want)
		}
	}
}
