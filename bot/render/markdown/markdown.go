// Package markdown makes text that comes from outside safe to post on GitHub. A Text holds nothing
// that mentions, links, loads or closes anything, and nothing that breaks out of its place on the
// page; only the functions of this package, the catalogue and the page templates make one.
package markdown

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// longestRun is how many backticks or tildes stay in a row. cmark-gfm, which renders on GitHub, reads
// no code span of more than 80 backticks, and a fence of more than 255 as one of 255: text of a run
// that needed longer ones around it would be live.
const longestRun = 20

// Clean drops what is not text, as Printable does, and shortens runs of backticks and tildes to
// 20. Our own markers and other HTML comments are broken, so that no reader of the raw Markdown
// takes them for real.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(Printable(s), "<!--", "<! --"), "-->", "-- >")
	return longRuns.ReplaceAllStringFunc(s, func(run string) string { return run[:longestRun] })
}

var longRuns = lazyregexp.New("`{21,}|~{21,}")

// Printable returns s without what is not text: ANSI sequences, control,
// zero-width and bidirectional characters, invalid UTF-8. Lines end in "\n".
func Printable(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = stripEscapes(s)
	s = newlines.Replace(s)
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if invisible(r) {
			return -1
		}
		return r
	}, s)
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\v", "\n", "\f", "\n")

// isClean is the common case: printable ASCII without a comment or a long run.
func isClean(s string) bool {
	run := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
		switch {
		case c != '`' && c != '~':
			run = 0
		case run > 0 && s[i-1] == c:
			run++
		default:
			run = 1
		}
		if run > longestRun {
			return false
		}
	}
	return !strings.Contains(s, "<!--") && !strings.Contains(s, "-->")
}

// invisible reports whether r shows nothing or turns the direction of what
// follows.
func invisible(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co) || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff
}

var escapes = lazyregexp.New("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\x1b\\]|\u009d)[^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|\x1b[()][0-9A-Za-z]?|\x1b.?")

func stripEscapes(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b\u009d") {
		return s
	}
	return escapes.ReplaceAllString(s, "")
}

// Line makes one line of s: clean, runs of space folded, cut.
func Line(s string, limit int) string {
	return Cut(strings.Join(strings.Fields(Clean(s)), " "), limit)
}

// Cut returns at most limit bytes of s, ending at a rune and saying so.
func Cut(s string, limit int) string {
	return truncate.Head(s, limit, truncate.Ellipsis)
}

// CutMiddle keeps the head and the tail of a block of more than limit bytes.
func CutMiddle(s string, limit int) string {
	return truncate.Middle(s, limit, "\n…\n")
}

const inlineLimit = 300

// Text is Markdown that is safe to post. A conversion to Text claims that for its operand; plain
// strings become one through Code, Prose or Fence.
type Text string

