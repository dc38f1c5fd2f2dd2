// Package render writes what people and agents read: the sticky comment, the
// escalation issue, the check, the job summary, the feedback file and the
// terminal's lines, out of a routing.Case. All of it is pure: no clock, no
// network, no file. Text that comes from a run is hostile; see sanitize.go.
package render

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	markerOpen  = "<!-- switchback:v1 key="
	markerGen   = " gen="
	markerClose = " -->"
)

// Marker returns the hidden line that names a post: the key says what "once"
// means, gen grows with every state, so that an older one never replaces a
// newer. It stands alone on the last line of the post. Whatever key holds, the
// marker is one line and one HTML comment.
func Marker(key string, gen int) string {
	return markerOpen + escapeKey(key) + markerGen + strconv.Itoa(gen) + markerClose
}

// ParseMarker reads the marker from the last line of text, which may be a whole
// post. Only a line that Marker itself would write is one, so a marker that is
// quoted, indented or followed by anything does not count. Who wrote the post
// is for the caller to ask.
func ParseMarker(text string) (key string, gen int, ok bool) {
	text = strings.TrimRight(text, " \t\r\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	rest, found := strings.CutPrefix(line, markerOpen)
	if !found {
		return "", 0, false
	}
	rest, found = strings.CutSuffix(rest, markerClose)
	if !found {
		return "", 0, false
	}
	enc, num, found := strings.Cut(rest, markerGen)
	if !found {
		return "", 0, false
	}
	gen, err := strconv.Atoi(num)
	if err != nil {
		return "", 0, false
	}
	key, err = unescapeKey(enc)
	if err != nil || Marker(key, gen) != line {
		return "", 0, false
	}
	return key, gen, true
}

// escapeKey percent-encodes all that could end the comment, the line or the
// field: everything but letters, digits and a few signs, and the second of two
// hyphens.
func escapeKey(key string) string {
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

func unescapeKey(enc string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(enc); i++ {
		if enc[i] != '%' {
			b.WriteByte(enc[i])
			continue
		}
		if i+2 >= len(enc) {
			return "", fmt.Errorf("marker key %q ends in an escape", enc)
		}
		n, err := strconv.ParseUint(enc[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("marker key %q: %w", enc, err)
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}
