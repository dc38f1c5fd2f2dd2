package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// generator makes secrets when the test runs, so that no scanner takes this file for a leak.
type generator struct{ *rand.Rand }

const (
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digitSet = "0123456789"
	alnums   = lowers + uppers + digitSet
	hexSet   = "0123456789abcdef"
	base64s  = alnums + "+/"
)

// of returns n characters of a set, digits and letters among the first eight of them.
func (g generator) of(set string, n int) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[g.IntN(len(set))]
		}
		s := string(b)
		if n < 8 || !strings.Contains(set, "7") || strings.ContainsAny(s[:8], digitSet) && (set == digitSet || strings.ContainsAny(s, lowers+uppers)) {
			return s
		}
	}
}

func (g generator) alnum(n int) string { return g.of(alnums, n) }
func (g generator) hex(n int) string   { return g.of(hexSet, n) }
func (g generator) b64(n int) string   { return g.of(base64s, n) }

func (g generator) jwt() string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + enc([]byte(`{"sub":"`+g.alnum(20)+`"}`)) + "." + g.alnum(86)
}

// pem returns the lines of a body of base64.
func (g generator) body(lines, width int) string {
	var b strings.Builder
	for range lines {
		b.WriteString(g.b64(width) + "\n")
	}
	return b.String() + g.b64(width/2) + "==\n"
}

// variant is a text with a secret in it.
type variant struct{ name, text, hidden string }

