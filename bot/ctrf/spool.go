package ctrf

import (
	"bufio"
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
	chunks [][]byte
	file   *os.File
	w      *bufio.Writer
}

func (s *spool) write(p []byte) error {
	if s.file == nil && s.size+int64(len(p)) > s.memory {
		f, err := os.CreateTemp("", "switchback-ctrf-*")
		if err != nil {
			return err
		}
		s.file, s.w = f, bufio.NewWriterSize(f, chunk)
	}
	s.size += int64(len(p))
	if s.file != nil {
		_, err := s.w.Write(p)
		return err
	}
	n := len(s.chunks) - 1
	if n < 0 || len(s.chunks[n])+len(p) > cap(s.chunks[n]) {
		s.chunks = append(s.chunks, make([]byte, 0, max(chunk, len(p))))
		n++
	}
	s.chunks[n] = append(s.chunks[n], p...)
	return nil
}

// each gives fn all that was written, piece by piece. It may be called again.
// It returns the first error of fn.
func (s *spool) each(fn func(p []byte) error) error {
	for _, c := range s.chunks {
		if err := fn(c); err != nil {
			return err
		}
	}
	if s.file == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
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
