package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
)

// Each stored line names the SHA-256 of the line before it in its stream, the first that of the
// stream's key. So a line that somebody changes, inserts, drops or takes from another stream does
// not fit to the line after it. Only the newest lines can be dropped unseen: Verify finds that by
// an earlier copy of the ledger.

// ErrChain says that a stored event does not follow from the one before it.
var ErrChain = errors.New("does not follow from the event before it: events were changed, inserted or removed by something else than Switchback")

// hashOf returns what a line names of the one before it, or of the stream's key.
func hashOf(previous []byte) string {
	sum := sha256.Sum256(previous)
	return hex.EncodeToString(sum[:])
}

// Chain returns lines that Encode made as they are stored behind last, the newest stored line of
// the stream of key without its end, nil if there is none.
func Chain(key string, last, lines []byte) []byte {
	if last == nil {
		last = []byte(key)
	}
	const field = `,"prev":"`
	out := make([]byte, 0, len(lines)+bytes.Count(lines, []byte("\n"))*(len(field)+2*sha256.Size+1))
	for line := range bytes.Lines(lines) {
		start := len(out)
		out = append(out, bytes.TrimSuffix(line, []byte("}\n"))...)
		out = append(append(append(out, field...), hashOf(last)...), `"}`...)
		last = out[start:len(out):len(out)]
		out = append(out, '\n')
	}
	return out
}

// follow returns lines as they are stored behind the stored lines of a stream.
func follow(key string, stored, lines []byte) []byte {
	return Chain(key, lastLine(stored), lines)
}

// Append returns the stored lines of a stream with those that Encode made behind them.
func Append(key string, stored, lines []byte) []byte {
	add := follow(key, stored, lines)
	return append(stored[:len(stored):len(stored)], add...)
}

// lastLine returns the last line of a stream without its end, nil if there is none.
func lastLine(stored []byte) []byte {
	if len(stored) == 0 {
		return nil
	}
	stored = bytes.TrimSuffix(stored, []byte("\n"))
	return stored[bytes.LastIndexByte(stored, '\n')+1:]
}

// DecodeStored returns the events of the stream of key from its stored lines, of which each follows
// from the one before it. An error that concerns one line is a *LineError; it is an ErrChain if the
// line is an event that does not follow.
func DecodeStored(key string, data []byte) ([]routing.Event, error) {
	previous := []byte(key)
	return decode(key, data, func(n int, l line, text []byte) error {
		want := hashOf(previous)
		previous = text
		switch {
		case l.Prev == want:
			return nil
		case l.Prev == "":
			return fmt.Errorf("event %d of stream %s %w (it names no event before it)", n, key, ErrChain)
		}
		return fmt.Errorf("event %d of stream %s %w", n, key, ErrChain)
	})
}
