// Package redact masks secrets: in texts that come from a run, in a whole verdict, and in error
// messages. It is the only place that says what a secret looks like.
//
// Two things are masked. Text that looks like a secret: tokens of known shapes, private keys,
// credentials in headers and addresses, values of names that say they are secret. And the values
// that the process itself holds, which [Hide] makes known, in every encoding in which they get into
// a log.
package redact

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Mask stands for a secret, or for the part of a token behind the prefix that tells its kind.
const Mask = "***"

// A rule describes one kind of text that must not be shown.
type rule struct {
	id       string   // for people who read the table
	keywords []string // one must occur in the line; three bytes at least
	fold     bool     // keywords match in upper and lower case alike
	needs    string   // occurs in the line as well, if set
	re       *lazyregexp.Regexp
	group    int                              // the part that is masked; a keyword that it begins with stays
	keep     func(before byte, v string) bool // reports a match that is not a secret
	syntax   syntax                           // what is parsed where re alone does not do
}

// A syntax is a kind of text that a regular expression alone does not parse.
type syntax uint8

const (
	cookieSyntax syntax = iota + 1
	assignmentSyntax
)

// rules are applied in this order to each line that has one of their keywords. Values of names come
// last: a token that is masked already keeps its prefix.
var rules = append(append(append([]rule{}, shapes...), providers...), contexts...)

// rounds bounds how often a text is masked again. A mask can end a value where it did not end
// before, so the second round finds what the first one made visible; a third one finds nothing in
// practice.
const rounds = 6

// Text masks secrets in s. It returns s itself if there are none, and masks nothing more when it
// is applied to its own result. Code that merely speaks of secrets is left alone.
func Text(s string) string { return hidden.Load().Text(s) }

// shaped masks what looks like a secret.
func shaped(s string) string {
	if !words().any(s) {
		return keyBodies(s)
	}
	return lines(keyBodies(logins(s)), len(rules))
}

// lines masks each line of s by those of the first n rules whose keywords it has.
func lines(s string, n int) string {
	var b strings.Builder
	var hits ruleSet
	copied := 0
	for from := 0; from < len(s); {
		to := len(s)
		if i := strings.IndexByte(s[from:], '\n'); i >= 0 {
			to = from + i
		}
		line := s[from:to]
		if words().scan(line, &hits) {
			if out := hits.mask(line, n); out != line {
				b.WriteString(s[copied:from])
				b.WriteString(out)
				copied = to
			}
		}
		from = to + 1
	}
	if copied == 0 && b.Len() == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

// mask applies those of the first n rules that are in the set to a line.
func (r *ruleSet) mask(line string, n int) string {
	for i := range rules[:n] {
		if r.has(i) {
			line = rules[i].mask(line)
		}
	}
	return line
}

func (x *rule) mask(s string) string {
	if x.needs != "" && !strings.Contains(s, x.needs) {
		return s
	}
	switch x.syntax {
	case cookieSyntax:
		return cookies(s)
	case assignmentSyntax:
		return assignments(s)
	}
	var b strings.Builder
	at := 0
	for _, m := range x.re.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2*x.group], m[2*x.group+1]
		if from < at || from == to {
			continue
		}
		var before byte
		if from > 0 {
			before = s[from-1]
		}
		if v := s[from:to]; masked(v) || x.keep != nil && x.keep(before, v) {
			continue
		}
		b.WriteString(s[at:from])
		b.WriteString(x.prefix(s[from:to]))
		b.WriteString(Mask)
		at = to
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// prefix returns the longest keyword that v begins with: it tells a reader what was masked.
func (x *rule) prefix(v string) string {
	n := 0
	for _, k := range x.keywords {
		if len(k) > n && len(k) < len(v) && strings.EqualFold(v[:len(k)], k) {
			n = len(k)
		}
	}
	return v[:n]
}

// masked reports whether v is a mask already, with or without a prefix that prefix left.
func masked(v string) bool {
	before, ok := strings.CutSuffix(v, Mask)
	return ok && (strings.Trim(before, "*") == "" || words().isPrefix(before))
}

func texts(in []string, text func(string) string) []string {
	out := append([]string(nil), in...)
	for i := range out {
		out[i] = text(out[i])
	}
	return out
}
