package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Redactor masks what looks like a secret, and the values that it knows, whatever they look like:
// plain, escaped for addresses, JSON and HTML, in hexadecimal, and in base64 at any place of a
// longer text, also where line ends were put between. It is immutable.
type Redactor struct {
	values []string
	forms  map[uint32][]form // by their first four bytes
	begins [1 << 16 / 64]uint64
}

// A form is one encoding of a value.
type form struct {
	text string

	// In base64 the characters before and after hold bits of the value and of its neighbour.
	sharedBefore, sharedAfter bool
}

// shortest is the length of the shortest value that is masked because it is known: shorter ones
// occur by chance, and masking them would hide nothing and destroy the text.
const shortest = 8

// trivial are values that configurations hold and texts are full of.
var trivial = map[string]bool{
	"password": true, "passw0rd": true, "changeme": true, "development": true, "production": true, "localhost": true, "127.0.0.1": true,
	"disabled": true, "required": true, "optional": true, "undefined": true, "12345678": true, "123456789": true, "1234567890": true, "postgres": true,
	"username": true, "administrator": true, "anonymous": true, "continue": true, "unlimited": true,
}

// New returns a Redactor that knows values. Values shorter than eight bytes, of fewer than four
// different characters, and everyday words are not masked as values.
func New(values ...string) *Redactor {
	r := &Redactor{forms: map[uint32][]form{}}
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" && !slices.Contains(r.values, v) {
			r.values = append(r.values, v)
		}
	}
	seen := map[string]bool{}
	for _, v := range r.values {
		for _, p := range parts(v) {
			for _, f := range formsOf(p) {
				if !seen[f.text] {
					seen[f.text] = true
					r.add(f)
				}
			}
		}
	}
	for _, fs := range r.forms { // the longest first
		slices.SortStableFunc(fs, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return r
}

func (r *Redactor) add(f form) {
	four := begin(f.text, 0)
	h := hash(four)
	r.begins[h>>6] |= 1 << (h & 63)
	r.forms[four] = append(r.forms[four], f)
}

func begin(s string, i int) uint32 {
	_ = s[i+3]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

func hash(four uint32) uint16 { return uint16(four * 2654435761 >> 16) }

var (
	hidden   atomic.Pointer[Redactor] // what the process holds
	hideOnce sync.Mutex
)

// Hide makes values known to [Text] and everything else in this package, for the rest of the
// process: the credentials that it was given or made.
func Hide(values ...string) { Exchange("", values...) }

// Exchange makes values known in place of old, which has expired.
func Exchange(old string, values ...string) {
	hideOnce.Lock()
	defer hideOnce.Unlock()
	var all []string
	if r := hidden.Load(); r != nil {
		if old == "" && !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(r.values, strings.TrimSpace(v)) }) {
			return
		}
		all = slices.DeleteFunc(slices.Clone(r.values), func(v string) bool { return v == strings.TrimSpace(old) })
	}
	hidden.Store(New(append(all, values...)...))
}

// EnvNames is a variable that names others, separated by commas, whose values are secret whatever
// their names say.
const EnvNames = "SWITCHBACK_SECRET_NAMES"

// HideEnvironment makes the values known of those variables in environ, each NAME=value, whose
// names say that they are secret, unless they are paths of files, and of those that [EnvNames] names.
func HideEnvironment(environ []string) {
	var values, named []string
	for _, e := range environ {
		if names, ok := strings.CutPrefix(e, EnvNames+"="); ok {
			named = strings.Split(names, ",")
		}
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		path := strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1
		if slices.Contains(named, name) || secretName(name) && exactName.MatchString(name) && !path && !strings.HasSuffix(name, "PWD") {
			values = append(values, value)
		}
	}
	if len(values) > 0 {
		Hide(values...)
	}
}

// parts returns what of a value is masked: the value, and the lines of one that has several, such
// as a private key.
func parts(v string) []string {
	if !tellable(v) {
		return nil
	}
	out := []string{v}
	if !strings.Contains(v, "\n") {
		return out
	}
	joined, _ := join(v)
	out = append(out, joined)
	for l := range strings.Lines(v) {
		if l = strings.TrimSpace(l); len(l) >= 16 && !strings.HasPrefix(l, "-----") && tellable(l) {
			out = append(out, l)
		}
	}
	return out
}

// tellable reports whether an occurrence of v in a text tells that it is this value.
func tellable(v string) bool {
	if len(v) < shortest || trivial[strings.ToLower(v)] {
		return false
	}
	different := map[byte]bool{}
	for i := 0; i < len(v); i++ {
		different[v[i]] = true
	}
	return len(different) >= 4
}

