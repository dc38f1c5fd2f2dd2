package diagnosis

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
)

// fingerprintVersion stands before every fingerprint. A change of Normalise
// that changes results takes a new one, so that old ledgers stay readable.
const fingerprintVersion = "v1:"

// fingerprint names f independently of format, class, line numbers and of
// everything that changes from run to run. typ is the error's type, frame the
// top frame of the project.
func fingerprint(f routing.Failure, typ string, frame Location) string {
	message := f.Message
	if message == "" {
		message = f.Expected + "\x00" + f.Actual
	}
	parts := []string{
		identity(f), Normalise(typ), Normalise(message),
		frame.Func, path.Base(strings.ReplaceAll(frame.File, `\`, "/")),
	}
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return fingerprintVersion + hex.EncodeToString(h[:16])
}

// identity returns a test's name in a form that does not depend on how a
// format writes it: "pkg.mod::Cls::test", "pkg/mod.py::Cls::test" and "test
// (pkg.mod.Cls)" keep their last names, in lower case, joined alike.
func identity(f routing.Failure) string {
	if f.Kind == "diagnostic" || f.Kind == "problem" || f.Kind == "log" {
		return f.Kind + " " + Normalise(f.Name) + " " + path.Base(strings.ReplaceAll(f.File, `\`, "/"))
	}
	suite := strings.NewReplacer(".py::", "/", "::", "/", " > ", "/", " › ", "/", `\`, "/").Replace(f.Suite)
	for _, ext := range []string{".py", ".js", ".ts", ".tsx", ".jsx", ".rb", ".java", ".go"} {
		suite = strings.TrimSuffix(suite, ext)
	}
	suite = strings.ReplaceAll(suite, ".", "/")
	if i := strings.LastIndexByte(strings.TrimRight(suite, "/"), '/'); i >= 0 {
		suite = suite[i+1:]
	}
	return strings.ToLower(suite + "/" + f.Name)
}

// Normalise returns s without what changes from run to run: times, durations,
// addresses, ids, ports, pids, temporary and workspace paths, places in files,
// ANSI sequences. Two texts of one cause become equal; numbers that a test
// compares stay.
func Normalise(s string) string {
	if len(s) > 8<<10 {
		s = s[:8<<10]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := normaliser{in: s}
	n.out.Grow(len(s))
	n.run()
	return strings.TrimSpace(n.out.String())
}

type normaliser struct {
	in  string
	i   int
	out strings.Builder
}

// run walks the text token by token: a run of blanks becomes one, a word that
// varies becomes a placeholder, the rest is copied.
func (n *normaliser) run() {
	for n.i < len(n.in) {
		c := n.in[n.i]
		switch {
		case c == 0x1b:
			n.i += ansiLen(n.in[n.i:])
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			for n.i < len(n.in) && strings.IndexByte(" \t\r\n", n.in[n.i]) >= 0 {
				n.i++
			}
			n.out.WriteByte(' ')
		case wordStart(n.in, n.i):
			n.word()
		default:
			n.out.WriteByte(c)
			n.i++
		}
	}
}

// wordStart reports whether a word or path starts at i: not inside one.
func wordStart(s string, i int) bool {
	if !wordByte(s[i]) && s[i] != '/' && s[i] != '\\' {
		return false
	}
	return i == 0 || !wordByte(s[i-1])
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// word replaces what starts at i if one of the patterns has it.
func (n *normaliser) word() {
	rest := n.in[n.i:]
	for _, p := range variable {
		if !p.start(rest[0]) {
			continue
		}
		if m := p.re.FindStringIndex(rest); m != nil && m[1] > 0 {
			if p.check != nil && !p.check(rest[:m[1]]) {
				continue
			}
			n.out.WriteString(p.to)
			n.i += m[1]
			return
		}
	}
	k := 0
	for k < len(rest) && wordByte(rest[k]) {
		k++
	}
	if k == 0 {
		k = 1
	}
	n.out.WriteString(rest[:k])
	n.i += k
	n.place()
}

// place drops ":12:3" and "(12,3)" behind a file name and ", line 12".
func (n *normaliser) place() {
	if m := lineCol.FindStringIndex(n.in[n.i:]); m != nil && fileBefore(n.in[:n.i]) {
		n.out.WriteString("<LINE>")
		n.i += m[1]
	}
}

// fileBefore reports whether s ends in a file name with an extension.
func fileBefore(s string) bool {
	k := len(s)
	for k > 0 && wordByte(s[k-1]) {
		k--
	}
	ext := s[k:]
	return len(ext) >= 1 && len(ext) <= 10 && k > 0 && s[k-1] == '.' && !allDigits(ext)
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

func ansiLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return min(2, len(s))
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}
