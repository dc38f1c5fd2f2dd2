// Package ledger keeps append-only streams of events.
//
// A case has a stream, and so have the escalations, the surveys, the plans and the ports of a
// repository; the state of each is folded from its events (see routing.Projection). An append names
// the version of the stream that it was decided on, and is refused when others have appended since.
// Stream is how the rest of the program reads and changes one.
package ledger

import (
	"context"
	"errors"

	"github.com/switchback-ci/switchback/routing"
)

// ErrConflict says that a stream is no longer at the version that an append names. Nothing was
// appended: load, decide again, append again; Stream.Update does that.
var ErrConflict = errors.New("the stream has changed since it was read")

// Version names a state of a stream as it was read. It is opaque: only the
// ledger it came from can compare it. The zero Version is that of a stream that
// does not exist.
type Version string

// Ledger is a set of append-only streams, safe for use by many goroutines and,
// but for Memory, by many processes.
type Ledger interface {
	// Load returns the events of a stream, oldest first, and its version.
	// A stream that does not exist is nil, "", nil.
	Load(ctx context.Context, key string) ([]routing.Event, Version, error)

	// Append adds events to the stream that is at version seen, all of them or
	// none, and returns the version it is then at. It returns ErrConflict if the
	// stream is at another version. Without an error the events outlive the
	// process. An event's Case is the key, or empty and then becomes the key.
	// No events change nothing.
	Append(ctx context.Context, key string, seen Version, events []routing.Event) (Version, error)

	// Keys returns the keys of all streams, sorted.
	Keys(ctx context.Context) ([]string, error)
}
