package redact

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// shapes are tokens that their shape alone tells, beside those of the providers: kinds whose rule
// there is narrower than what logs show, and kinds that it lacks.
var shapes = []rule{
	// Classic tokens are 36 letters and digits. Tokens of installations are the App's number and a
	// JSON web token behind the prefix, with underscores and dots.
	{id: "github", keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		re:   lazyregexp.New(`gh[opusr]_(?:[A-Za-z0-9]{16,}[A-Za-z0-9_.-]*|\d+_[A-Za-z0-9_.-]{16,}|eyJ[A-Za-z0-9_.-]{16,})`),
		keep: withoutDigit},
	{id: "github-fine-grained", keywords: []string{"github_pat_"}, re: lazyregexp.New(`github_pat_[A-Za-z0-9_.-]{16,}`)},
	{id: "jwt", keywords: []string{"eyJ"}, re: lazyregexp.New(`eyJ[A-Za-z0-9_-]{8,}={0,2}\.(?:[A-Za-z0-9_-]{8,}|\.)[A-Za-z0-9_.=-]*`)},
	// The first bytes of private keys in base64: RSA, EC and Ed25519 in PKCS#1 and PKCS#8, OpenSSH and
	// PGP. Certificates and public keys begin otherwise.
	{id: "key-start", keywords: []string{"MII", "MIG", "MHcCAQEE", "MHQCAQEE", "MC4CAQAw", "b3BlbnNzaC1rZXktdjE", "lQOYBF", "lQVYBF", "lQdGBF", "lQcYBF", "lQPGBF", "lFgEX", "lFgEY", "lFgEZ", "lIYEX", "lIYEY", "lIYEZ"},
		re: lazyregexp.New(`(?:MII[A-Za-z0-9+/]{3}IBAAK[BC]|MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC|MII[A-Za-z0-9+/]{3}BOBgkqhkiG9w0BBQ0w|MIG[A-Za-z0-9+/]AgE[AB]|MH[cQ]CAQEE|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE|lQ[OVdcP][A-Za-z0-9+/]BF|lFgE[XYZ]|lIYE[XYZ])[A-Za-z0-9+/]{12,}={0,2}`)},
	// A base64 text of a JSON web token: "ZXlK" is "eyJ".
	{id: "jwt-base64", keywords: []string{"ZXlK"}, re: lazyregexp.New(`\bZXlK[A-Za-z0-9+/_-]{60,}={0,2}`)},
	{id: "aws-key-id", keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA", "A3T"}, re: lazyregexp.New(`(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`)},
	{id: "aws-key-pair", keywords: []string{"AKIA***", "ASIA***"}, group: 1,
		re: lazyregexp.New(`(?:AKIA|ASIA)\*\*\*["']?[\s,:;|]+["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`)},
	{id: "openai", keywords: []string{"sk-"}, re: lazyregexp.New(`\bsk-(?:proj-|ant-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{24,}`), keep: withoutDigit},
	{id: "stripe", keywords: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"}, re: lazyregexp.New(`(?:[sr]k_(?:live|test|prod)|whsec)_[A-Za-z0-9+/=]{10,}`), keep: withoutDigit},
	{id: "slack", keywords: []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-", "xoxe."},
		re: lazyregexp.New(`(?:xox[a-es-z]|xox[opr]|xapp)[.-][A-Za-z0-9%./+-]{10,}`)},
	{id: "slack-webhook", keywords: []string{"hooks.slack.com/"}, group: 1, re: lazyregexp.New(`hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/([A-Za-z0-9+/\\]{20,})`)},
	{id: "teams-webhook", keywords: []string{"/webhookb2/"}, group: 1, re: lazyregexp.New(`/webhookb2/([A-Za-z0-9@/-]{20,})`)},
	{id: "discord-webhook", keywords: []string{"api/webhooks/"}, group: 1, re: lazyregexp.New(`/api/webhooks/\d+/([A-Za-z0-9_-]{20,})`)},
	{id: "discord-bot", keywords: []string{"discord"}, fold: true, group: 1, re: lazyregexp.New(`\b([MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,})`)},
	{id: "telegram", keywords: []string{":AA"}, group: 1, re: lazyregexp.New(`\b\d{8,10}:(AA[\w-]{32,})`)},
	{id: "npm", keywords: []string{"npm_"}, re: lazyregexp.New(`npm_[A-Za-z0-9]{30,}`), keep: withoutDigit},
	{id: "pypi", keywords: []string{"pypi-AgE"}, re: lazyregexp.New(`pypi-AgE[A-Za-z0-9_-]{40,}`)},
	{id: "docker", keywords: []string{"dckr_pat_", "dckr_oat_"}, re: lazyregexp.New(`dckr_[po]at_[A-Za-z0-9_-]{16,}`)},
	{id: "gitlab", keywords: []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "gloas-", "glsoat-", "glft-", "glimt-", "glagent-", "glffct-"},
		re: lazyregexp.New(`gl(?:pat|dt|rt|cbt|ptt|oas|soat|ft|imt|agent|ffct)-[A-Za-z0-9_.-]{20,}`), keep: withoutDigit},
	{id: "atlassian", keywords: []string{"ATATT3", "ATBB", "ATCTT3"}, re: lazyregexp.New(`(?:ATATT3|ATCTT3)[A-Za-z0-9_=-]{40,}|\bATBB[A-Za-z0-9]{28,}`)},
	{id: "google-oauth", keywords: []string{"ya29.", "GOCSPX-"}, re: lazyregexp.New(`ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}`)},
	{id: "google-key", keywords: []string{"AIza"}, re: lazyregexp.New(`AIza[A-Za-z0-9_-]{35,}`)},
	{id: "azure-ad", keywords: []string{"0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"}, re: lazyregexp.New(`[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,}`)},
	{id: "twilio", keywords: []string{"SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"}, re: lazyregexp.New(`\bSK[0-9a-f]{32}\b`)},
	{id: "sendgrid", keywords: []string{"SG."}, re: lazyregexp.New(`SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}`)},
	{id: "mailgun", keywords: []string{"key-"}, group: 1, re: lazyregexp.New(`\bkey-([0-9a-f]{32})\b`)},
	{id: "mailchimp", keywords: []string{"-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"}, re: lazyregexp.New(`\b[0-9a-f]{32}-us\d{1,2}\b`)},
	{id: "vault", keywords: []string{"hvs.", "hvb.", "hvr."}, re: lazyregexp.New(`hv[sbr]\.[A-Za-z0-9_-]{20,}`)},
	{id: "hugging-face", keywords: []string{"hf_"}, re: lazyregexp.New(`\bhf_[A-Za-z0-9]{30,}`)},
	{id: "square", keywords: []string{"sq0atp-", "sq0csp-"}, re: lazyregexp.New(`sq0(?:atp|csp)-[\w-]{22,}`)},
	{id: "sonar", keywords: []string{"sqp_", "squ_", "sqa_"}, re: lazyregexp.New(`\bsq[pua]_[a-f0-9]{40}\b`)},
	{id: "new-relic", keywords: []string{"NRAK-", "NRJS-", "NRII-", "NRRA-"}, re: lazyregexp.New(`NR(?:AK|JS|II|RA)-[A-Za-z0-9-]{16,}`)},
	{id: "sourcegraph", keywords: []string{"sgp_"}, re: lazyregexp.New(`\bsgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}`)},
	{id: "crates.io", keywords: []string{"cio"}, re: lazyregexp.New(`\bcio[A-Za-z0-9]{32}\b`), keep: withoutDigit},
	{id: "nuget", keywords: []string{"oy2"}, re: lazyregexp.New(`\boy2[a-z0-9]{43}\b`)},
	{id: "airtable", keywords: []string{"airtable"}, fold: true, re: lazyregexp.New(`\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}`)},
	{id: "harness", keywords: []string{"pat.", "sat."}, re: lazyregexp.New(`\b[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`)},
	{id: "age", keywords: []string{"AGE-SECRET-KEY-1"}, re: lazyregexp.New(`AGE-SECRET-KEY-1[A-Z0-9]{20,}`)},
	{id: "others", keywords: []string{"gsk_", "xai-", "r8_", "sbp_", "figd_", "nfp_", "tskey-", "pcsk_", "CFPAT-", "dnkey-", "tfp_", "bkua_", "CCIPAT_", "rnd_", "dp.st.", "dp.ct.", "lsv2_", "phc_", "phx_"},
		re:   lazyregexp.New(`\b(?:gsk_|xai-|r8_|sbp_|figd_|nfp_|tskey-(?:auth|api|client)-|pcsk_|CFPAT-|dnkey-|tfp_|bkua_|CCIPAT_|rnd_|dp\.(?:st|ct)\.|lsv2_(?:pt|sk)_|ph[cx]_)[A-Za-z0-9_.-]{20,}`),
		keep: withoutDigit},
}

// withoutDigit reports that v has no digit: it is a name in a program. Of 16 random letters and
// digits one in eighteen has none, of 36 one in seven hundred; those are masked for their length.
func withoutDigit(_ byte, v string) bool {
	return !strings.ContainsAny(v, "0123456789") && (len(v) < 40 || strings.Count(v, "_")+strings.Count(v, "-") > 2)
}
