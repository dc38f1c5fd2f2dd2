package labelled

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Names counts the predicted names that are right, those that are wrong, and those that are missing.
func (t Truth) Names(predicted []string) (right, wrong, missing int) {
	want, got := unique(t.FailingTests), unique(predicted)
	used := make([]bool, len(got))
	for _, w := range want {
		for i, g := range got {
			if !used[i] && sameName(g, w) {
				used[i] = true
				right++
				break
			}
		}
	}
	if t.NamesComplete {
		for _, g := range got {
			if !slices.ContainsFunc(want, func(w string) bool { return sameName(g, w) }) {
				wrong++
			}
		}
	}
	return right, wrong, len(want) - right
}

func unique(all []string) []string {
	var out []string
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// alnum keeps letters and digits, in lower case.
func alnum(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

var (
	nameStamp    = regexp.MustCompile(`^\s*\d{4}-\d\d-\d\dT[\d:.]+Z\s*`)
	pyFile       = regexp.MustCompile(`^[\w./\\-]+\.py$`)
	inParens     = regexp.MustCompile(`^(.+?)\s*\(([\w.$\[\]-]+)\)$`)
	onlyParens   = regexp.MustCompile(`^\(([\w.$\-]+)\)$`)
	pyTest       = regexp.MustCompile(`^[\w.$/-]+\.py:[\w]+$`)
	parameters   = regexp.MustCompile(`(\[.*\]|\(.*\))$`)
	dotted       = regexp.MustCompile(`^[\w.$]+$`)
	slashes      = regexp.MustCompile(`[/\\]`)
	slashesOrDot = regexp.MustCompile(`[./]`)
)

func lastOf(re *regexp.Regexp, s string) string {
	p := re.Split(s, -1)
	return p[len(p)-1]
}

// splitName returns the name of a test without its container, and the container.
func splitName(n string) (name, container string) {
	n = strings.TrimRight(strings.TrimSpace(nameStamp.ReplaceAllString(n, "")), ":")
	n = strings.TrimSuffix(n, "()")
	if pyFile.MatchString(n) {
		return lastOf(slashes, strings.TrimSuffix(n, ".py")), ""
	}
	if m := inParens.FindStringSubmatch(n); m != nil {
		return strings.TrimSpace(m[1]), lastDotted(m[2])
	}
	if m := onlyParens.FindStringSubmatch(n); m != nil {
		return lastDotted(m[1]), ""
	}
	if strings.Contains(n, "::") {
		p := slices.DeleteFunc(strings.Split(n, "::"), func(s string) bool { return s == "" })
		if len(p) == 1 {
			return p[0], ""
		}
		if len(p) > 1 {
			return p[len(p)-1], lastOf(slashesOrDot, strings.TrimSuffix(p[len(p)-2], ".py"))
		}
	}
	for _, sep := range []string{" › ", " > ", " ▸ "} {
		if p := strings.Split(n, sep); len(p) > 1 {
			return strings.TrimSpace(p[len(p)-1]), strings.TrimSpace(p[len(p)-2])
		}
	}
	if pyTest.MatchString(n) {
		file, test, _ := strings.Cut(n, ":")
		return test, lastOf(slashesOrDot, strings.TrimSuffix(file, ".py"))
	}
	base := parameters.ReplaceAllString(n, "")
	if dotted.MatchString(base) && strings.Contains(base, ".") {
		p := strings.Split(base, ".")
		return p[len(p)-1] + n[len(base):], p[len(p)-2]
	}
	return n, ""
}

func lastDotted(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

// sameName reports whether a predicted name means the expected test, however both are written.
func sameName(p, e string) bool {
	a, b := alnum(p), alnum(e)
	if a == b {
		return true
	}
	pn, pc := splitName(p)
	en, ec := splitName(e)
	if sameLocal(pn, en) {
		pc, ec = alnum(pc), alnum(ec)
		return pc == "" || ec == "" || strings.HasSuffix(pc, ec) || strings.HasSuffix(ec, pc)
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len([]rune(a)) >= 12 && strings.HasSuffix(b, a) {
		return true // titles printed on several lines
	}
	first, _, sub := strings.Cut(pn, "/")
	return sub && alnum(first) == alnum(en) // a Go subtest of the test
}

func sameLocal(p, e string) bool {
	if alnum(p) == alnum(e) {
		return true
	}
	if strings.Contains(p, "[") == strings.Contains(e, "[") && strings.Contains(p, "(") == strings.Contains(e, "(") {
		return false
	}
	ps, es := alnum(parameters.ReplaceAllString(p, "")), alnum(parameters.ReplaceAllString(e, ""))
	return ps == es && es != ""
}
