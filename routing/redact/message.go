package redact

import (
	"net/url"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// What else is masked in an error message. In the output of a run these would mask code; in a
// message of an API nobody misses what they take.
var (
	anyToken  = lazyregexp.New(`\b(?:(gh[a-z]_)[A-Za-z0-9_]{8,}|(github_pat_)[A-Za-z0-9_]{8,}|(v1\.)[0-9a-f]{20,})`)
	anyBearer = lazyregexp.New(`(?i)\b(bearer|token|basic)(["':= ]+)[A-Za-z0-9._~+/=-]{12,}`)
	address   = lazyregexp.New(`https?://[^\s"'<>]+`)
)

// Message masks secrets in the text of an error more strictly than Text: everything that could be a
// token, and of every address what stands before the host and after the path, where storage signs
// its addresses.
func Message(s string) string {
	s = address.ReplaceAllStringFunc(s, func(s string) string {
		u, err := url.Parse(s)
		if err != nil {
			return "[address]"
		}
		if u.User != nil {
			u.User = url.User("redacted")
		}
		if u.RawQuery != "" {
			u.RawQuery = "redacted"
		}
		u.Fragment = ""
		return u.String()
	})
	s = Text(s)
	s = anyToken.ReplaceAllString(s, "$1$2$3"+Mask)
	return Text(anyBearer.ReplaceAllString(s, "${1}${2}"+Mask))
}
