package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Prism checks one request at a time, and the tests of crashes make tens of thousands of
// a few hundred shapes: the first ones of each shape are checked, and then one
// in a while.
const (
	checkFirst = 20
	checkEvery = 25
)

// worthChecking reports whether prism is to see q.
func (rec *recorder) worthChecking(q *Request) bool {
	if rec.checks == nil {
		return false
	}
	s := shapeOf(q)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.shapes[s]++
	n := rec.shapes[s]
	return n <= checkFirst || n%checkEvery == 0
}

var (
	varying = regexp.MustCompile(`[0-9a-f]{7,}|[0-9]+`)
	word    = regexp.MustCompile(`^[a-z_]{1,20}$`)
)

// shapeOf names what a description of the API can say of a request: its route
// and the names of its parameters; of its body the keys, the kinds of values,
// and those that may be one of a few words.
func shapeOf(q *Request) string {
	segments := strings.Split(q.Path, "/")
	for i, s := range segments {
		if i == 2 || i == 3 || varying.MatchString(s) || len(segments) > 6 && i > 5 {
			segments[i] = "*"
		}
	}
	var query []string
	for _, p := range strings.Split(q.Query, "&") {
		name, _, _ := strings.Cut(p, "=")
		query = append(query, name)
	}
	slices.Sort(query)
	var body any
	if json.Unmarshal(q.Body, &body) != nil {
		body = len(q.Body) > 0
	}
	return q.Method + " " + strings.Join(segments, "/") + "?" + strings.Join(query, "&") + " " + kindsOf(body)
}

func kindsOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var out []string
		for k, x := range v {
			out = append(out, k+":"+kindsOf(x))
		}
		slices.Sort(out)
		return "{" + strings.Join(out, ",") + "}"
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, kindsOf(x))
		}
		slices.Sort(out)
		return "[" + strings.Join(slices.Compact(out), ",") + "]"
	case string:
		if word.MatchString(v) {
			return v
		}
	}
	return fmt.Sprintf("%T", v)
}
