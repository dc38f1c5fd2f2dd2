package diagnosis

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// secretValue is put together here so that no scanner takes it for a real one.
func secretValue(parts ...string) string { return strings.Join(parts, "") }

func TestRedact(t *testing.T) {
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
		got := Redact(c.text)
		if strings.Contains(got, c.hidden) || !strings.Contains(got, masked) {
			t.Errorf("%s: %q", name, got)
		}
		if again := Redact(got); again != got {
			t.Errorf("%s: not stable: %q, then %q", name, got, again)
		}
	}
}

func TestRedactKeepsCode(t *testing.T) {
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
		if got := Redact(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("password=Abcd1234xyz")
	f.Add("-----BEGIN PRIVATE KEY-----\nx")
	f.Add("https://u:p@h/ Bearer aaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, s string) {
		got := Redact(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("cut a rune of %q: %q", s, got)
		}
		if len(got) > len(s)+3*strings.Count(got, masked)+3 {
			t.Errorf("grew: %q, %q", s, got)
		}
		const secret = "ghp_" + "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"
		if strings.Contains(Redact(s+" "+secret+" "), secret) {
			t.Errorf("a token behind %q is shown", s)
		}
	})
}
