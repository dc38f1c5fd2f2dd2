package redact

import (
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestS6_5_OrdinaryText is S6-5: what only resembles a secret stays.
func TestS6_5_OrdinaryText(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(3, 3))}
	sum := sha512.Sum512([]byte("x"))
	image := make([]byte, 600)
	for i := range image {
		image[i] = byte(g.IntN(256))
	}
	png := base64.StdEncoding.EncodeToString(image)
	certificate := "-----BEGIN CERTIFICATE-----\n" + g.body(4, 64) + "-----END CERTIFICATE-----"
	for _, s := range []string{
		"HEAD is now at " + g.hex(40) + " Fix the token parser",
		"sha256:" + g.hex(64), g.hex(64) + "  dist/app.tar.gz", g.hex(64) + "\n" + g.hex(64) + "\n" + g.hex(64),
		"id " + g.hex(8) + "-" + g.hex(4) + "-" + g.hex(4) + "-" + g.hex(4) + "-" + g.hex(12),
		`"integrity": "sha512-` + base64.StdEncoding.EncodeToString(sum[:]) + `"`,
		"github.com/a/b v1.2.3 h1:" + g.b64(43) + "=", "github.com/a/b v1.2.3/go.mod h1:" + g.b64(43) + "=",
		"checksum = \"" + g.hex(64) + "\"", "      --hash=sha256:" + g.hex(64),
		"![x](data:image/png;base64," + png + ")", wrap(png, 76, "\n"), certificate,
		"//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(`{"version":3,"sources":["a.ts"],"mappings":"AAAA"}`)),
		"docker.io/library/node@sha256:" + g.hex(64),
		"TestToken/valid_token=true", "test_password_reset::TestToken::test_expired[secret-name]", "com.acme.SecretTokenProviderTest.issuesToken(AuthTest.java:12)",
		"AssertionError: expected token to be undefined", "TypeError: Cannot read properties of undefined (reading 'password')",
		"System, Version=9.0.0.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a",
		"key: Linux-build-cache-pypi-modules-" + g.hex(64), "'PWD': '/builds/worker/workspace'", "SSH_AUTH_SOCK: /tmp/ssh-1234/agent.1",
		"weighs_per_unit_of_mass_total", "https://github.com/a/b/actions/runs/123456789/job/987654321?pr=12", "http://localhost:8080/@vite/client",
		"max_tokens: 4096", "token_count=128000", "git@github.com:acme/app.git", "mailto:bot@example.com", "password: string | undefined",
		"https://www.npmjs.com/package/@scope/name", "cookie: SameSite", "expected Set-Cookie header to be present", "the basic functionality works",
	} {
		if got := Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

var digest = regexp.MustCompile(`\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b`)

// named are assignments of hexadecimal secrets in recorded output, which are masked rightly.
var named = regexp.MustCompile(`(?i)(?:secret|token|password|[_-]key)[\w-]*["']?\s*[:=]|://[0-9a-f]+@`)

// TestS6_5_RecordedOutput is S6-5: in the recorded output of real tools no test's name and no hash
// is masked.
func TestS6_5_RecordedOutput(t *testing.T) {
	t.Parallel()
	files, tests, hashes := 0, 0, 0
	for _, root := range []string{filepath.Join("..", "testreport", "testdata"), filepath.Join("..", "..", "..", "shared", "fixtures")} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil || len(data) > 4<<20 {
				return nil
			}
			files++
			for _, name := range namesIn(data) {
				tests++
				if got := Text(name); got != name {
					t.Errorf("%s: the test %q became %q", path, name, got)
				}
			}
			for line := range strings.Lines(string(data)) {
				n := len(digest.FindAllString(line, -1))
				if n == 0 {
					continue
				}
				hashes += n
				if got := Text(line); len(digest.FindAllString(got, -1)) != n && !named.MatchString(line) {
					t.Errorf("%s: a hash of %q is masked: %q", path, line, got)
				}
			}
			return nil
		})
	}
	if files < 200 || tests < 1000 || hashes < 20 {
		t.Errorf("only %d files, %d tests and %d hashes were compared", files, tests, hashes)
	}
}

// namesIn returns the names of the tests in the output of a tool.
func namesIn(data []byte) (names []string) {
	c := testreport.NewCollector(testreport.Limits{})
	c.OnTest = func(x *testreport.Test) { names = append(names, x.Name, fmt.Sprint(x.Suite), x.File) }
	_, _ = testreport.Read(strings.NewReader(string(data)), testreport.Options{}, c)
	return names
}
