package ctrf

import (
	"io"
	"os"
)

const (
	inMemory = 1 << 20
	chunk    = 256 << 10
)

// spool keeps bytes in the order they are written: the first in memory, the
// rest in a temporary file.
type spool struct {
	memory int64 // bytes held before a file is begun
	size   int64
	chunks [][]byte // full ones in memory
	file   *os.File // what stands behind them
	last   []byte   // what stands behind all that
}

// reserve returns the current chunk, to which up to n bytes can be appended
// without moving it; took gives it back.
func (s *spool) reserve(n int) ([]byte, error) {
	if s.file == nil && s.size+int64(n) > s.memory {
		f, err := os.CreateTemp("", "switchback-ctrf-*")
		if err != nil {
			return nil, err
		}
		s.chunks, s.file, s.last = append(s.chunks, s.last), f, nil
	}
	if len(s.last)+n > cap(s.last) {
		if err := s.next(n); err != nil {
			return nil, err
		}
	}
	return s.last, nil
}

// next puts the chunk in hand away and begins one with space for n bytes.
func (s *spool) next(n int) error {
	switch {
	case len(s.last) == 0:
	case s.file == nil:
		s.chunks, s.last = append(s.chunks, s.last), nil
	default:
		if _, err := s.file.Write(s.last); err != nil {
			return err
		}
		s.last = s.last[:0]
	}
	if n > cap(s.last) {
		s.last = make([]byte, 0, max(chunk, n))
	}
	return nil
}

// took takes the chunk in return for a fix, to which something was appended.
func (s *spool) took(b []byte) {
	s.size += int64(len(b) - len(s.last))
	s.last = b
}

func (s *spool) write(p []byte) error {
	b, err := s.reserve(len(p))
	if err == nil {
		s.took(append(b, p...))
	}
	return err
}

// each gives fn all that was written, piece by piece. It may be called again.
// It returns the first error of fn.
func (s *spool) each(fn func(p []byte) error) error {
	for _, c := range s.chunks {
		if err := fn(c); err != nil {
			return err
		}
	}
	if s.file != nil {
		if err := s.spilled(fn); err != nil {
			return err
		}
	}
	return fn(s.last)
}

// spilled gives fn what stands in the file.
func (s *spool) spilled(fn func(p []byte) error) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b := make([]byte, chunk)
	for {
		n, err := s.file.Read(b)
		if err := fn(b[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	_ = s.file.Close()
	return os.Remove(s.file.Name())
}
