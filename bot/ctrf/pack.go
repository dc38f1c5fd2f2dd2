package ctrf

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// packer writes tests into the spool as what differs from the test before:
// tests come by the million, and most share their suite, their file and the
// beginning of their name. What stands in a record is JSON already.
//
// A record is its length, then flags and the fields they announce, in the
// order of the flags; lengths and numbers are varints.
type packer struct {
	Redact      func(string) string
	last        string // name of the test before, if JSON has it as it is
	asIs        bool   // last is that name, and name is out of date
	name        []byte // in JSON, of the test before, unless asIs
	suite, file string // of the test before, as it was given
	begun       bool   // there was a test before
	text        []byte // scratch
	rec         []byte // scratch
}

// The flags of a record: a status, and the fields that it has.
const (
	packStatus   = 1<<3 - 1 // index in packed
	packSuite    = 1 << 3   // another suite than the test before
	packFile     = 1 << 4   // another file
	packMessage  = 1 << 5
	packTrace    = 1 << 6
	packLine     = 1 << 7
	packRetries  = 1 << 8
	packFlaky    = 1 << 9
	packRaw      = 1 << 10 // a raw status, which no status of ours is
	recordLength = binary.MaxVarintLen64
)

// packed are the statuses by their number in a record; the last stands for all others.
var packed = [...]testreport.Status{testreport.Passed, testreport.Failed, testreport.Skipped, testreport.Pending, testreport.Other, ""}

// pack returns the record of t, valid until the next call. Together with the
// records before it stands for what json.Marshal gives of the masked entry of t.
func (p *packer) pack(t *testreport.Test) []byte {
	flags, status := p.flags(t)
	b := append(p.rec[:0], "          "...) // space for the length
	b = binary.AppendUvarint(b, flags)
	b = binary.AppendUvarint(b, uint64(max(0, t.Duration.Milliseconds())))
	b = p.packName(b, t.Name)
	if flags&packSuite != 0 {
		p.text = p.text[:0]
		if t.Suite != "" {
			p.text = appendSuite(p.text, t.Suite, p.mask)
		}
		b, p.suite = p.packed(b), t.Suite
	}
	if flags&packFile != 0 {
		p.text = p.text[:0]
		if f := p.mask(t.File); f != "" {
			p.text = appendText(p.text, f)
		}
		b, p.file = p.packed(b), t.File
	}
	if flags&packMessage != 0 {
		b = p.packText(b, p.mask(t.Message))
	}
	if flags&packTrace != 0 {
		b = p.packText(b, p.mask(t.Trace))
	}
	if flags&packLine != 0 {
		b = binary.AppendVarint(b, int64(t.Line))
	}
	if flags&packRetries != 0 {
		b = binary.AppendVarint(b, int64(t.Retries))
	}
	if flags&packRaw != 0 {
		b = p.packText(b, status)
	}
	p.rec, p.begun = b, true
	if n := len(b) - recordLength; n < 0x80 {
		b[recordLength-1] = byte(n)
		return b[recordLength-1:]
	}
	var n [recordLength]byte
	k := binary.PutUvarint(n[:], uint64(len(b)-recordLength))
	copy(b[recordLength-k:], n[:k])
	return b[recordLength-k:]
}

// sameRecord is the most that appendSame appends.
const sameRecord = 0x80

// appendSame is pack for nearly all tests: one that passed, has what the test
// before has and a plain name that is no longer than most. It appends the
// record to b, which has space for it; nil for others.
func (p *packer) appendSame(b []byte, t *testreport.Test) []byte {
	if !p.asIs || p.Redact != nil || t.Status != testreport.Passed || t.Flaky || t.Line != 0 || t.Retries != 0 || t.Suite != p.suite || t.File != p.file {
		return nil
	}
	name, duration := t.Name, uint64(t.Duration.Milliseconds())
	if duration >= 0x80 || len(name) >= 0x70 || name == "" || name[0] <= ' ' || name[0] >= utf8.RuneSelf {
		return nil
	}
	n := shared(p.last, name)
	if n > 0 && name[n-1] >= utf8.RuneSelf || n >= 0x70 {
		return nil
	}
	rest := name[n:]
	b = append(b, byte(5+len(rest)), 0, byte(duration), byte(1+n), byte(len(rest)+1))
	at := len(b)
	b = b[:at+len(rest)+1]
	to := b[at:]
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if !plain[c] {
			return nil
		}
		to[i] = c
	}
	to[len(rest)] = '"'
	p.last = name
	return b
}