// formsOf returns the encodings of v in which it can get into a text.
func formsOf(v string) []form {
	texts := map[string]bool{v: true}
	for _, escaped := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		texts[escaped] = true
		texts[lowerEscapes(escaped)] = true
	}
	texts[html.EscapeString(v)] = true
	texts[strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(v)] = true // workflow commands
	for _, safe := range []bool{true, false} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(safe)
		if e.Encode(v) == nil {
			texts[strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)] = true
		}
	}
	digits := hex.EncodeToString([]byte(v))
	texts[digits], texts[strings.ToUpper(digits)] = true, true
	var out []form
	for _, t := range slices.Sorted(maps.Keys(texts)) {
		out = append(out, form{text: t})
	}
	for before := range 3 {
		out = append(out, inBase64(base64.RawStdEncoding, v, before), inBase64(base64.RawURLEncoding, v, before))
	}
	return out
}

// inBase64 returns the characters that v alone determines in the base64 of a text in which v
// stands after before bytes, modulo three.
func inBase64(e *base64.Encoding, v string, before int) form {
	all := e.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
	bits := 8 * (before + len(v))
	from := (8*before + 5) / 6
	return form{all[from : bits/6], before > 0, bits%6 != 0}
}

// lowerEscapes returns s, which is escaped for addresses, with hexadecimal digits in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// Text masks secrets in s, as the function [Text] does.
func (r *Redactor) Text(s string) string {
	for range rounds {
		out := shaped(r.known(s))
		if out == s {
			break
		}
		s = out
	}
	return s
}

// span is a part of a text.
type span struct{ from, to int }

// known masks the values that r knows.
func (r *Redactor) known(s string) string {
	if r == nil || len(r.forms) == 0 {
		return s
	}
	found := r.find(s, nil)
	if joined, breaks := join(s); len(breaks) > 0 {
		for _, f := range r.find(joined, nil) {
			found = append(found, span{breaks.source(f.from), breaks.source(f.to-1) + 1})
		}
	}
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for i := 0; i < len(found); {
		m := found[i]
		for i++; i < len(found) && found[i].from <= m.to; i++ {
			m.to = max(m.to, found[i].to)
		}
		b.WriteString(s[at:m.from])
		b.WriteString(Mask)
		at = m.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// find appends the places in s of the forms of values.
func (r *Redactor) find(s string, found []span) []span {
	for i := 0; i+4 <= len(s); i++ {
		four := begin(s, i)
		if h := hash(four); r.begins[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, f := range r.forms[four] {
			if strings.HasPrefix(s[i:], f.text) {
				found = append(found, f.span(s, i))
				i += len(f.text) - 1
				break
			}
		}
	}
	return found
}

// span returns what is masked where the form is found at i.
func (f form) span(s string, i int) span {
	m := span{i, i + len(f.text)}
	if f.sharedBefore && i > 0 && base64Char(s[i-1]) {
		m.from--
	}
	if f.sharedAfter && m.to < len(s) && base64Char(s[m.to]) {
		m.to++
	}
	return m
}

func base64Char(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// breaks are the places of a text without line ends where one stood.
type breaks []struct{ at, removed int } // place, and bytes removed before it in all

// source returns where the byte at i stands in the text with line ends.
func (b breaks) source(i int) int {
	n, _ := slices.BinarySearchFunc(b, i+1, func(x struct{ at, removed int }, i int) int { return cmp.Compare(x.at, i) })
	if n == 0 {
		return i
	}
	return i + b[n-1].removed
}

// join returns s without line ends, those that are escaped as \n among them, and without what a
// log puts at the start of a line.
func join(s string) (string, breaks) {
	var b strings.Builder
	var out breaks
	removed, from := 0, 0
	for i := 0; i < len(s); {
		n := lineEnd(s[i:])
		if n == 0 {
			i++
			continue
		}
		end := i + n
		if s[end-1] == '\n' {
			line := s[end:min(len(s), end+100)]
			end += payload(line)
		}
		b.WriteString(s[from:i])
		removed += end - i
		out = append(out, struct{ at, removed int }{b.Len(), removed})
		from, i = end, end
	}
	if len(out) == 0 {
		return s, nil
	}
	b.WriteString(s[from:])
	return b.String(), out
}

// lineEnd returns the length of the line end that s begins with, 0 if there is none.
func lineEnd(s string) int {
	switch {
	case s[0] == '\n':
		return 1
	case s[0] == '\r' && len(s) > 1 && s[1] == '\n':
		return 2
	case s[0] == '\\' && len(s) > 1 && (s[1] == 'n' || s[1] == 'r'):
		return 2
	}
	return 0
}
