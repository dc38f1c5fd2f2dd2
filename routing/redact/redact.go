// Package redact masks secrets: in texts that come from a run, in a whole verdict, and in error
// messages. It is the only place that says what a secret looks like.
package redact

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/internal/lazyregexp"
)

// Mask stands for a secret.
const Mask = "***"

// A secret is a kind of text that must not be shown. group is the part that is masked.
type secret struct {
	gates []string // lower case; one must occur in the text
	re    *lazyregexp.Regexp
	group int
	keep  func(before byte, v string) bool // reports a match that is not a secret
}

var secrets = []secret{
	{gates: []string{"-----begin"}, re: lazyregexp.New(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{gates: []string{"gh", "github_pat_"}, re: lazyregexp.New(`\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255})`)},
	{gates: []string{"glpat-"}, re: lazyregexp.New(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{gates: []string{"akia", "asia"}, re: lazyregexp.New(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{gates: []string{"eyj"}, re: lazyregexp.New(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{gates: []string{"xox", "hooks.slack.com"}, re: lazyregexp.New(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}`)},
	{gates: []string{"npm_"}, re: lazyregexp.New(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{gates: []string{"pypi-"}, re: lazyregexp.New(`\bpypi-[A-Za-z0-9_-]{40,}`)},
	{gates: []string{"sk-", "sk_live_", "rk_live_"}, re: lazyregexp.New(`\b(?:sk-(?:proj-|ant-)?[A-Za-z0-9_-]{24,}|[sr]k_live_[A-Za-z0-9]{16,})`)},
	{gates: []string{"aiza"}, re: lazyregexp.New(`\bAIza[A-Za-z0-9_-]{35}\b`)},
	{gates: []string{"bearer ", "basic ", "token "}, re: lazyregexp.New(`(?i)\b(?:bearer|authorization: ?(?:basic|token)|["']?authorization["']?\s*[:=]\s*["']?(?:basic|token)|basic)\s+([A-Za-z0-9+/=._~-]{12,})`), group: 1, keep: looksLikeWord},
	{gates: []string{"://"}, re: lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:([^\s/@"'<>]+)@`), group: 1, keep: placeholderValue},
	{gates: []string{"://"}, re: lazyregexp.New(`https?://([A-Za-z0-9_-]{20,})@`), group: 1},
	{gates: []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey", "access-key", "private_key", "credential", "pwd", "passphrase", "auth_key", "client_key", "signature"},
		re: lazyregexp.New(`(?i)\b[\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|auth[_-]?key|client[_-]?key|credentials?|pwd)[\w-]*["']?\s*(?:=|:|=>|:=)\s*["']?([^\s"'` + "`" + `,;&<>(){}\[\]|]{8,})`), group: 1, keep: notASecret},
}

// Text masks secrets in s: tokens of known shapes, private keys, JSON web tokens, authorization
// headers, passwords in URLs, and values of names that say they are secret. Code that merely speaks
// of secrets is left alone.
func Text(s string) string {
	low := strings.ToLower(s)
	for i := range secrets {
		x := &secrets[i]
		if !x.gate(low) {
			continue
		}
		if out := x.mask(s); out != s {
			s, low = out, strings.ToLower(out)
		}
	}
	return s
}

func texts(in []string, text func(string) string) []string {
	out := append([]string(nil), in...)
	for i := range out {
		out[i] = text(out[i])
	}
	return out
}

func (x *secret) gate(low string) bool {
	for _, g := range x.gates {
		if strings.Contains(low, g) {
			return true
		}
	}
	return false
}

func (x *secret) mask(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range x.re.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2*x.group], m[2*x.group+1]
		if from < at || x.keep != nil && x.keep(s[max(0, from-1)], s[from:to]) {
			continue
		}
		b.WriteString(s[at:from])
		b.WriteString(Mask)
		at = to
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// looksLikeWord reports whether what follows "Basic" or "Bearer" is prose.
func looksLikeWord(_ byte, v string) bool {
	for i := 0; i < len(v); i++ {
		c := v[i]
		if !(c >= 'a' && c <= 'z' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

var placeholderRE = lazyregexp.New(`(?i)^(?:\*+|x+|\.+|-+|<.*|\$.*|%.*|\{.*|process\.env.*|os\.(?:environ|getenv).*|env\..*|secrets\..*|null|none|nil|true|false|undefined|redacted|masked|changeme|change-me|example.*|your[-_].*|password\d*|passwd|secret|string|optional|required|placeholder|dummy.*|token)$`)

func placeholderValue(_ byte, v string) bool { return placeholderRE.MatchString(v) }

// notASecret distinguishes code from values: a type, a call, an identifier or path is code. Quoted
// text is a value, unless it is a placeholder.
func notASecret(before byte, v string) bool {
	v = strings.TrimRight(v, ".:;)")
	if len(v) < 8 || placeholderValue(before, v) {
		return true
	}
	return before != '"' && before != '\'' && identifier.MatchString(v)
}

// identifier is a name in a program, with dots, or a number or path: random text has digits between
// its letters.
var identifier = lazyregexp.New(`^[A-Za-z_$*&!][A-Za-z_]*\d{0,3}(?:(?:\.|::|->)[A-Za-z_][A-Za-z_]*\d{0,3})*$|^[=!]=?$|^\d{1,7}$|^/[\w./-]+$`)
