package web_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tag   = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>`)
	idAt  = regexp.MustCompile(`\sid="([^"]*)"`)
	refAt = regexp.MustCompile(`\s(?:href="#|aria-labelledby="|aria-describedby="|for=")([^"]+)"`)
	void  = []string{"meta", "link", "input", "br", "hr", "img"}
)

// wellFormed fails the test unless all elements of a page are closed in order, its ids are unique,
// its references exist, and heading levels increase by one.
func wellFormed(t *testing.T, path, page string) {
	t.Helper()
	var open []string
	ids := map[string]bool{}
	level := 0
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		name := strings.ToLower(m[2])
		if id := idAt.FindStringSubmatch(m[3]); id != nil {
			if ids[id[1]] {
				t.Errorf("%s: two elements are %q", path, id[1])
			}
			ids[id[1]] = true
		}
		switch {
		case m[1] == "/":
			if n := len(open); n == 0 || open[n-1] != name {
				t.Fatalf("%s: </%s> closes %v", path, name, open)
			}
			open = open[:len(open)-1]
		case !slices.Contains(void, name) && !strings.HasSuffix(m[3], "/"):
			open = append(open, name)
		}
		if m[1] == "" && len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
			now := int(name[1] - '0')
			if now > level+1 {
				t.Errorf("%s: a heading %s behind one of level %d", path, name, level)
			}
			level = now
		}
		if strings.Contains(m[3], " style=") || strings.Contains(m[3], " onclick=") || strings.Contains(m[3], "ZgotmplZ") {
			t.Errorf("%s: %s is not let through by the page's policy", path, m[0])
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: not closed: %v", path, open)
	}
	for _, m := range refAt.FindAllStringSubmatch(page, -1) {
		for _, id := range strings.Fields(m[1]) {
			if !ids[id] {
				t.Errorf("%s: nothing is %q", path, id)
			}
		}
	}
	if strings.Count(page, "<h1>") != 1 || strings.Count(page, "<main") != 1 || !regexp.MustCompile(`<title>[^<]+ – Switchback</title>`).MatchString(page) {
		t.Errorf("%s: no one heading, no main part, or no title", path)
	}
}