func (p *packer) flags(t *testreport.Test) (flags uint64, raw string) {
	if t.Status == testreport.Passed && !t.Flaky && p.begun && t.Line == 0 && t.Retries == 0 && t.Suite == p.suite && t.File == p.file {
		return 0, "" // nearly all tests; packed[0] is Passed
	}
	_, raw = status(t.Status)
	for flags < uint64(len(packed)-1) && packed[flags] != t.Status {
		flags++
	}
	if flags == uint64(len(packed)-1) && raw != "" {
		flags |= packRaw
	}
	set := func(has bool, f uint64) {
		if has {
			flags |= f
		}
	}
	set(!p.begun || t.Suite != p.suite, packSuite)
	set(!p.begun || t.File != p.file, packFile)
	shown := shows(t)
	set(shown && t.Message != "", packMessage)
	set(shown && t.Trace != "", packTrace)
	set(t.Line != 0, packLine)
	set(t.Retries != 0, packRetries)
	set(t.Flaky, packFlaky)
	return flags, raw
}

func (p *packer) mask(s string) string {
	if p.Redact == nil {
		return s
	}
	return p.Redact(s)
}

// packName appends how much of the name is that of the test before, and the rest.
func (p *packer) packName(b []byte, name string) []byte {
	name = p.mask(named(name))
	if p.asIs {
		n := shared(p.last, name)
		// What is shared is written alike, unless it ends inside a character.
		if rest := name[n:]; (n == 0 || name[n-1] < utf8.RuneSelf) && allPlain(rest) {
			b = binary.AppendUvarint(b, uint64(1+n))
			b = binary.AppendUvarint(b, uint64(len(rest)+1))
			p.last = name
			return append(append(b, rest...), '"')
		}
	}
	if p.asIs {
		p.name = append(append(append(p.name[:0], '"'), p.last...), '"')
	}
	p.text = appendText(p.text[:0], name)
	p.asIs = len(p.text) == len(name)+len(`""`) // what is not as it is, is longer
	p.last = name
	n := shared(p.name, p.text)
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendUvarint(b, uint64(len(p.text)-n))
	p.name = append(p.name[:n], p.text[n:]...)
	return append(b, p.text[n:]...)
}

// shared returns how many bytes a and b begin with alike.
func shared[T []byte | string](a, b T) int {
	n, least := 0, min(len(a), len(b))
	for ; n+8 <= least; n += 8 {
		if x := eight(a[n:]) ^ eight(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < least && a[n] == b[n] {
		n++
	}
	return n
}

// eight returns the first eight bytes of b, the first in the lowest.
func eight[T []byte | string](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func (p *packer) packText(b []byte, s string) []byte {
	p.text = p.text[:0]
	if s != "" {
		p.text = appendText(p.text, s)
	}
	return p.packed(b)
}

// packed appends the text in hand.
func (p *packer) packed(b []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(p.text))), p.text...)
}

// unpacker makes JSON of records, in their order.
type unpacker struct {
	name        []byte // behind begins
	suite, file []byte
	ends        []byte // what appendSame ends with, empty until it is known
	b           []byte // the record in hand
	i           int    // what was read of it
	short       bool   // it ended too early
}

var errSpool = errors.New("what was kept of the tests does not read as it was written")

// begins stands before the name of a test: a comma that parts it from the one
// before, a new line, and the key.
const begins = ",\n{\"name\":"

