// Package history compares the tests of a run with those of earlier runs. It is pure: it knows no
// clock, network or file, and the packages that record runs give it what they have kept.
package history

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"
	"time"
)

// ID is the stable id of a test: a hash of its checkpoint, suite and name.
type ID uint64

// TestID returns the id of a test.
func TestID(checkpoint, suite, name string) ID { return ID(hash(checkpoint, suite, name)) }

// FingerprintOf returns the short form of a failure's fingerprint, 0 for none.
func FingerprintOf(text string) uint64 {
	if text == "" {
		return 0
	}
	return max(hash(text), 1)
}

// hash is FNV-1a over texts, each followed by a byte that no UTF-8 text holds.
func hash(texts ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, t := range texts {
		for i := range len(t) {
			h = (h ^ uint64(t[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	return h
}

// Status is how a test ended.
type Status uint8

// The statuses. Flaky is a test that failed and then passed within one run.
const (
	Passed Status = iota
	Skipped
	Flaky
	Failed
)

func (s Status) String() string {
	switch s {
	case Skipped:
		return "skipped"
	case Flaky:
		return "flaky"
	case Failed:
		return "failed"
	}
	return "passed"
}

// Test is one test of a run.
type Test struct {
	ID          ID
	Fingerprint uint64 // of the failure, 0 where it has none
	Status      Status
	Steps       uint8 // duration, see StepsOf
}

// StepsOf returns a duration in coarse steps, each twice as long as the one before: 0 is less than a
// millisecond, 1 less than two, 11 about a second.
func StepsOf(d time.Duration) uint8 {
	return uint8(bits.Len64(uint64(max(d, 0) / time.Millisecond)))
}

// Inventory is what is known of the tests of one run, in the order of their ids. A test that is
// listed with several failures stands in it once for each.
type Inventory struct {
	Tests   []Test
	Partial bool // tests that passed may be missing
}

// New returns the inventory of tests in any order, which it sorts in place. A failure without
// fingerprint is left out where the same test has one.
func New(tests []Test, partial bool) Inventory {
	slices.SortFunc(tests, compareTests)
	out := tests[:0]
	for _, t := range tests {
		if n := len(out); n > 0 && out[n-1].ID == t.ID && out[n-1].Status == t.Status {
			last := &out[n-1]
			if last.Fingerprint == t.Fingerprint {
				continue
			}
			if last.Fingerprint == 0 {
				last.Fingerprint = t.Fingerprint
				continue
			}
		}
		out = append(out, t)
	}
	return Inventory{out, partial}
}

func compareTests(a, b Test) int {
	if a.ID != b.ID {
		return cmp.Compare(a.ID, b.ID)
	}
	return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Fingerprint, b.Fingerprint))
}

// Of returns what stands of one test.
func (inv Inventory) Of(id ID) []Test {
	at, _ := slices.BinarySearchFunc(inv.Tests, id, func(t Test, id ID) int { return cmp.Compare(t.ID, id) })
	end := at
	for end < len(inv.Tests) && inv.Tests[end].ID == id {
		end++
	}
	return inv.Tests[at:end]
}

// Unpassed returns the inventory without the tests that passed.
func (inv Inventory) Unpassed() Inventory {
	out := Inventory{Partial: true}
	for _, t := range inv.Tests {
		if t.Status != Passed {
			out.Tests = append(out.Tests, t)
		}
	}
	return out
}

const (
	formatVersion = 1
	flagPartial   = 1
	maxTests      = 4 << 20 // refuses a length that was made up
)

var errFormat = errors.New("this is no inventory of tests, or one that was cut")

// Pack returns the inventory as bytes: ids as distances to the one before, since they hardly
// compress; statuses, durations and fingerprints compressed, since most tests pass as quickly as
// others.
func (inv Inventory) Pack() []byte {
	const step = 7 // bytes of most distances, if there are many tests
	out := append(make([]byte, 0, 16+step*len(inv.Tests)), formatVersion, 0)
	if inv.Partial {
		out[1] = flagPartial
	}
	out = binary.AppendUvarint(out, uint64(len(inv.Tests)))
	rest := make([]byte, 0, len(inv.Tests)+64)
	before := ID(0)
	for _, t := range inv.Tests {
		out = binary.AppendUvarint(out, uint64(t.ID-before))
		before = t.ID
		rest = append(rest, byte(t.Status)<<6|min(t.Steps, 0x3f))
	}
	for _, t := range inv.Tests {
		if t.Status == Failed {
			rest = binary.LittleEndian.AppendUint64(rest, t.Fingerprint)
		}
	}
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(rest)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil // neither a buffer nor this level fails
	}
	return append(out, buf.Bytes()...)
}

// Unpack returns the inventory that Pack wrote, or why it is none.
func Unpack(data []byte) (Inventory, error) {
	if len(data) < 3 || data[0] != formatVersion {
		return Inventory{}, errFormat
	}
	inv := Inventory{Partial: data[1]&flagPartial != 0}
	data = data[2:]
	n, used := binary.Uvarint(data)
	if used <= 0 || n > min(maxTests, uint64(len(data))) {
		return Inventory{}, errFormat
	}
	data = data[used:]
	inv.Tests = make([]Test, n)
	id := ID(0)
	for i := range inv.Tests {
		step, used := binary.Uvarint(data)
		if used <= 0 {
			return Inventory{}, errFormat
		}
		data = data[used:]
		id += ID(step)
		inv.Tests[i].ID = id
	}
	return inv, inv.unpackRest(data)
}

func (inv Inventory) unpackRest(data []byte) error {
	r := flate.NewReader(bytes.NewReader(data))
	state := make([]byte, len(inv.Tests))
	if _, err := io.ReadFull(r, state); err != nil {
		return errFormat
	}
	failed := 0
	for i, b := range state {
		inv.Tests[i].Status, inv.Tests[i].Steps = Status(b>>6), b&0x3f
		if inv.Tests[i].Status == Failed {
			failed++
		}
	}
	prints := make([]byte, 8*failed)
	if _, err := io.ReadFull(r, prints); err != nil {
		return errFormat
	}
	for i := range inv.Tests {
		if inv.Tests[i].Status == Failed {
			inv.Tests[i].Fingerprint = binary.LittleEndian.Uint64(prints)
			prints = prints[8:]
		}
	}
	return nil
}