// corpus returns the texts in which a secret has to be masked.
func corpus(g generator) []variant {
	var out []variant
	add := func(name, before, secret, after string) {
		out = append(out, variant{name, before + secret + after, secret})
	}
	prefixed := func(name, prefix, secret string) {
		out = append(out, variant{name, "got " + prefix + secret + " here", secret})
	}

	for _, p := range []string{"ghp", "gho", "ghu", "ghs", "ghr"} {
		prefixed("github "+p, p+"_", g.alnum(36))
	}
	prefixed("github installation with a web token", "ghs_", "12345_"+g.jwt())
	add("github installation in an address", "https://x-access-token:ghs_", "987654_"+g.jwt(), "@github.com/a/b.git")
	add("github behind an escaped line end", `"out\nghp_`, g.alnum(36), `\n"`)
	add("github escaped for an address", "next=https%3A%2F%2Fx%3Aghs_", g.alnum(36), "%40github.com")
	add("github at the end of a sentence", "is ghu_", g.alnum(36), ".")
	add("github cut", "is ghp_", g.alnum(20), "")
	prefixed("github fine-grained", "github"+"_pat_", g.alnum(22)+"_"+g.alnum(59))
	prefixed("jwt", "", g.jwt())
	prefixed("jwt encrypted", "", base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"dir","enc":"A256GCM"}`))+".."+g.alnum(16)+"."+g.alnum(40)+"."+g.alnum(22))
	prefixed("jwt in base64", "", base64.StdEncoding.EncodeToString([]byte(g.jwt())))
	for prefix, secret := range map[string]string{
		"glpat-": g.alnum(20), "gldt-": g.alnum(20), "glrt-": g.alnum(20), "glptt-": g.hex(40), "glcbt-": "1a_" + g.alnum(20), "gloas-": g.alnum(64), "glsoat-": g.alnum(20), "glft-": g.alnum(20),
		"AKIA": g.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16), "ASIA": g.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
		"sk-" + "proj-": g.alnum(48), "sk-" + "ant-api03-": g.alnum(93) + "AA", "sk-" + "svcacct-": g.alnum(74),
		"sk_" + "live_": g.alnum(24), "rk_" + "live_": g.alnum(24), "sk_" + "test_": g.alnum(24), "whsec_": g.alnum(32),
		"xoxb-": g.of(digitSet, 12) + "-" + g.of(digitSet, 12) + "-" + g.alnum(24), "xoxp-": g.of(digitSet, 12) + "-" + g.alnum(32), "xapp-": "1-A" + g.alnum(10) + "-" + g.of(digitSet, 12) + "-" + g.hex(64),
		"npm_": g.alnum(36), "pypi-AgE" + "IcHlwaS5vcmc": g.alnum(70), "dckr_pat_": g.alnum(27),
		"AIza": g.alnum(35), "ya29.": g.alnum(60), "GOCSPX-": g.alnum(28),
		"SK": g.hex(32), "SG.": g.alnum(22) + "." + g.alnum(43), "key-": g.hex(32), "hvs.": g.alnum(90), "hvb.": g.alnum(140), "hf_": g.alnum(34),
		"dop_v1_": g.hex(64), "doo_v1_": g.hex(64), "dor_v1_": g.hex(64), "shpat_": g.hex(32), "shpss_": g.hex(32), "shpca_": g.hex(32), "sq0atp-": g.alnum(22), "sqp_": g.hex(40), "NRAK-": g.alnum(27),
		"dapi": g.hex(32), "lin_api_": g.alnum(40), "glsa_": g.alnum(32) + "_" + g.hex(8), "glc_": g.alnum(60), "rubygems_": g.hex(48), "pul-": g.hex(40), "PMAK-": g.hex(24) + "-" + g.hex(34),
		"sntryu_": g.hex(64), "dp.pt.": g.alnum(43), "ntn_": g.of(digitSet, 11) + g.alnum(35), "pscale_tkn_": g.alnum(43), "pscale_pw_": g.alnum(43), "xkeysib-": g.hex(64) + "-" + g.alnum(16),
		"AGE-SECRET-KEY-1": g.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), "ATATT3": g.alnum(186), "AKCp": g.alnum(69), "EZAK": g.alnum(54), "fio-u-": g.alnum(64), "dt0c01.": g.alnum(24) + "." + g.of(lowers+digitSet, 64),
		"gsk_": g.alnum(52), "tskey-auth-": g.alnum(30), "sbp_": g.hex(40), "figd_": g.alnum(40), "r8_": g.alnum(37), "LTAI": g.alnum(20), "CLOJARS_": g.of(lowers+digitSet, 60), "HRKU-AA": g.alnum(58),
		"FLWSECK_TEST-": g.of("abcdefgh0123456789", 12), "duffel_test_": g.alnum(43), "shippo_live_": g.hex(40), "rdme_": g.of(lowers+digitSet, 70), "pplx-": g.alnum(48), "sha256~": g.alnum(43),
	} {
		prefixed("token "+strings.Trim(prefix, "-_."), prefix, secret)
	}
	prefixed("azure client secret", "", g.alnum(3)+"8Q~"+g.alnum(34))
	prefixed("mailchimp", "", g.hex(32)+"-us14")
	prefixed("telegram", g.of(digitSet, 10)+":", "AA"+g.alnum(33))
	add("discord bot", "discord token M", g.alnum(23)+"."+g.alnum(6)+"."+g.alnum(27), "")
	add("slack webhook", "https://hooks.slack.com/services/", "T"+g.alnum(8)+"/B"+g.alnum(8)+"/"+g.alnum(24), "")
	add("discord webhook", "https://discord.com/api/webhooks/"+g.of(digitSet, 18)+"/", g.alnum(68), "")
	add("teams webhook", "https://acme.webhook.example.com/webhookb2/", g.hex(8)+"-"+g.hex(4)+"@"+g.hex(8)+"/IncomingWebhook/"+g.hex(32), "")

	for _, scheme := range []string{"postgres", "postgresql+psycopg2", "mysql", "mongodb+srv", "redis", "rediss", "amqp", "https", "ftp", "sqlserver", "clickhouse"} {
		add("address "+scheme, "connect "+scheme+"://user:", g.alnum(12), "@db.example.com:5432/app: refused")
	}
	add("address without a user", "redis://:", g.alnum(10), "@cache:6379/0")
	add("address with an at in the password", "postgres://u:", "p@"+g.alnum(8), "@db/x")
	add("address escaped in JSON", `{"url":"https:\/\/u:`, g.alnum(12), `@host\/x"}`)
	add("address with a short password", "postgres://u:", "h7x", "@db/x")
	add("address with a token", "https://", g.hex(32), "@sentry.example.com/4")
	add("jdbc", "jdbc:postgresql://db/app?user=sa&password=", g.alnum(12), "&ssl=true")
	add("jdbc of SQL Server", "jdbc:sqlserver://db:1433;user=sa;password=", g.alnum(12), ";encrypt=true")
	add("ADO.NET", "Server=db;User Id=sa;Password=", g.alnum(12), ";")
	add("libpq", "host=db user=app password=", g.alnum(12), " dbname=x")
	add("Go MySQL", "dial app:", g.alnum(12), "@tcp(db:3306)/app")
	add("azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", g.b64(86)+"==", ";EndpointSuffix=core.windows.net")
	add("azure service bus", "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=", g.b64(43)+"=", "")
	add("azure SAS", "https://x.blob.core.windows.net/c/f?sv=2022-11-02&se=2026-01-01&sig=", g.alnum(40)+"%3D", "&sp=r")

	add("bearer", "Authorization: Bearer ", g.alnum(32), "")
	add("bearer in JSON", `{"authorization": "Bearer `, g.alnum(32), `"}`)
	add("bearer in escaped JSON", `{\"Authorization\":\"Bearer `, g.alnum(32), `\"}`)
	add("bearer in lower case", "authorization: bearer ", g.alnum(20), "")
	add("basic", "Authorization: Basic ", base64.StdEncoding.EncodeToString([]byte("u:"+g.alnum(9))), "")
	add("basic of curl", `curl -H "Authorization: Basic `, base64.StdEncoding.EncodeToString([]byte("user:"+g.alnum(9))), `" https://x`)
	add("token header", "> Authorization: token ", g.hex(40), "")
	add("proxy", "Proxy-Authorization: Basic ", base64.StdEncoding.EncodeToString([]byte("proxy:"+g.alnum(9))), "")
	add("header without a scheme", "authorization: ", g.alnum(32), "")
	add("api key header", "X-Api-Key: ", g.alnum(32), "")
	add("gitlab header", "PRIVATE-TOKEN: ", g.alnum(20), "")
	add("auth token header", "X-Auth-Token: ", g.hex(32), "")
	add("aws session header", "X-Amz-Security-Token: ", g.b64(120), "")
	add("cookie", "Cookie: lang=en; session=", g.alnum(32), "")
	add("set-cookie", "< Set-Cookie: sid=", g.alnum(32), "; Path=/; HttpOnly")
	add("cookie of several", "cookie: a=b; _gitlab_session=", g.hex(32), "; theme=dark")
	add("cookie in JSON", `{"set-cookie":["connect.sid=`, g.alnum(40), `; Path=/"]}`)
	add("cookie of curl", "curl --cookie session=", g.alnum(24), " https://x")

	add("netrc", "machine api.github.com login bot password ", g.alnum(14), "")
	add("netrc over lines", "machine api.github.com\n  login bot\n  password ", g.alnum(14), "\n")
	add("npmrc", "//registry.npmjs.org/:_authToken=", g.hex(8)+"-"+g.hex(4)+"-"+g.hex(4)+"-"+g.hex(4)+"-"+g.hex(12), "")
	add("npmrc basic", "_auth=", base64.StdEncoding.EncodeToString([]byte("u:"+g.alnum(10))), "")
	add("npmrc password", "//npm.example.com/:_password=\"", g.alnum(16), "\"")
	add("docker config", `{"auths":{"ghcr.io":{"auth":"`, base64.StdEncoding.EncodeToString([]byte("u:"+g.alnum(20))), `"}}}`)
	add("docker identity", `{"identitytoken": "`, g.alnum(40), `"}`)
	add("pypirc", "[pypi]\nusername = __token__\npassword = ", g.alnum(30), "")
	add("maven settings", "<server><id>x</id><password>", g.alnum(12), "</password></server>")
	add("nuget config", `<add key="ClearTextPassword" value="`, g.alnum(16), `" />`)
	add("kubeconfig", "    token: ", g.alnum(40), "")
	add("terraform credentials", "  token = \"", g.alnum(14)+".atlasv1."+g.alnum(60), "\"")

	aws := g.b64(40)
	add("aws secret", "AWS_SECRET_ACCESS_KEY=", aws, "")
	add("aws credentials file", "aws_secret_access_key = ", g.b64(40), "")
	add("aws secret in JSON", `{"SecretAccessKey": "`, g.b64(40), `"}`)
	add("aws session", "aws_session_token=", g.b64(200), "")
	add("aws pair", "AKIA"+g.of(uppers+"234567", 16)+" ", g.b64(40), "")
	add("aws signature", "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=", g.hex(64), "")
	add("gcp private key", `"private_key": "-----BEGIN `+`PRIVATE KEY-----\n`, g.b64(64), `\n-----END `+`PRIVATE KEY-----\n"`)
	add("gcp key id", `"private_key_id": "`, g.hex(40), `",`)
	add("google signature", "https://storage.googleapis.com/b/o?X-Goog-Signature=", g.hex(128), "")

	add("JSON", `{"password":"`, g.alnum(10), `"}`)
	add("JSON with blanks", `{ "client_secret" : "`, g.alnum(24), `" }`)
	add("escaped JSON", `"{\"password\":\"`, g.alnum(10), `\"}"`)
	add("JSON escaped twice", `"{\\\"apiKey\\\":\\\"`, g.alnum(20), `\\\"}"`)
	add("JSON with a quote inside", `{"password":"a\"`, g.alnum(10), `"}`)
	add("YAML", "  api_key: ", g.alnum(20), "")
	add("YAML quoted", "  password: '", g.alnum(10)+"!", "'")
	add("TOML", "secret = \"", g.alnum(20), "\"")
	add("properties", "spring.datasource.password=", g.alnum(12), "")
	add(".env", "DB_PASSWORD=", g.alnum(10), "")
	add(".env of letters", "DB_PASSWORD=", "correcthorsebattery", "")
	add(".env with blanks", "SMTP_PASSWORD=\"", "my horse 4 battery", "\"")
	add(".env short", "DB_PASSWORD=", "x7Kq9z", "")
	add("export", "export DEPLOY_TOKEN=", g.alnum(24), "")
	add("export traced", "+ export X_TOKEN=", g.hex(20), "")
	add("PowerShell", "$env:API_TOKEN = \"", g.alnum(24), "\"")
	add("cmd", "set API_SECRET=", g.alnum(24), "")
	add("docker -e", "docker run -e MYSQL_ROOT_PASSWORD=", g.alnum(9), " mysql")
	add("Ruby hash", ":secret_key_base => \"", g.hex(64), "\"")
	add("Go", "Token: \"", g.alnum(20), "\",")
	add("Python", "os.environ['API_TOKEN'] = '", g.alnum(24), "'")
	add("PHP array", "'password' => '", g.alnum(12), "',")
	add("flag with =", "tool --token=", g.alnum(20), " run")
	add("flag with a blank", "tool --password ", g.alnum(12), " run")
	add("flag in a list", `["tool", "--api-key", "`, g.alnum(20), `"]`)
	add("flag of letters", "tool --password=", "correcthorsebattery", "")
	add("curl -u", "curl -s -u admin:", g.alnum(10), " https://x")
	add("curl --user", "curl --user 'admin:", g.alnum(10), "' https://x")
	add("mysql -p", "mysql -u root -p", g.alnum(10), " app")
	add("docker login", "docker login -u bot -p ", g.alnum(20), " ghcr.io")
	add("sshpass", "sshpass -p ", g.alnum(10), " ssh host")
	add("mask command", "::add-mask::", g.alnum(12), "")
	for _, p := range []string{"access_token", "token", "api_key", "key", "client_secret", "code"} {
		add("query "+p, "GET https://x.example.com/cb?state=1&"+p+"=", g.alnum(24), "&x=1")
	}
	add("webhook secret", "webhook_secret: ", g.alnum(24), "")
	add("signing key", "JWT_SIGNING_KEY=", g.alnum(32), "")
	add("encryption key", "encryption_key: \"", g.b64(43)+"=", "\"")

	for _, kind := range []string{"RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ", ""} {
		add("key "+kind, "x\n-----BEGIN "+kind+"PRIVATE KEY-----\n", g.body(3, 64), "-----END "+kind+"PRIVATE KEY-----\ny")
	}
	add("PGP key", "-----BEGIN PGP "+"PRIVATE KEY BLOCK-----\n\n", g.body(3, 64), "-----END PGP "+"PRIVATE KEY BLOCK-----")
	add("PuTTY key", "Private-Lines: 2\n", g.b64(64)+"\n"+g.b64(40), "\nPrivate-MAC: "+g.hex(40))
	add("key without its last line", "-----BEGIN RSA "+"PRIVATE KEY-----\n", g.body(2, 64), "")
	add("key without its first line", "log\n", g.body(3, 64), "-----END RSA "+"PRIVATE KEY-----\nlog")
	add("key without both", "log\n", g.body(4, 64), "log")
	add("OpenSSH key without both", "log\n", g.body(4, 70), "log")
	add("key with times", "2024-01-01T00:00:00.0000000Z ", strings.ReplaceAll(strings.TrimSpace(g.body(3, 64)), "\n", "\n2024-01-01T00:00:00.1000000Z "), "\ndone")
	add("key that is indented", "data: |\n    ", strings.ReplaceAll(strings.TrimSpace(g.body(3, 64)), "\n", "\n    "), "\nend")
	add("RSA body on one line", "key is ", "MIIEowIBAAKCAQEA"+g.b64(300), "")
	add("PKCS#8 body on one line", "key is ", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"+g.b64(300), "")
	add("Ed25519 body", "key is ", "MC4CAQAwBQYDK2VwBCIEI"+g.b64(43), "")
	add("OpenSSH body", "key is ", "b3BlbnNzaC1rZXktdjEA"+g.b64(60), "")
	add("a certificate and then a key", "-----BEGIN CERTIFICATE-----\n"+g.body(2, 64)+"-----END CERTIFICATE-----\n", g.body(3, 64), "end")
	return out
}

// known misses: what has no sign of a secret.
var misses = map[string]string{
	"word behind a flag":         "a word of letters behind --password may as well be the next word of a sentence about the flag",
	"word of letters in YAML":    "a name of letters behind password: may as well be a variable of the program",
	"placeholder as a password":  "what begins with example, dummy or your- is taken for a placeholder",
	"kubernetes secret":          "the data of a Kubernetes Secret are base64 under names of the user's choice",
	"one line of a key's middle": "one line of base64 of a key's width may as well be of an image",
}

func missed(g generator) []variant {
	data := base64.StdEncoding.EncodeToString([]byte(g.alnum(14)))
	line := g.b64(64)
	return []variant{
		{"word behind a flag", "tool --password correcthorse", "correcthorse"},
		{"word of letters in YAML", "password: correcthorse", "correcthorse"},
		{"placeholder as a password", "password: example8Kx0aa", "example8Kx0aa"},
		{"kubernetes secret", "kind: Secret\ndata:\n  database: " + data, data},
		{"one line of a key's middle", "log\n" + line + "\nlog", line},
	}
}

// TestS6_5_Corpus is S6-5: secrets of every kind that logs show.
func TestS6_5_Corpus(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for round := range uint64(20) {
		g := generator{rand.New(rand.NewPCG(round, 5))}
		for _, v := range corpus(g) {
			names[v.name] = true
			got := Text(v.text)
			shows := strings.Contains(got, v.hidden)
			for line := range strings.Lines(v.hidden) { // of a body none
				line = strings.TrimSpace(line)
				shows = shows || len(line) > 20 && strings.Contains(got, line)
			}
			if shows || !strings.Contains(got, Mask) {
				t.Errorf("%s, round %d: %q became %q", v.name, round, v.text, got)
			}
			if again := Text(got); again != got {
				t.Errorf("%s, round %d: %q became %q when it was masked again", v.name, round, got, again)
			}
		}
		for _, v := range missed(g) {
			if misses[v.name] == "" {
				t.Errorf("%s is missed without a reason", v.name)
			}
			if got := Text(v.text); !strings.Contains(got, v.hidden) {
				t.Errorf("%s is not missed any more; move it to the corpus: %q", v.name, got)
			}
		}
	}
	if len(names) < 150 || len(misses) > 5 {
		t.Errorf("%d variants and %d misses; at least 150 and at most 5 are wanted", len(names), len(misses))
	}
}

// TestS6_5_Readable is S6-5: a mask says of what kind the secret was.
func TestS6_5_Readable(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(1, 1))}
	for text, want := range map[string]string{
		"token " + "ghs_" + g.alnum(36) + " expired":            "token ghs_*** expired",
		"token " + "ghs_" + "1234_" + g.jwt() + ".":             "token ghs_***",
		"GITHUB_TOKEN=" + "ghp_" + g.alnum(36):                  "GITHUB_TOKEN=ghp_***",
		"postgres://app:" + g.alnum(10) + "@db:5432/x":          "postgres://app:***@db:5432/x",
		"Cookie: lang=en; session=" + g.alnum(20):               "Cookie: lang=en; session=***",
		`{\"password\":\"` + g.alnum(10) + `\",\"port\":5432}`:  `{\"password\":\"***\",\"port\":5432}`,
		"Authorization: Bearer " + g.alnum(30):                  "Authorization: Bearer ***",
		"x?state=a&access_token=" + g.alnum(20) + "&scope=repo": "x?state=a&access_token=***&scope=repo",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// encodings returns text with value in it in every form that a Redactor knows.
func encodings(before, value, after string) map[string]string {
	all := before + value + after
	quoted, _ := json.Marshal(value)
	return map[string]string{
		"plain":           all,
		"JSON":            before + string(quoted) + after,
		"query":           before + url.QueryEscape(value) + after,
		"path":            before + url.PathEscape(value) + after,
		"hex":             before + hex.EncodeToString([]byte(value)) + after,
		"HEX":             before + strings.ToUpper(hex.EncodeToString([]byte(value))) + after,
		"base64":          base64.StdEncoding.EncodeToString([]byte(all)),
		"base64 raw":      base64.RawStdEncoding.EncodeToString([]byte(all)),
		"base64 url":      base64.URLEncoding.EncodeToString([]byte(all)),
		"base64 raw url":  base64.RawURLEncoding.EncodeToString([]byte(all)),
		"base64 in lines": wrap(base64.StdEncoding.EncodeToString([]byte(all)), 11, "\n"),
		"hex in lines":    wrap(hex.EncodeToString([]byte(all)), 7, "\r\n"),
		"plain in lines":  before + wrap(value, 5, "\n2024-01-01T00:00:00.0000000Z ") + after,
		"escaped lines":   before + wrap(value, 6, `\n`) + after,
	}
}

func wrap(s string, n int, end string) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + end)
		s = s[n:]
	}
	return b.String() + s
}

