package analysis

import (
	"encoding/binary"
	"strings"

	"github.com/switchback-ci/switchback/routing/history"
)

// blockSize is how many values are held together, and textBlock how many bytes of names. A list that
// grows as a whole leaves several times its size to the garbage collector.
const (
	blockSize = 4 << 10
	textBlock = 64 << 10
)

// blocks is a list that grows without being copied.
type blocks[T any] [][]T

func (b *blocks[T]) add(v T) {
	n := len(*b)
	if n == 0 || len((*b)[n-1]) == blockSize {
		size := 64
		if n > 0 {
			size = blockSize
		}
		*b = append(*b, make([]T, 0, size))
		n++
	}
	(*b)[n-1] = append((*b)[n-1], v)
}

func (b blocks[T]) len() int {
	n := 0
	for _, of := range b {
		n += len(of)
	}
	return n
}

// heldTests holds the tests of a source in a third of what they take with their names, and without
// pointers: they are most of what a run keeps in memory, and the garbage collector, which runs more
// often the more is kept, follows each pointer every time.
type heldTests struct {
	ids  blocks[history.ID]
	ends blocks[uint8] // status and steps
	// names are those of the first tests, one after the other. Each is a byte that says which of suite
	// and file are others than those of the test before, these texts, and the name: how many bytes it
	// shares with the one before, and the rest. A text follows its length.
	names [][]byte
	named int // tests whose names are held
	size  int // bytes of the texts of names, shared ones included

	last     history.Name // the one added last
	compared int          // tests whose names a later run is compared with
}

const (
	otherSuite = 1 << iota
	otherFile
)

// add adds a test without its name.
func (h *heldTests) add(id history.ID, s history.Status, steps uint8) {
	h.ids.add(id)
	h.ends.add(uint8(s)<<6 | min(steps, 0x3f)) // an inventory keeps no more of the steps
}

// name adds the name of the test that was added last. The tests before it have theirs.
func (h *heldTests) name(n history.Name) {
	b := h.space(len(n.Suite) + len(n.Name) + len(n.File))
	flags := byte(0)
	if n.Suite != h.last.Suite {
		flags |= otherSuite
	}
	if n.File != h.last.File {
		flags |= otherFile
	}
	b = append(b, flags)
	if flags&otherSuite != 0 {
		b = appendText(b, n.Suite)
		h.size += len(n.Suite)
	}
	if flags&otherFile != 0 {
		b = appendText(b, n.File)
		h.size += len(n.File)
	}
	same := shared(h.last.Name, n.Name)
	b = appendText(binary.AppendUvarint(b, uint64(same)), n.Name[same:])
	h.size += len(n.Name)
	h.names[len(h.names)-1] = b
	h.named++
	h.last = n
}

// space returns the block of names that texts of n bytes together fit into.
func (h *heldTests) space(n int) []byte {
	n += 1 + 4*binary.MaxVarintLen32
	if last := len(h.names) - 1; last >= 0 && cap(h.names[last])-len(h.names[last]) >= n {
		return h.names[last]
	}
	size := 4 << 10
	if len(h.names) > 0 {
		size = textBlock
	}
	b := make([]byte, 0, max(size, n))
	h.names = append(h.names, b)
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// shared returns how many bytes two texts have in common at their start.
func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// appendTo appends the tests, without fingerprints, to a list.
func (h *heldTests) appendTo(list []history.Test) []history.Test {
	for i, ids := range h.ids {
		for k, id := range ids {
			end := h.ends[i][k]
			list = append(list, history.Test{ID: id, Status: history.Status(end >> 6), Steps: end & 0x3f})
		}
	}
	return list
}

// appendNamed appends the first most of the tests that have their names held to a list.
func (h *heldTests) appendNamed(list []history.Named, most int) []history.Named {
	names := h.unpack(most)
	for i, ids := range h.ids {
		for k, id := range ids[:min(len(ids), len(names))] {
			list = append(list, history.Named{ID: id, Status: history.Status(h.ends[i][k] >> 6), Suite: names[k].Suite, Name: names[k].Name, File: names[k].File})
		}
		names = names[min(len(ids), len(names)):]
	}
	return list
}

// unpack returns the first most names. Their texts are parts of a single one.
func (h *heldTests) unpack(most int) []history.Name {
	out := make([]history.Name, 0, min(most, h.named))
	text := strings.Builder{}
	text.Grow(h.size)
	var last history.Name
	for _, b := range h.names {
		for len(b) > 0 && len(out) < cap(out) {
			flags := b[0]
			b = b[1:]
			if flags&otherSuite != 0 {
				last.Suite, b = takeText(&text, "", b)
			}
			if flags&otherFile != 0 {
				last.File, b = takeText(&text, "", b)
			}
			same, n := binary.Uvarint(b)
			last.Name, b = takeText(&text, last.Name[:same], b[n:])
			out = append(out, last)
		}
	}
	return out
}

// takeText reads a text that begins with same, writes it to the end of text, and returns it as a part
// of text with what is left of b.
func takeText(text *strings.Builder, same string, b []byte) (string, []byte) {
	rest, n := binary.Uvarint(b)
	b = b[n:]
	at := text.Len()
	text.WriteString(same)
	text.Write(b[:rest])
	return text.String()[at:], b[rest:]
}
