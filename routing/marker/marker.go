// Package marker writes and reads the hidden last line of everything that the bot posts:
//
//	<!-- switchback:v1 key=owner/name%2312/unit/comment gen=12 -->
//
// It is how a post is found again, so that it is updated instead of posted twice. A marker alone
// proves nothing: who wrote the post is for the caller to check.
package marker

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	open       = "<!-- switchback:v1 key="
	generation = " gen="
	end        = " -->"
)

// Marker names a post.
type Marker struct {
	Key string // says what "once" means; whatever it holds, the marker is one line and one HTML comment
	Gen int    // grows with every state, so that an older one never replaces a newer; 0: not counted
}

// Format returns the marker's line.
func Format(key string, gen int) string {
	return open + Escape(key) + generation + strconv.Itoa(gen) + end
}

// String returns the marker's line.
func (m Marker) String() string { return Format(m.Key, m.Gen) }

// Parse reads the marker on the last line of text, which may be a whole post with CRLF line ends.
// Only a line that Format would write is one, so a marker that is quoted, indented or followed by
// anything does not count, and neither does one without a key or with a negative generation.
func Parse(text string) (Marker, bool) {
	_, line := Split(text)
	rest, found := strings.CutPrefix(line, open)
	if !found {
		return Marker{}, false
	}
	if rest, found = strings.CutSuffix(rest, end); !found {
		return Marker{}, false
	}
	encoded, number, found := strings.Cut(rest, generation)
	if !found {
		return Marker{}, false
	}
	gen, err := strconv.Atoi(number)
	if err != nil || gen < 0 {
		return Marker{}, false
	}
	key, err := unescape(encoded)
	if err != nil || key == "" || Format(key, gen) != line {
		return Marker{}, false
	}
	return Marker{key, gen}, true
}

// Split returns text without its last line that is not blank, and that line.
func Split(text string) (body, last string) {
	text = strings.TrimRight(text, " \t\r\n")
	at := strings.LastIndexByte(text, '\n') + 1
	return strings.TrimRight(text[:at], " \t\r\n"), text[at:]
}

// Escape percent-encodes all that could end the comment, the line or the field: everything but
// letters, digits and a few signs, and the second of two hyphens.
func Escape(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		c := key[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._/#:+", c) >= 0
		if plain || c == '-' && (i == 0 || key[i-1] != '-') {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func unescape(encoded string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(encoded); i++ {
		if encoded[i] != '%' {
			b.WriteByte(encoded[i])
			continue
		}
		if i+2 >= len(encoded) {
			return "", fmt.Errorf("marker key %q ends in an escape", encoded)
		}
		n, err := strconv.ParseUint(encoded[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("marker key %q: %w", encoded, err)
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}