// Code returns s as a code span on one line, with more backticks around it than stand in a row
// within it.
func Code(s string) Text {
	s = Line(s, inlineLimit)
	if s == "" {
		return "–"
	}
	ticks := strings.Repeat("`", mostInRow(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return Text(ticks + s + ticks)
}

// HTMLCode is Code as HTML, for the summary of a fold: GitHub reads no Markdown there.
func HTMLCode(s string) Text {
	if s = Line(s, inlineLimit); s == "" {
		return "–"
	}
	return Text("<code>" + html.EscapeString(s) + "</code>")
}

// Codes lists ids as code spans, at most so many of them.
func Codes(ids []string, most int) Text {
	var out []Text
	for _, id := range ids[:min(most, len(ids))] {
		out = append(out, Code(id))
	}
	if len(ids) > most {
		out = append(out, "…")
	}
	return Join(out, ", ")
}

// Cell makes t a cell of a table: a pipe would end the cell even within a code span. One behind a
// backslash cannot be escaped and is replaced.
func Cell(t Text) Text {
	md := strings.ReplaceAll(string(t), "\n", " ")
	var b strings.Builder
	for i := 0; i < len(md); i++ {
		switch {
		case md[i] != '|':
			b.WriteByte(md[i])
		case i > 0 && md[i-1] == '\\':
			b.WriteString("¦")
		default:
			b.WriteString(`\|`)
		}
	}
	return Text(b.String())
}

func mostInRow(s string, c byte) int {
	best, n := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		best = max(best, n)
	}
	return best
}

// plainWord is a word that no Markdown and no filter of GitHub reads anything
// into. joined words of letters and digits may be a key of a tracker (JIRA-12).
var (
	plainWord   = lazyregexp.New(`^["'(]*[\p{L}\p{M}\p{N}]+(?:['’·-][\p{L}\p{M}\p{N}]+)*["')]*[.,;:!?%…]*["')]*$`)
	trackerKey  = lazyregexp.New(`[A-Za-z]-[0-9]`)
	hexWord     = lazyregexp.New(`[0-9a-fA-F]{7}`)
	webHost     = lazyregexp.New(`(?i)www\.`) // "www.…" is a link
	punctuation = lazyregexp.New(`^(?:[.,;:!?)]{1,2}|\()$`)
	listNumber  = lazyregexp.New(`^[0-9]+[.)]$`)
)

func isPlain(w string) bool {
	switch w {
	case "–", "—", "→", "·", "…":
		return true
	}
	return plainWord.MatchString(w) && !trackerKey.MatchString(w) && !hexWord.MatchString(w) && !webHost.MatchString(w)
}

// Prose returns a hostile sentence as Markdown on one line: plain words as they
// are, whatever could be a mention, a link, a reference, HTML, a command or
// formatting as a code span. Code spans of the sentence itself are kept.
func Prose(s string) Text { return ProseLimit(s, 1200) }

// ProseLimit is Prose of at most limit bytes of s.
func ProseLimit(s string, limit int) Text {
	s = Line(s, limit)
	var out []string
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			if strings.TrimSpace(part) != "" {
				out = append(out, string(Code(part)))
			}
			continue
		}
		out = append(out, words(part)...)
	}
	md := joinWords(out)
	if f := strings.SplitN(md, " ", 2); listNumber.MatchString(f[0]) {
		md = string(Code(f[0])) + md[len(f[0]):]
	}
	if md == "" {
		return "–"
	}
	return Text(md)
}

// words turns text into plain words and code spans, neighbouring code merged.
func words(text string) []string {
	var out, run []string
	flush := func() {
		if len(run) > 0 {
			before, core, after := peel(strings.Join(run, " "))
			if m := particle.FindStringSubmatch(core); m != nil {
				core, after = m[1], m[2]+after
			}
			out = append(out, before+string(Code(core))+after)
			run = nil
		}
	}
	for _, w := range strings.Fields(text) {
		if isPlain(w) || punctuation.MatchString(w) {
			flush()
			out = append(out, w)
			continue
		}
		run = append(run, w)
		if strings.ContainsAny(w[len(w)-1:], ",;:") {
			flush()
		}
	}
	flush()
	return out
}

// particle is what Korean puts behind a word that is code.
var particle = lazyregexp.New(`^(.*[A-Za-z0-9_)\]}"'])([가-힣]{1,4})$`)

// peel takes the punctuation of the sentence from around a piece of code.
func peel(w string) (before, core, after string) {
	core = strings.TrimRight(w, ".,;:!?")
	if core == "" {
		return "", w, ""
	}
	after = w[len(core):]
	open, shut := strings.HasPrefix(core, "("), strings.HasSuffix(core, ")")
	inner := strings.TrimSuffix(strings.TrimPrefix(core, "("), ")")
	if inner == "" || strings.Trim(inner, "()") == "" {
		return "", core, after
	}
	if open && (shut || !strings.Contains(core, ")")) {
		before, core = "(", core[1:]
	}
	if shut && (before != "" || !strings.Contains(core, "(")) {
		core, after = core[:len(core)-1], ")"+after
	}
	return before, core, after
}

