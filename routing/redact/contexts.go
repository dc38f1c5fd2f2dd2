package redact

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// contexts are values that only what stands before them tells to be secret.
var contexts = []rule{
	{id: "address", keywords: []string{"://", `:\/\/`}, needs: "@", group: 1, keep: placeholder,
		re: lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2}[^\s/:@"'<>\\]*:([^\s/"'<>]+)@`)},
	{id: "address-token", keywords: []string{"://", `:\/\/`}, needs: "@", group: 1,
		re: lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2}([A-Za-z0-9_-]{20,})@`)},
	{id: "go-mysql", keywords: []string{"@tcp(", "@unix("}, group: 1, keep: placeholder, re: lazyregexp.New(`[\w.-]+:([^\s/"'<>]+)@(?:tcp|unix)\(`)},
	{id: "query", keywords: []string{"token=", "key=", "sig=", "signature=", "code=", "secret=", "password=", "passwd=", "pwd=", "pass=", "auth=", "credential=", "sas="}, fold: true, re: query, group: 1, keep: code},
	{id: "authorization", keywords: []string{"authorization"}, fold: true, group: 1, keep: code,
		re: lazyregexp.New(`(?i)authorization\\*["']?\s*[:=]\s*[\["'\\]*(?:[\w-]+\s+)?([^\s"'\\\],]{6,})`)},
	{id: "scheme", keywords: []string{"bearer ", "basic ", "token "}, fold: true, group: 1, keep: looksLikeWord,
		re: lazyregexp.New(`(?i)\b(?:bearer|basic|authorization\\*["']?\s*[:=]\s*["'\\]*token)\s+([A-Za-z0-9+/=._~-]{12,})`)},
	{id: "cookie", keywords: []string{"cookie"}, fold: true, syntax: cookieSyntax},
	{id: "curl-user", keywords: []string{"curl", "--user"}, group: 1, keep: placeholder,
		re: lazyregexp.New(`(?:\bcurl\b.*\s-u|--(?:proxy-)?user)[\s=]*["']?[^\s:"'=]+:([^\s"']+)`)},
	{id: "login", keywords: []string{"docker login", "mysql", "sshpass", "redis-cli", "podman login", "helm registry login"}, group: 1, keep: placeholder,
		re: lazyregexp.New(`(?:(?:docker|podman|registry) login\b.*\s-p|\bmysql(?:dump|admin)?\b.*\s-p|\bsshpass\s+-p|\bredis-cli\b.*\s-a)[ =]?["']?([^\s"'-][^\s"']{3,})`)},
	{id: "add-mask", keywords: []string{"::add-mask::"}, group: 1, re: lazyregexp.New(`::add-mask::(.*\S)`)},
	{id: "element", keywords: []string{"password>", "token>", "secret>", "apikey>", "passphrase>", "privatekey>"}, fold: true, group: 1, keep: placeholder,
		re: lazyregexp.New(`(?i)<[\w.:-]*(?:password|token|secret|apikey|passphrase|privatekey)>\s*([^<>\s][^<>]{3,}?)\s*</`)},
	{id: "nuget-config", keywords: []string{"password\" value", "apikey\" value"}, fold: true, group: 1, keep: placeholder,
		re: lazyregexp.New(`(?i)(?:password|apikey)"\s+value="([^"]{4,})"`)},
	{id: "docker-config", keywords: []string{`auth"`, `auth\"`}, group: 1, re: lazyregexp.New(`\bauth\\*"\s*:\s*\\*"([A-Za-z0-9+/=_-]{8,})`)},
	{id: "npmrc", keywords: []string{"_auth"}, group: 1, keep: placeholder, re: lazyregexp.New(`_auth\s*=\s*["']?([^\s"']{6,})`)},
	{id: "flag", keywords: nameWords, fold: true, re: flag, group: 1, keep: code},
	{id: "assignment", keywords: nameWords, fold: true, syntax: assignmentSyntax},
}

// nameWords are what the name of a secret value has in it.
var nameWords = []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey", "access-key", "private_key", "private-key", "privatekey",
	"credential", "pwd", "passphrase", "auth_key", "auth-key", "authkey", "client_key", "clientkey", "client-key", "accountkey", "account_key", "encryption_key", "signing_key",
	"account-key", "signing-key", "encryption-key", "webhook_url", "_dsn", "_pass", "license_key", "master_key", "deploy_key", "ssh_key"}

// query are parameters of an address that carry a credential.
var query = lazyregexp.New(`(?i)[?&;](?:access_token|refresh_token|id_token|auth_token|token|api_?key|key|sig|signature|code|client_secret|secret|password|passwd|pwd|pass|auth|X-Amz-Signature|X-Amz-Security-Token|X-Amz-Credential|X-Goog-Signature|X-Goog-Credential|sas)=([^&\s"'<>` + "`" + `#;\\]{6,})`)

var cookieHeader = lazyregexp.New(`(?i)\b(?:set-)?cookie\\*["']?\s*[:=]\s*\[?\s*\\*["']?(?:[\w.-]+=[^;\s"'\\]*;?\s*)+|--cookie[ =]["']?[\w.-]+=[^\s"']+`)

var cookiePair = lazyregexp.New(`([\w.-]+)=([^;\s"'\\]{6,})`)

// cookies masks the values of cookies, and leaves their names and attributes.
func cookies(line string) string {
	return cookieHeader.ReplaceAllStringFunc(line, func(header string) string {
		return cookiePair.ReplaceAllStringFunc(header, func(pair string) string {
			name, value, _ := strings.Cut(pair, "=")
			switch strings.ToLower(name) {
			case "path", "domain", "expires", "max-age", "samesite", "cookie", "set-cookie":
				return pair
			}
			if masked(value) {
				return pair
			}
			return name + "=" + Mask
		})
	})
}

// login is an entry of a netrc file, which may stand on several lines.
var login = lazyregexp.New(`\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(\S+)`)

func logins(s string) string {
	if !strings.Contains(s, "login") || !strings.Contains(s, "password") {
		return s
	}
	return (&rule{re: login, group: 1}).mask(s)
}

// flag is a flag of a command line with its value behind a blank.
var flag = lazyregexp.New(`(?i)(?:^|[\s"'\[,])--?[\w-]*?(?:password|passwd|passphrase|token|secret|api-?key|access-?key|private-?key|credentials?)["']?,?\s+["']?([^\s"'\]-][^\s"'\]]{5,})`)

// looksLikeWord reports whether v is prose, as what follows "basic" often is.
func looksLikeWord(_ byte, v string) bool {
	for i := 0; i < len(v); i++ {
		c := v[i]
		if !(c >= 'a' && c <= 'z' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

var placeholderRE = lazyregexp.New(`(?i)^(?:\*+|x+|\.+|-+|<.*|\$.*|%[a-z_]*%?|%\(.*|\{.*|\[.*|process\.env.*|os\.(?:environ|getenv).*|env\..*|secrets\..*|null|none|nil|true|false|undefined|redacted|masked|changeme|change-me|example[\w.-]*|your[-_].*|password\d*|passwd|secret|string|optional|required|placeholder|dummy[\w.-]*|token)$`)

func placeholder(_ byte, v string) bool { return placeholderRE.MatchString(v) }

// code distinguishes code from values: a type, a call, an identifier or path is code.
func code(before byte, v string) bool {
	v = strings.TrimRight(v, ".:;)")
	return placeholder(before, v) || identifier.MatchString(v)
}

// identifier is a name in a program, with dots, or a number or path: random text has digits between
// its letters.
var identifier = lazyregexp.New(`^[A-Za-z_$*&!][A-Za-z_]*\d{0,3}(?:(?:\.|::|->)[A-Za-z_][A-Za-z_]*\d{0,3})*$|^[=!]=?$|^\d{1,7}$|^\.{0,2}/[\w./-]+$`)
