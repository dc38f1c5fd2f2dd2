package corpustest

// Repeated is an io.Reader that gives its text without end.
type Repeated string

func (s Repeated) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], s)
	}
	return len(p), nil
}
