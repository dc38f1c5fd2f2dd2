package testreport

import (
	"strings"
)

// goResult takes "    --- FAIL: Name (0.00s)" apart; secs is "" where no time
// stands behind the name.
func goResult(s string) (what, name, secs string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " "), "--- ")
	if !ok || len(rest) < 4 {
		return "", "", "", false
	}
	n := 4
	if rest[0] == 'B' {
		n = min(5, len(rest))
	}
	switch what = rest[:n]; what {
	case "PASS", "FAIL", "SKIP", "BENCH":
	default:
		return "", "", "", false
	}
	if name, ok = strings.CutPrefix(rest[n:], ": "); !ok {
		return "", "", "", false
	}
	if name == "" || strings.IndexByte(" \t\r\f\n", name[0]) >= 0 {
		return "", "", "", false
	}
	if i := lastParen(name); ok && i > 0 {
		in, closed := strings.CutSuffix(name[i+2:], " seconds)")
		if !closed {
			in, closed = strings.CutSuffix(name[i+2:], "s)")
		}
		if closed && isDecimal(in) {
			name, secs = name[:i], in
		}
	}
	return what, name, secs, ok
}

// isDecimal reports whether s is digits, or digits with one point between them.
func isDecimal(s string) bool {
	whole, part, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(part))
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// endsTest reports whether name can be a test's. Only benchmarks end without
// a time; names hold no spaces (testing replaces them).
func endsTest(name, secs string) bool {
	if strings.IndexByte(name, ' ') >= 0 || strings.IndexByte(name, '\t') >= 0 {
		return false
	}
	return secs != "" || strings.HasPrefix(name, "Benchmark")
}

// isGoPackage keeps out other tools' lines that begin with ok or FAIL: TAP
// numbers its tests, Jest names source files.
func isGoPackage(name, space string) bool {
	if name[0] >= '0' && name[0] <= '9' && !strings.ContainsAny(name, "./") {
		return false
	}
	if space != "\t" {
		for _, ext := range [...]string{".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".vue", ".py", ".rb", ".php", ".t"} {
			if strings.HasSuffix(name, ext) {
				return false
			}
		}
	}
	return true
}

// goEnd is goPkgEnd.FindStringSubmatch, quicker where nothing follows the time
// and tabs stand where go test prints them.
func goEnd(s string) []string {
	word, gap := "ok", "  "
	rest, ok := strings.CutPrefix(s, "ok  \t")
	if !ok {
		word, gap = "FAIL", "\t"
		rest, ok = strings.CutPrefix(s, "FAIL\t")
	}
	name, secs, tab := strings.Cut(rest, "\t")
	if in, unit := strings.CutSuffix(secs, "s"); ok && tab && unit && isDecimal(in) && plainPackage(name) {
		return []string{s, word, gap, name, secs}
	}
	return goPkgEnd.FindStringSubmatch(s)
}

// plainPackage reports whether name is ASCII that shows, without brackets.
func plainPackage(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c <= ' ', c >= 0x7f, c == '[', c == ']', c == '(', c == ')':
			return false
		}
	}
	return name != ""
}