// survives returns a form of value that text still shows, "" if there is none.
func survives(text, value string) string {
	joined, _ := join(text)
	for _, f := range formsOf(value) {
		if strings.Contains(text, f.text) || strings.Contains(joined, f.text) {
			return f.text
		}
	}
	return ""
}

// TestS6_5_KnownValues is S6-5: the exact values that the process holds are masked in every encoding,
// whatever they look like.
func TestS6_5_KnownValues(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"correct horse", "hunter2hunter2", "a/b+c==&d%e", `quo"te\<s>`, "päßwörter", "twelve-bytes", "thirteen-byte"} {
		r := New(value)
		for before := range 7 {
			for after := range 4 {
				for name, text := range encodings(strings.Repeat("x", before), value, strings.Repeat("y", after)) {
					got := r.Text(text)
					if f := survives(got, value); f != "" || !strings.Contains(got, Mask) {
						t.Errorf("%q as %s after %d bytes: %q became %q, which shows %q", value, name, before, text, got, f)
					}
				}
			}
		}
	}
}

// TestS6_5_PrivateKeyIsKnown is S6-5: of a key that the process holds each line is masked, wherever
// it stands.
func TestS6_5_PrivateKeyIsKnown(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(2, 2))}
	body := g.body(8, 64)
	r := New("-----BEGIN RSA " + "PRIVATE KEY-----\n" + body + "-----END RSA " + "PRIVATE KEY-----\n")
	lines := strings.Fields(body)
	for _, l := range lines {
		if got := r.Text("a " + l + " b"); got != "a *** b" {
			t.Errorf("a line of the key is shown: %q", got)
		}
	}
	if got := r.Text("k=" + strings.Join(lines, "")); got != "k=***" {
		t.Errorf("the key on one line is shown: %q", got)
	}
	if got := r.Text(base64.StdEncoding.EncodeToString([]byte(lines[3]))); !strings.Contains(got, Mask) {
		t.Errorf("a line of the key in base64 is shown: %q", got)
	}
}