// appendTest appends what begins and the JSON of the test of record.
func (u *unpacker) appendTest(to, record []byte) ([]byte, error) {
	if u.name == nil {
		u.name = []byte(begins)
	}
	if len(record) > 4 && record[0] == 0 && (record[1]|record[2]|record[3]) < 0x80 && len(record) == 4+int(record[3]) && len(begins)+int(record[2]) <= len(u.name) {
		// Nearly all, by a shorter way: a test like the one before, its numbers of one byte.
		u.name = append(u.name[:len(begins)+int(record[2])], record[4:]...)
		return u.appendSame(to, uint64(record[1])), nil
	}
	u.b, u.i, u.short = record, 0, false
	flags := u.number()
	duration := u.number()
	u.name = append(u.name[:len(begins)+int(min(u.number(), uint64(len(u.name)-len(begins))))], u.text()...)
	if flags == 0 {
		if u.short || u.i < len(u.b) {
			return to, errSpool
		}
		return u.appendSame(to, duration), nil
	}
	u.ends = u.ends[:0]
	if flags&packSuite != 0 {
		u.suite = append(u.suite[:0], u.text()...)
	}
	if flags&packFile != 0 {
		u.file = append(u.file[:0], u.text()...)
	}
	status, raw := status(packed[min(flags&packStatus, uint64(len(packed)-1))])
	to = append(to, u.name...)
	to = append(append(append(to, `,"status":"`...), status...), `","duration":`...)
	to = strconv.AppendUint(to, duration, 10)
	to = appendField(to, `,"suite":`, u.suite)
	if flags&packMessage != 0 {
		to = appendField(to, `,"message":`, u.text())
	}
	if flags&packTrace != 0 {
		to = appendField(to, `,"trace":`, u.text())
	}
	line, retries := int64(0), int64(0)
	if flags&packLine != 0 {
		line = u.signed()
	}
	if flags&packRetries != 0 {
		retries = u.signed()
	}
	to = appendNumber(to, `,"line":`, line)
	switch {
	case flags&packRaw != 0:
		to = appendField(to, `,"rawStatus":`, u.text())
	case raw != "":
		to = append(append(append(to, `,"rawStatus":"`...), raw...), '"')
	}
	to = appendField(to, `,"filePath":`, u.file)
	to = appendNumber(to, `,"retries":`, retries)
	if flags&packFlaky != 0 {
		to = append(to, `,"flaky":true`...)
	}
	if u.short || u.i < len(u.b) {
		return to, errSpool
	}
	return append(to, '}'), nil
}

// appendSame is appendTest for a test that passed and has no more than its
// name, its duration and what the test before has.
func (u *unpacker) appendSame(to []byte, duration uint64) []byte {
	if len(u.ends) == 0 {
		u.ends = appendField(appendField(u.ends, `,"suite":`, u.suite), `,"filePath":`, u.file)
		u.ends = append(u.ends, '}')
	}
	to = append(to, u.name...)
	to = strconv.AppendUint(append(to, `,"status":"passed","duration":`...), duration, 10)
	return append(to, u.ends...)
}

// number takes a number off the record, 0 from one that is too short.
func (u *unpacker) number() uint64 {
	if u.i < len(u.b) && u.b[u.i] < 0x80 {
		u.i++
		return uint64(u.b[u.i-1])
	}
	v, n := binary.Uvarint(u.b[u.i:])
	return v * u.took(n)
}

func (u *unpacker) signed() int64 {
	v, n := binary.Varint(u.b[u.i:])
	return v * int64(u.took(n))
}

// took notes that a number took n bytes; it returns 0 if that is none.
func (u *unpacker) took(n int) uint64 {
	if n <= 0 {
		u.i, u.short = len(u.b), true
		return 0
	}
	u.i += n
	return 1
}

func (u *unpacker) text() []byte {
	n := u.number()
	if n > uint64(len(u.b)-u.i) {
		u.i, u.short = len(u.b), true
		return nil
	}
	u.i += int(n)
	return u.b[u.i-int(n) : u.i]
}

func appendField(b []byte, key string, json []byte) []byte {
	if len(json) == 0 {
		return b
	}
	return append(append(b, key...), json...)
}

func appendNumber(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), n, 10)
}
