package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"unicode/utf8"
)

// limits are GitHub's on the length of what is posted, in characters. Emulate
// accepts any length.
var limits = []struct {
	path  *regexp.Regexp
	field []string
	max   int
}{
	{regexp.MustCompile(`/issues(/\d+|/comments/\d+|/\d+/comments)?$`), []string{"body"}, 65536},
	{regexp.MustCompile(`/issues(/\d+)?$`), []string{"title"}, 256},
	{regexp.MustCompile(`/check-runs(/\d+)?$`), []string{"output", "summary"}, 65535},
	{regexp.MustCompile(`/check-runs(/\d+)?$`), []string{"output", "text"}, 65535},
	{regexp.MustCompile(`/check-runs(/\d+)?$`), []string{"output", "annotations"}, 50},
	{regexp.MustCompile(`/check-runs(/\d+)?$`), []string{"external_id"}, 255},
	{regexp.MustCompile(`/labels(/[^/]+)?$`), []string{"name"}, 50},
	{regexp.MustCompile(`/labels(/[^/]+)?$`), []string{"description"}, 100},
}

// tooLong returns GitHub's message if the request exceeds a limit, else "".
func tooLong(r *http.Request) string {
	if r.Method != http.MethodPost && r.Method != http.MethodPatch {
		return ""
	}
	data, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(data))
	var doc any
	if err != nil || json.Unmarshal(data, &doc) != nil {
		return ""
	}
	for _, l := range limits {
		if l.path.MatchString(r.URL.Path) && size(doc, l.field) > l.max {
			return fmt.Sprintf("Validation Failed: %s is too long (maximum is %d characters)", l.field[len(l.field)-1], l.max)
		}
	}
	return ""
}

// size returns the characters of the text, or the elements of the list, at field.
func size(doc any, field []string) int {
	for _, f := range field {
		m, _ := doc.(map[string]any)
		doc = m[f]
	}
	switch v := doc.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	}
	return 0
}
