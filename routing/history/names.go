package history

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
)

// Name is what an id stands for.
type Name struct {
	Suite, Name, File string
	Owner             string // of the file then: logins and teams with "@", separated by blanks
}

// Names are the names of the tests of a checkpoint: what the ids of its inventories stand for.
type Names struct {
	Checkpoint string
	Tests      []Name // sorted, each once
}

// The bounds of Names.
const (
	maxNames     = 1 << 20
	longestName  = 500      // bytes; a longer name is left out
	mostNamed    = 64 << 20 // bytes of all names
	namesVersion = 1
)

// NewNames returns the names of tests in any order, which it sorts in place.
func NewNames(checkpoint string, tests []Name) Names {
	slices.SortFunc(tests, func(a, b Name) int {
		if c := strings.Compare(a.Suite, b.Suite); c != 0 {
			return c
		}
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(b.File, a.File) // one with a file first
	})
	tests = slices.CompactFunc(tests, func(a, b Name) bool { return a.Suite == b.Suite && a.Name == b.Name })
	size := 0
	tests = slices.DeleteFunc(tests, func(n Name) bool {
		size += len(n.Suite) + len(n.Name) + len(n.File) + len(n.Owner)
		return max(len(n.Suite), len(n.Name), len(n.File), len(n.Owner)) > longestName || size > mostNamed
	})
	return Names{checkpoint, tests[:min(len(tests), maxNames)]}
}

var errNames = errors.New("these are no names of tests, or names that were cut")

// Pack returns the names as bytes: of each text what differs from the one before, compressed.
func (n Names) Pack() []byte {
	var raw []byte
	text := func(before, s string) {
		same := 0
		for same < len(before) && same < len(s) && before[same] == s[same] {
			same++
		}
		raw = binary.AppendUvarint(raw, uint64(same))
		raw = binary.AppendUvarint(raw, uint64(len(s)-same))
		raw = append(raw, s[same:]...)
	}
	text("", n.Checkpoint)
	before := Name{}
	for _, t := range n.Tests {
		text(before.Suite, t.Suite)
		text(before.Name, t.Name)
		text(before.File, t.File)
		text(before.Owner, t.Owner)
		before = t
	}
	out := bytes.NewBuffer(binary.AppendUvarint([]byte{namesVersion}, uint64(len(n.Tests))))
	w, err := flate.NewWriter(out, 4)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil // neither a buffer nor this level fails
	}
	return out.Bytes()
}

// UnpackNames returns the names that Pack wrote, or why they are none.
func UnpackNames(data []byte) (Names, error) {
	if len(data) < 2 || data[0] != namesVersion {
		return Names{}, errNames
	}
	count, used := binary.Uvarint(data[1:])
	if used <= 0 || count > maxNames {
		return Names{}, errNames
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[1+used:])), mostNamed+8*maxNames))
	if err != nil {
		return Names{}, errNames
	}
	bad := false
	text := func(before string) string {
		same, a := binary.Uvarint(raw)
		if a <= 0 || same > uint64(len(before)) {
			bad, raw = true, nil
			return ""
		}
		rest, b := binary.Uvarint(raw[a:])
		if b <= 0 || rest > uint64(len(raw)-a-b) {
			bad, raw = true, nil
			return ""
		}
		s := before[:same] + string(raw[a+b:a+b+int(rest)])
		raw = raw[a+b+int(rest):]
		return s
	}
	out := Names{Checkpoint: text("")}
	before := Name{}
	for range count {
		if bad {
			break
		}
		before = Name{text(before.Suite), text(before.Name), text(before.File), text(before.Owner)}
		out.Tests = append(out.Tests, before)
	}
	if bad || len(raw) > 0 {
		return Names{}, errNames
	}
	return out, nil
}
