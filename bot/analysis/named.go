package analysis

import "github.com/switchback-ci/switchback/routing/history"

// blockSize is how many values, or bytes of names, are held together. A list that grows as a whole
// leaves several times its size to the garbage collector.
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

// joined returns the values of all lists, with capacity for more.
func joined[T any](lists []blocks[T], more int) []T {
	for _, l := range lists {
		more += l.len()
	}
	out := make([]T, 0, more)
	for _, l := range lists {
		for _, b := range l {
			out = append(out, b...)
		}
	}
	return out
}

// namedTests holds tests with their names and without pointers to them: the garbage collector follows
// each pointer of all tests again and again while they are read.
type namedTests struct {
	texts [][]byte // names one after the other
	tests blocks[namedTest]

	suite, file         string // of the test before, most often also of the next
	suiteSpan, fileSpan span
}

type namedTest struct {
	id                history.ID
	status            history.Status
	suite, name, file span
}

// span is a text of namedTests.
type span struct{ block, at, n uint32 }

func (n *namedTests) add(t history.Named) {
	if t.Suite != n.suite {
		n.suite, n.suiteSpan = t.Suite, n.text(t.Suite)
	}
	if t.File != n.file {
		n.file, n.fileSpan = t.File, n.text(t.File)
	}
	n.tests.add(namedTest{t.ID, t.Status, n.suiteSpan, n.text(t.Name), n.fileSpan})
}

func (n *namedTests) text(s string) span {
	last := len(n.texts) - 1
	if last < 0 || len(n.texts[last])+len(s) > cap(n.texts[last]) {
		n.texts = append(n.texts, make([]byte, 0, max(textBlock, len(s))))
		last++
	}
	at := len(n.texts[last])
	n.texts[last] = append(n.texts[last], s...)
	return span{uint32(last), uint32(at), uint32(len(s))}
}

// appendTo appends the tests to a list.
func (n *namedTests) appendTo(list []history.Named) []history.Named {
	texts := make([]string, len(n.texts))
	for i, b := range n.texts {
		texts[i] = string(b)
	}
	of := func(s span) string {
		if s.n == 0 {
			return ""
		}
		return texts[s.block][s.at : s.at+s.n]
	}
	for _, b := range n.tests {
		for _, t := range b {
			list = append(list, history.Named{ID: t.id, Status: t.status, Suite: of(t.suite), Name: of(t.name), File: of(t.file)})
		}
	}
	return list
}