// TestS6_5_TrivialValues is S6-5: short and everyday values are not masked where they are known, as
// they say nothing and stand in every text.
func TestS6_5_TrivialValues(t *testing.T) {
	t.Parallel()
	const text = "true admin abc1234 password aaaaaaaaaaaa localhost production"
	if got := New(strings.Fields(text)...).Text(text); got != text {
		t.Errorf("%q became %q", text, got)
	}
	if got := New("abc12345").Text("is abc12345."); got != "is ***." {
		t.Errorf("a value of eight bytes is shown: %q", got)
	}
}

// TestS6_5_Hide is S6-5: a value that the process holds is masked by every function of the package.
func TestS6_5_Hide(t *testing.T) {
	const first, second = "plum jam sandwich", "pear jam sandwich"
	Hide(first)
	t.Cleanup(func() { hidden.Store(nil) })
	if got := Text("a " + first); got != "a ***" {
		t.Errorf("Text shows it: %q", got)
	}
	if got := Message("a " + first); got != "a ***" {
		t.Errorf("Message shows it: %q", got)
	}
	Exchange(first, second)
	if got := Tokens(first + ", " + second); got != first+", ***" {
		t.Errorf("after the exchange: %q", got)
	}
	HideEnvironment([]string{"DEPLOY_TOKEN=plain words here", "HOME=/home/somebody", "SSH_KEY=/home/somebody/key", "X=other words here", "Y=/a/b/c and so on", "SWITCHBACK_SECRET_NAMES=Z,Y", "OLDPWD=/directory", "CACHE_KEY=linux-go-1.26"})
	if got := Tokens("plain words here, /home/somebody/key, other words here /directory linux-go-1.26 /a/b/c and so on"); got != "***, /home/somebody/key, other words here /directory linux-go-1.26 ***" {
		t.Errorf("of the environment: %q", got)
	}
}

