package redact

import (
	"encoding/json"
	"io"
	"strings"
)

// Tokens masks in s what is certainly a secret: values that the process holds, private keys, and
// tokens that their shape alone tells. Unlike [Text] it leaves values that only their name makes
// suspicious, so it can be applied to text that is compared or parsed later.
func Tokens(s string) string {
	for range rounds {
		out := keyBodies(hidden.Load().known(s))
		if words().any(out) {
			out = lines(out, len(shapes)+len(providers))
		}
		if out == s {
			break
		}
		s = out
	}
	return s
}

// JSON returns data, which is JSON, with each string in it masked by [Tokens]. It is valid JSON
// afterwards, and data itself if there is no secret in it. It is applied where data leave the
// process: to requests and to the events of a ledger.
func JSON(data []byte) []byte {
	s := string(data)
	var b strings.Builder
	copied := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(s) && s[end] != '"' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) {
			break
		}
		if out, changed := literal(s[i : end+1]); changed {
			b.WriteString(s[copied:i])
			b.WriteString(out)
			copied = end + 1
		}
		i = end
	}
	if copied == 0 {
		return data
	}
	b.WriteString(s[copied:])
	return []byte(b.String())
}

// File returns what is written to a file without secrets: JSON stays JSON, any other text is masked
// by [Tokens].
func File(data []byte) []byte {
	if json.Valid(data) {
		return JSON(data)
	}
	return []byte(Tokens(string(data)))
}

// literal masks a string of JSON with its quotes.
func literal(raw string) (string, bool) {
	text := raw[1 : len(raw)-1]
	if strings.IndexByte(text, '\\') >= 0 {
		if json.Unmarshal([]byte(raw), &text) != nil {
			return raw, false
		}
	}
	out := Tokens(text)
	if out == text {
		return raw, false
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(out) != nil {
		return raw, false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// Writer returns a writer that masks each text written to it, as [Text] does, and passes it on to
// w: for logs, of which each record is one write.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
