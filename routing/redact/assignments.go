package redact

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// exactName is a name that ends in what says it is secret, and not in what the value is for.
var exactName = lazyregexp.New(`(?i)(?:password|passwd|passphrase|secret|token|key|credentials?|pwd|pass|dsn|key[_-]?id)$`)

const valueEnds = " \t\r\n\"'`,;&<>(){}[]|\\"

// assignments masks the values of names that say they are secret: in environments, YAML, JSON,
// flags, connection strings and headers.
func assignments(line string) string {
	var b strings.Builder
	at := 0
	for i := 0; i < len(line); i++ {
		n := strings.IndexAny(line[i:], ":=")
		if n < 0 {
			break
		}
		i += n
		a, from, ok := assignedAt(line, i)
		if !ok || from < at {
			continue
		}
		to := from + a.length(line[from:])
		if v := line[from:to]; v == "" || masked(v) || !a.secret(v) {
			continue
		}
		b.WriteString(line[at:from])
		b.WriteString(Mask)
		at, i = to, to-1
	}
	if at == 0 {
		return line
	}
	b.WriteString(line[at:])
	return b.String()
}

// assigned is a name with the operator and opening quote before its value.
type assigned struct {
	name, operator, quote string
}

// assignedAt returns what the operator at i assigns to, and where the value begins. In JSON within
// JSON quotes are escaped.
func assignedAt(line string, i int) (a assigned, from int, ok bool) {
	end := len(strings.TrimRight(line[:i], " \t\"'\\]"))
	start := end
	for start > 0 && nameChar(line[start-1]) {
		start--
	}
	if a.name = line[start:end]; !secretName(a.name) {
		return a, 0, false
	}
	from = i + 1
	if from < len(line) && (line[i] == ':' && line[from] == '=' || line[i] == '=' && line[from] == '>') {
		from++
	}
	for from < len(line) && (line[from] == ' ' || line[from] == '\t') {
		from++
	}
	a.operator = line[i:from]
	quote := from
	for quote < len(line) && line[quote] == '\\' {
		quote++
	}
	if quote < len(line) && (line[quote] == '"' || line[quote] == '\'') {
		a.quote = line[from : quote+1]
		from = quote + 1
	}
	return a, from, true
}

func nameChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// secretName reports whether a name says that its value is secret. The PublicKeyToken of .NET, and
// public keys, are in every stack trace.
func secretName(name string) bool {
	return len(name) >= 3 && names().any(name) && !strings.Contains(strings.ToLower(name), "public")
}

// length returns the length of the value that s begins with: up to the closing quote if one was
// opened, even where s is cut before it.
func (a assigned) length(s string) int {
	if a.quote == "" {
		if i := strings.IndexAny(s, valueEnds); i >= 0 {
			return i
		}
		return len(s)
	}
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], a.quote):
			return i
		case s[i] == '\\' && len(a.quote) == 1:
			i++ // an escaped character
		}
	}
	return len(s)
}

// secret reports whether v, the value, is one: no placeholder, no code, no prose.
func (a assigned) secret(v string) bool {
	if len(v) < 6 || placeholderRE.MatchString(strings.TrimRight(v, ".:;)")) {
		return false
	}
	if strings.HasPrefix(v, ":") || strings.EqualFold(strings.TrimPrefix(strings.ToLower(a.name), "old"), "pwd") {
		return false // a scope in C++ or Ruby; the working directory
	}
	exact := exactName.MatchString(a.name)
	certain := exact && strings.HasSuffix(a.operator, "=") && len(a.operator) == 1 && (a.name[0] == '-' || strings.ToUpper(a.name) == a.name)
	if a.quote != "" {
		// Of messages about secrets there are more than of secrets with blanks.
		return !strings.ContainsAny(v, " \t") || certain && strings.ContainsAny(v, "0123456789")
	}
	v = strings.TrimRight(v, ".:;)")
	if certain {
		return len(v) >= 6 && !notWord.MatchString(v)
	}
	return len(v) >= 8 && !identifier.MatchString(v) || len(v) >= 6 && mixed(v)
}

// notWord is a number, a path or the like.
var notWord = lazyregexp.New(`^\d{1,7}$|^\.{0,2}/[\w./-]+$|^[A-Z_]+$|^[!=]`)

// mixed reports whether v has letters and digits in turn, more than an identifier has.
func mixed(v string) bool {
	digits := strings.IndexAny(v, "0123456789")
	return digits > 0 && strings.ContainsAny(v[digits:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") && !identifier.MatchString(v) && !strings.ContainsAny(v, "/.:")
}
