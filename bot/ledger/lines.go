package ledger

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the name git gives a blob, no protection
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// line is one line of a stored stream: an event, and the append it came with.
type line struct {
	routing.Envelope
	Batch string `json:"batch,omitempty"`
	Prev  string `json:"prev,omitempty"` // the hash of the line before, see Chain
}

// LineError says which line of a stored stream cannot be read.
type LineError struct {
	Line int // 1-based
	Err  error
}

func (e *LineError) Error() string { return "line " + strconv.Itoa(e.Line) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Located returns err as it is told to a human: with the file in front of the
// line it names, and what to do about it.
func Located(file string, err error) error {
	var bad *LineError
	if !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return fmt.Errorf("%s:%d: %w; restore the file from its history or a copy, or delete that line and all after it: their events are then lost", file, bad.Line, bad.Err)
}

// Encode returns events as the lines that are appended to the stream of key, one
// JSON object each; Chain adds what they name of the lines before them. Batch, if any, is written into each line: it tells whose
// append the lines were. Secrets are masked: no backend gets an event without passing here.
func Encode(key, batch string, events []routing.Event) ([]byte, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i, e := range events {
		switch e.Stream {
		case key:
		case "":
			e.Stream = key
		default:
			return nil, fmt.Errorf("event %d for the stream of %q is of stream %q", i+1, key, e.Stream)
		}
		sealed, err := e.Seal()
		if err == nil {
			err = enc.Encode(line{Envelope: sealed, Batch: batch})
		}
		if err != nil {
			return nil, fmt.Errorf("event %d for the stream of %q: %w", i+1, key, err)
		}
	}
	return redact.JSON(buf.Bytes()), nil
}

// Decode returns the events of the stream of key from lines as Encode makes them. An error that
// concerns one line is a *LineError. Lines that were stored are read by DecodeStored.
func Decode(key string, data []byte) ([]routing.Event, error) {
	return decode(key, data, func(int, line, []byte) error { return nil })
}

func decode(key string, data []byte, check func(n int, l line, text []byte) error) ([]routing.Event, error) {
	var events []routing.Event
	for n := 1; len(data) > 0; n++ {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		e, err := decodeLine(text, whole)
		if err == nil && e.Stream != key {
			err = fmt.Errorf("is of stream %q, in the stream of %q", e.Stream, key)
		}
		if err == nil {
			err = check(n, e, text)
		}
		if err != nil {
			return nil, &LineError{n, err}
		}
		events, data = append(events, e.Open()), rest
	}
	return events, nil
}

func decodeLine(text []byte, whole bool) (line, error) {
	var l line
	if !whole {
		return l, errors.New("the last line is not complete")
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("is not an event: %w", err)
	}
	if l.Type == "" {
		return l, errors.New("is not an event: it has no type")
	}
	return l, nil
}

// KeyIn returns the key that the first line of a stored stream names.
func KeyIn(data []byte) (string, error) {
	text, _, whole := bytes.Cut(data, []byte("\n"))
	e, err := decodeLine(text, whole)
	if err == nil {
		err = CheckKey(e.Stream)
	}
	if err != nil {
		return "", &LineError{1, err}
	}
	return e.Stream, nil
}

// ContentVersion returns the version of a stream that is stored as data: the
// name git gives that content, so that a git server's own check compares it.
func ContentVersion(data []byte) Version {
	h := sha1.New() //nolint:gosec // see the import
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return Version(hex.EncodeToString(h.Sum(nil)))
}

// maxKey bounds a key's length in bytes.
const maxKey = 1024

// CheckKey returns an error if key cannot name a stream: it is empty, longer
// than 1024 bytes, or no UTF-8.
func CheckKey(key string) error {
	switch {
	case key == "":
		return errors.New("a case's key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("a case's key has %d bytes, %d are allowed: %.60q…", len(key), maxKey, key)
	case !utf8.ValidString(key):
		return fmt.Errorf("a case's key is not UTF-8: %q", key)
	}
	return nil
}
