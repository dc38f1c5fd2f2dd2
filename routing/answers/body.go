package answers

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Checkboxes is what a body says of its checkboxes. A box that stands there twice
// counts as ticked if one of them is.
type Checkboxes struct {
	Nonce  string
	Gen    int
	SHA    string   // "" if it is bound to no commit
	Boxes  []string // ids that stand there, in their order
	Ticked []string // of those, in the same order
}

var (
	headLine = lazyregexp.New(`^ {0,3}<!-- switchback:checkboxes nonce=([0-9a-f]{4,64}) gen=([0-9]{1,9}) sha=([0-9a-f]{7,64}|-) -->[ \t]*$`)
	boxLine  = lazyregexp.New(`^( {0,3}(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,4}\[)([ xX])(\][ \t].*)$`)
	boxID    = lazyregexp.New(`<!-- ?sb:([a-z0-9][a-z0-9:.-]{0,79}) ?-->`)
)

// Parse reads the checkboxes of a body that people may have edited: lines may have
// been moved, have text added, or end in CRLF. Boxes in code, quotes and hidden
// comments do not count, nor a line with two ids. It is not ok if the head is
// missing or there are two that differ: what was asked is then unknown.
func Parse(body string) (p Checkboxes, ok bool) {
	heads := 0
	live(split(body), func(_ int, line string) {
		if h := headOf(line); h != nil {
			if heads++; heads > 1 && (h.Nonce != p.Nonce || h.Gen != p.Gen || h.SHA != p.SHA) {
				heads = 1 << 20
			}
			p.Nonce, p.Gen, p.SHA = h.Nonce, h.Gen, h.SHA
			return
		}
		id, on, is := boxOf(line)
		if !is {
			return
		}
		if !slices.Contains(p.Boxes, id) {
			p.Boxes = append(p.Boxes, id)
		}
		if on && !slices.Contains(p.Ticked, id) {
			p.Ticked = append(p.Ticked, id)
		}
	})
	return p, heads > 0 && heads < 1<<20
}

func headOf(line string) *Checkboxes {
	m := headLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	gen, err := strconv.Atoi(m[2])
	if err != nil {
		return nil
	}
	p := &Checkboxes{Nonce: m[1], Gen: gen}
	if m[3] != "-" {
		p.SHA = m[3]
	}
	return p
}

func boxOf(line string) (id string, ticked, ok bool) {
	m := boxLine.FindStringSubmatch(line)
	if m == nil {
		return "", false, false
	}
	ids := boxID.FindAllStringSubmatch(m[3], 2)
	if len(ids) != 1 {
		return "", false, false
	}
	return ids[0][1], m[2] != " ", true
}

// Submitted reports whether Submit is ticked.
func (p Checkboxes) Submitted() bool { return slices.Contains(p.Ticked, Submit) }

// Same reports whether p and q are the same checkboxes: of one record and generation,
// about one commit.
func (p Checkboxes) Same(q Checkboxes) bool {
	return p.Nonce == q.Nonce && p.Gen == q.Gen && p.SHA == q.SHA
}

// Change is what an edit did to the boxes of a body.
type Change struct{ Ticked, Unticked []string }

// Empty reports whether the edit touched no box.
func (c Change) Empty() bool { return len(c.Ticked)+len(c.Unticked) == 0 }

// Diff returns what changed from one body to another. A ticked box that is gone
// counts as unticked.
func Diff(from, to Checkboxes) Change {
	return Change{Ticked: minus(to.Ticked, from.Ticked), Unticked: minus(from.Ticked, to.Ticked)}
}

func minus(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// Undo puts a change back on a body that may have been edited since: the boxes
// it ticked are unticked there, those it unticked are ticked, all else stays.
func Undo(body string, c Change) string {
	return mark(body, func(id string, on bool) bool {
		return on && !slices.Contains(c.Ticked, id) || slices.Contains(c.Unticked, id)
	})
}

// Keep ticks the given boxes of a body; others stay as they are.
func Keep(body string, ticked []string) string {
	return mark(body, func(id string, on bool) bool { return on || slices.Contains(ticked, id) })
}

// Untick takes the ticks off the given boxes of a body.
func Untick(body string, ids ...string) string {
	return mark(body, func(id string, on bool) bool { return on && !slices.Contains(ids, id) })
}

// mark sets each box of a body to what fn says of it. Lines without a change,
// and their ends, stay byte for byte.
func mark(body string, fn func(id string, on bool) bool) string {
	lines := split(body)
	live(lines, func(i int, line string) {
		id, on, ok := boxOf(line)
		if !ok {
			return
		}
		if want := fn(id, on); want != on {
			m := boxLine.FindStringSubmatchIndex(line)
			x := " "
			if want {
				x = "x"
			}
			lines[i] = lines[i][:m[4]] + x + lines[i][m[5]:]
		}
	})
	return strings.Join(lines, "\n")
}
