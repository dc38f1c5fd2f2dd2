package analysis

import "io"

// FailingReader keeps the error of what it reads, for a caller of readers that hide it or put it into
// words.
type FailingReader struct {
	R   io.Reader
	Err error // nil at the end of R
}

// Read implements io.Reader.
func (f *FailingReader) Read(p []byte) (int, error) {
	n, err := f.R.Read(p)
	if err != nil && err != io.EOF {
		f.Err = err
	}
	return n, err
}