// TestS6_5_JSON is S6-5: what leaves the process as JSON stays JSON, and numbers and names stay.
func TestS6_5_JSON(t *testing.T) {
	Hide("20240607", `say "plum" jam`)
	t.Cleanup(func() { hidden.Store(nil) })
	token := "ghs_" + "12_" + (generator{rand.New(rand.NewPCG(4, 4))}).jwt()
	in := `{"run":20240607,"a":"x ` + token + `.\n","b":["say \"plum\" jam <b>","say \\\"plum\\\" jam"],"token":"password=Abcd1234xyz","n":1e3}`
	want := `{"run":20240607,"a":"x ghs_***\n","b":["*** <b>","***"],"token":"password=Abcd1234xyz","n":1e3}`
	if got := string(JSON([]byte(in))); got != want {
		t.Errorf("%s\nbecame %s\n  want %s", in, got, want)
	}
	if got := JSON([]byte(want)); string(got) != want || !json.Valid(got) {
		t.Errorf("%s", got)
	}
	for _, broken := range []string{`{"a`, `"\`, `"a\"`, ``, `"\x"`} {
		if got := string(JSON([]byte(broken))); got != broken {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

// TestS6_5_Writer is S6-5: a log is masked.
func TestS6_5_Writer(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	n, err := Writer(&b).Write([]byte("level=WARN msg=\"password=Abcd1234xyz\"\n"))
	if got := b.String(); n != 38 || err != nil || got != "level=WARN msg=\"password=***\"\n" {
		t.Errorf("%d, %v, %q", n, err, got)
	}
}

// TestS6_5_MasksExactly is S6-5: of a known value nothing is left, and of what stands around it
// nothing is missing.
func TestS6_5_MasksExactly(t *testing.T) {
	t.Parallel()
	const value = "a/b+c==&d<e"
	b64 := base64.StdEncoding.EncodeToString
	for text, want := range map[string]string{
		"is " + b64([]byte(value)) + ".":                                            "is ***=.",
		b64([]byte("xyz" + value)):                                                  "eHl6***=",
		b64([]byte("xyz1" + value)):                                                 "eHl6M***",
		b64([]byte("xyz12" + value)):                                                "eHl6MT***==",
		"one\ntwo a/b+c=\n=&d<e three\nfour":                                        "one\ntwo *** three\nfour",
		"one\r\na/b\r\n+c==\r\n&d<e three\r\nfour":                                  "one\r\n*** three\r\nfour",
		"2024-01-01T00:00:00.1000000Z a/b\n2024-01-01T00:00:01.0000000Z +c==&d<e x": "2024-01-01T00:00:00.1000000Z *** x",
		"u=" + strings.ToLower(url.QueryEscape(value)) + "&v=1":                     "u=***&v=1",
		"u=" + url.QueryEscape(value) + "&v=1":                                      "u=***&v=1",
		"<p>a/b+c==&amp;d&lt;e</p>":                                                 "<p>***</p>",
		"::error::a/b+c==&d<e%0Ax":                                                  "::error::***%0Ax",
		`{"a":"a/b+c==\u0026d\u003ce"}`:                                             `{"a":"***"}`,
		value + value:                                                               Mask,
	} {
		if got := New(value).Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
