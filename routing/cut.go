package routing

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/switchback-ci/switchback/routing/history"
)

// CutFailure is what is kept of a failure beyond those that a ledger keeps in full: enough to
// compare it with the failures of other runs.
type CutFailure struct {
	Suite string
	Name  string
	Kind  string
	Class Class
	Print uint64 // history.FingerprintOf its fingerprint

	PreExisting bool // it stands on the base
	Quarantined bool // it does not count
}

// CutFailures are packed in JSON: their names are alike, and a ledger holds them for each run.
type CutFailures []CutFailure

// Cut returns what is kept of f where it is not kept in full.
func (f Failure) Cut() CutFailure {
	return CutFailure{
		Suite: f.Suite, Name: f.Name, Kind: f.Kind, Class: f.Class, Print: history.FingerprintOf(f.Fingerprint),
		PreExisting: f.Standing == history.StandingPreExisting, Quarantined: f.Quarantined,
	}
}

// failure returns c as a failure without texts, and without its fingerprint.
func (c CutFailure) failure() Failure {
	f := Failure{Suite: c.Suite, Name: c.Name, Kind: c.Kind, Class: c.Class, Quarantined: c.Quarantined}
	if c.PreExisting {
		f.Standing = history.StandingPreExisting
	}
	return f
}

// comparable is that of the failure, with its fingerprint.
func (c CutFailure) comparable() bool {
	f := c.failure()
	f.Fingerprint = "known"
	return c.Print != 0 && f.Comparable()
}

// Unlisted returns how many failures of v are not known by name.
func (v Verdict) Unlisted() int { return max(0, v.Dropped-len(v.Cut)) }

const (
	cutVersion   = 1
	maxCut       = 1 << 20 // refuses a number that was made up
	maxCutBytes  = 16 << 20
	flagOld      = 1
	flagExcused  = 2
	flagSameLike = 4 // suite, kind and class are those of the failure before
)

var errCut = errors.New("these are no names of failures, or names that were cut")

// Size returns the bytes of c in JSON.
func (c CutFailures) Size() int { return base64.StdEncoding.EncodedLen(len(c.pack())) + 2 }

func (c CutFailures) pack() []byte {
	var raw []byte
	text := func(s string) { raw = append(binary.AppendUvarint(raw, uint64(len(s))), s...) }
	for i, f := range c {
		flags := byte(0)
		if f.PreExisting {
			flags |= flagOld
		}
		if f.Quarantined {
			flags |= flagExcused
		}
		alike := i > 0 && c[i-1].Suite == f.Suite && c[i-1].Kind == f.Kind && c[i-1].Class == f.Class
		if alike {
			flags |= flagSameLike
		}
		raw = append(raw, flags)
		text(f.Name)
		if !alike {
			text(f.Suite)
			text(f.Kind)
			text(string(f.Class))
		}
	}
	for _, f := range c { // apart, since they do not compress
		raw = binary.LittleEndian.AppendUint64(raw, f.Print)
	}
	of := sha256.Sum256(raw)
	if p := lastPacked.Load(); p != nil && p.of == of {
		return slices.Clone(p.data)
	}
	out := bytes.NewBuffer(binary.AppendUvarint([]byte{cutVersion}, uint64(len(c))))
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(out)
	_, err := w.Write(raw)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil // a buffer does not fail
	}
	lastPacked.Store(&packed{of, slices.Clone(out.Bytes())})
	return out.Bytes()
}

// packed are names and what pack made of them.
type packed struct {
	of   [sha256.Size]byte
	data []byte
}

// lastPacked are the names packed last. The same are packed again for their size, for the event of a
// run and for its id, and compressing costs most.
var lastPacked atomic.Pointer[packed]

// compressors are kept, since one takes more memory than all that it compresses, and names are packed
// several times until they fit.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestCompression)
	if err != nil {
		panic(err) // the level is known
	}
	return w
}}

// MarshalJSON implements json.Marshaler.
func (c CutFailures) MarshalJSON() ([]byte, error) { return json.Marshal(c.pack()) }

// UnmarshalJSON implements json.Unmarshaler.
func (c *CutFailures) UnmarshalJSON(data []byte) error {
	var packed []byte
	if err := json.Unmarshal(data, &packed); err != nil {
		return err
	}
	if len(packed) == 0 {
		*c = nil
		return nil
	}
	n, used := binary.Uvarint(packed[1:])
	if packed[0] != cutVersion || used <= 0 || n > maxCut {
		return errCut
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed[1+used:])), maxCutBytes))
	if err != nil || uint64(len(raw)) < 10*n {
		return errCut
	}
	r := cutReader{left: raw}
	out := make(CutFailures, n)
	for i := range out {
		flags := r.byte()
		f := CutFailure{Name: r.text(), PreExisting: flags&flagOld != 0, Quarantined: flags&flagExcused != 0}
		if flags&flagSameLike != 0 && i > 0 {
			f.Suite, f.Kind, f.Class = out[i-1].Suite, out[i-1].Kind, out[i-1].Class
		} else {
			f.Suite, f.Kind, f.Class = r.text(), r.text(), Class(r.text())
		}
		out[i] = f
	}
	if r.bad || len(r.left) != 8*len(out) {
		return errCut
	}
	for i := range out {
		out[i].Print = binary.LittleEndian.Uint64(r.left[8*i:])
	}
	*c = out
	return nil
}

// cutReader reads what pack wrote; once something is missing all else is empty.
type cutReader struct {
	left []byte
	bad  bool
}

func (r *cutReader) byte() byte {
	if len(r.left) == 0 {
		r.bad = true
		return 0
	}
	b := r.left[0]
	r.left = r.left[1:]
	return b
}

func (r *cutReader) text() string {
	n, used := binary.Uvarint(r.left)
	if used <= 0 || n > uint64(len(r.left)-used) {
		r.bad = true
		return ""
	}
	s := string(r.left[used : used+int(n)])
	r.left = r.left[used+int(n):]
	return s
}