// joinWords puts a space between words, but none before punctuation that stood
// right behind a code span.
func joinWords(ws []string) string {
	var b strings.Builder
	for i, w := range ws {
		if i > 0 && ws[i-1] != "(" && (w == "(" || !punctuation.MatchString(w)) {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// Fence returns s as a fenced block that nothing within it can close. Other bots look for commands
// at the beginning of any line, in code too, so one such as "/approve" gets a space in front. lang is
// a constant of the caller, never input.
func Fence(lang, s string) Text {
	s = command.ReplaceAllString(strings.Trim(Clean(s), "\n"), " $0")
	ticks := strings.Repeat("`", max(3, mostInRow(s, '`')+1))
	return Text(ticks + lang + "\n" + s + "\n" + ticks)
}

// command is a word behind a slash that begins a line, and no path.
var command = lazyregexp.New(`(?m)^/[A-Za-z][A-Za-z0-9_-]*(?:[ \t]|$)`)

// WrapLines cuts every line of s to limit bytes and s to n lines, the middle left out.
func WrapLines(s string, n, limit int) string {
	lines := strings.Split(strings.Trim(Clean(s), "\n"), "\n")
	lines = truncate.Lines(lines, n)
	for i := range lines {
		lines[i] = Cut(strings.TrimRight(lines[i], " \t"), limit)
	}
	return strings.Join(lines, "\n")
}

// Link returns a link to address, which the caller has checked to be a page of the server. It is t
// alone where there is none, or where the address holds what could end the link.
func Link(t Text, address string) Text {
	if len(address) > 2000 || !linkable.MatchString(address) {
		return t
	}
	return "[" + t + "](" + Text(address) + ")"
}

var linkable = lazyregexp.New(`^https?://[A-Za-z0-9._~:/?#!$&+,;=%-]+$`)

// Truncate returns page, or as many of its lines as fit in limit by size, which is the length in
// bytes or in characters. A fenced block that is cut is closed, and a line with a code span, a link
// or HTML is left out whole, since half of it would be live.
func Truncate(page Text, limit int, size func(string) int) Text {
	const note = "\n\n… (cut)"
	if size(string(page)) <= limit {
		return page
	}
	left := limit - size(note)
	var kept []string
	fence := ""
	for line := range strings.Lines(string(page)) {
		after := fenceAfter(fence, line)
		if n := size(line); n+closing(after) <= left {
			kept, left, fence = append(kept, line), left-n, after
			continue
		}
		if fence != "" || !strings.ContainsAny(line, "`<[") {
			kept = append(kept, start(line, left-closing(fence), size))
		}
		break
	}
	out := strings.TrimRight(strings.Join(kept, ""), "\n")
	if fence != "" {
		out += "\n" + fence
	}
	return Text(out + note)
}

// fenceAfter returns the backticks of the block that is open behind a line, "" for none. open is that
// of the block before it.
func fenceAfter(open, line string) string {
	ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	switch {
	case open == "" && len(ticks) >= 3:
		return ticks
	case open != "" && len(ticks) >= len(open) && strings.TrimSpace(line[len(ticks):]) == "":
		return ""
	}
	return open
}

// closing is what it takes to close a block.
func closing(fence string) int {
	if fence == "" {
		return 0
	}
	return len(fence) + 1
}

// start returns the longest beginning of line that is at most limit by size.
func start(line string, limit int, size func(string) int) string {
	used := 0
	for i, r := range line {
		if used += size(string(r)); used > limit {
			return line[:i]
		}
	}
	return line
}

// Join puts sep between texts.
func Join(texts []Text, sep Text) Text {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 {
			b.WriteString(string(sep))
		}
		b.WriteString(string(t))
	}
	return Text(b.String())
}

// Sentences puts a space between those texts that are not empty.
func Sentences(texts ...Text) Text {
	return Join(slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return t == "" }), " ")
}

// Sentence ends t with a full stop.
func Sentence(t Text) Text {
	if strings.HasSuffix(string(t), ".") || strings.HasSuffix(string(t), "!") || strings.HasSuffix(string(t), "?") {
		return t
	}
	return t + "."
}

// Paragraph is a text that others follow, or nothing.
func Paragraph(t Text) Text {
	if t == "" {
		return ""
	}
	return t + "\n\n"
}
