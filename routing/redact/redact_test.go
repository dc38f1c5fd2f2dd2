package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
)

// secretValue is put together here so that no scanner takes it for a real one.
func secretValue(parts ...string) string { return strings.Join(parts, "") }

func TestText(t *testing.T) {
	a36 := strings.Repeat("aB3", 12)
	for name, c := range map[string]struct{ text, hidden string }{
		"github":       {"token " + secretValue("ghp", "_", a36) + " used", a36},
		"github fine":  {secretValue("github", "_pat_", a36), a36},
		"github app":   {"remote: https://x-access-token:" + secretValue("ghs", "_", a36) + "@github.com/a/b", a36},
		"aws":          {"id " + secretValue("AKIA", "IOSFODNN7EXAMPLE"), "IOSFODNN7"},
		"aws key":      {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzz", "wJalrXU"},
		"jwt":          {secretValue("eyJ", "hbGciOiJIUzI1NiJ9", ".eyJ", "zdWIiOiIxMjM0In0", ".SflKxwRJSMeKKF2QT4"), "SflKxw"},
		"slack":        {secretValue("xoxb", "-123456789012-abcdefABCDEF"), "123456789012"},
		"npm":          {secretValue("npm", "_", a36), a36},
		"bearer":       {"Authorization: Bearer abcDEF123456789xyz", "abcDEF123456789xyz"},
		"basic":        {"authorization: basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpw"},
		"url":          {"postgres://user:hunter2pass@db:5432/x", "hunter2pass"},
		"password":     {`password: "s3cr3tP4ss"`, "s3cr3tP4ss"},
		"api key":      {"api_key=0123456789abcdef0123", "0123456789abcdef"},
		"json":         {`{"client_secret": "Zx81aa9dkE0qq"}`, "Zx81aa9dkE0qq"},
		"private key":  {"x\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\ny", "MIIEow"},
		"cut-off key":  {"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "b3Blbn"},
		"env export":   {"export NPM_TOKEN=a81b2c3d4e5f6071", "a81b2c3d"},
		"second in it": {"password=Abcd1234xyz token=Efgh5678uvw", "Efgh5678uvw"},
	} {
		got := Text(c.text)
		if strings.Contains(got, c.hidden) || !strings.Contains(got, Mask) {
			t.Errorf("%s: %q", name, got)
		}
		if again := Text(got); again != got {
			t.Errorf("%s: not stable: %q, then %q", name, got, again)
		}
	}
}

func TestTextKeepsCode(t *testing.T) {
	for _, s := range []string{
		"if token == nil { return errNoToken }",
		"password: string",
		"password: Optional[str] = None",
		"token := tokens.Next()",
		"secret = os.environ['SECRET']",
		"expected token: IDENTIFIER, got token: EOF",
		"AWS_SECRET_ACCESS_KEY: ***",
		"token=${GITHUB_TOKEN}",
		"password=<password>",
		"api_key: ${{ secrets.API_KEY }}",
		"https://github.com/a/b/pull/12#issuecomment-3",
		"SyntaxError: Unexpected token < in JSON at position 0",
		"self.assertEqual(token, expected_token)",
		"error: unexpected token `;`",
		"basic authentication is required",
		"bearer of bad news",
		"the access_token: access_token_provider",
	} {
		if got := Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// FuzzText masks any text: it stays valid, is masked completely the first time, and shows neither a
// token nor a value that the process holds, in any encoding.
func FuzzText(f *testing.F) {
	f.Add("password=Abcd1234xyz", "hunter2hunter2", uint8(0))
	f.Add("-----BEGIN PRIVATE KEY-----\nx", "a+b/c=d&e f%g", uint8(7))
	f.Add("https://u:p@h/ Bearer aaaaaaaaaaaaaaaa", "line one of it\nline two of it", uint8(9))
	f.Add("Cookie: a=b; c=dddddddd\nmachine x login y password z", "\\n\\n\\nabcd", uint8(3))
	f.Add(`{\"token\":\"`, "secret=***-***", uint8(200))
	f.Fuzz(func(t *testing.T, s, value string, n uint8) {
		got := Text(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("cut a rune of %q: %q", s, got)
		}
		if len(got) > len(s)+3*strings.Count(got, Mask)+3 {
			t.Errorf("grew: %q, %q", s, got)
		}
		if again := Text(got); again != got {
			t.Errorf("%q became %q, then %q", s, got, again)
		}
		const secret = "ghp_" + "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"
		if strings.Contains(Text(s+" "+secret+" "), secret) {
			t.Errorf("a token behind %q is shown", s)
		}
		value = strings.TrimSpace(value)
		if !utf8.ValidString(value) || !tellable(value) || strings.Contains(value, "*") || strings.ContainsAny(value, "\r\n\\") {
			return
		}
		r := New(value)
		for name, text := range encodings(s, value, s[:min(len(s), int(n))]) {
			got := r.Text(text)
			if f := survives(got, value); f != "" {
				t.Errorf("%q as %s: %q became %q, which shows %q", value, name, text, got, f)
			}
			if again := r.Text(got); again != got {
				t.Errorf("%q became %q, then %q", text, got, again)
			}
		}
	})
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GET https://x:y@storage.example/logs?sig=abc#part (403)": "GET https://redacted@storage.example/logs?redacted (403)",
		"Bad credentials: Bearer abcdefghijklmnop":                "Bad credentials: Bearer ***",
		secretValue("ghs", "_", "short1234") + " expired":         "ghs_*** expired",
		"token=abcdefghijklmnop":                                  "token=***",
		"see http://%zz":                                          "see [address]",
		"Not Found":                                               "Not Found",
	} {
		if got := Message(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestVerdictLeavesItsArgument(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"
	v := routing.Verdict{
		Failures: []routing.Failure{{Excerpt: &routing.Excerpt{Lines: strings.Split("a\n"+key+"\nb", "\n")}}},
		Review:   &routing.ReviewResult{Feedback: "password=Abcd1234xyz"},
	}
	got := Verdict(v)
	if l := got.Failures[0].Excerpt.Lines; strings.Join(l, "|") != "a|***|b" {
		t.Errorf("a key on several lines of an excerpt is %q", l)
	}
	if got.Review.Feedback != "password=***" {
		t.Errorf("a review says %q", got.Review.Feedback)
	}
	if v.Failures[0].Excerpt.Lines[2] != "MIIEow" || v.Review.Feedback != "password=Abcd1234xyz" {
		t.Error("Verdict changed what it was given")
	}
}
