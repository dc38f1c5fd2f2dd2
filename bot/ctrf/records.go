package ctrf

import (
	"encoding/binary"
	"io"
)

// records cuts what a spool gives into records.
type records struct {
	p    []byte // what is still to be cut
	rest []byte // the beginning of a record, of a piece before
	at   int64  // where p begins in the spool
}

// take gives the next piece of the spool, once next has no more of the one before.
func (r *records) take(p []byte) {
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		p = r.rest
	}
	r.p = p
}

// next returns the next record, which is nil if none ends in the piece in hand.
func (r *records) next() ([]byte, error) {
	if p := r.p; len(p) > 0 && p[0] < 0x80 && int(p[0]) < len(p) {
		end := 1 + int(p[0])
		r.p = p[end:]
		r.at += int64(end)
		return p[1:end], nil
	}
	return r.long()
}

// long is next for a record that is long or not whole.
func (r *records) long() ([]byte, error) {
	n, k := binary.Uvarint(r.p)
	if k < 0 {
		return nil, errSpool
	}
	if k == 0 || n > uint64(len(r.p)-k) {
		r.rest, r.p = append(r.rest[:0], r.p...), nil
		return nil, nil
	}
	end := k + int(n)
	record := r.p[k:end]
	r.p = r.p[end:]
	r.at += int64(end)
	return record, nil
}

// end tells whether the last record was whole.
func (r *records) end() error {
	if len(r.rest) > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}
