package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/switchback-ci/switchback/routing"
)

// Memory is a ledger that ends with the process, for tests and for runs that cannot be recorded. The
// zero Memory is empty and ready for use.
type Memory struct {
	mu      sync.Mutex
	streams map[string][]byte
	decoded map[string]decoded
	blobs   memoryBlobs
}

// decoded is what a stream held when it was last loaded. Whoever waits loads the same again and again.
type decoded struct {
	size   int // of the stream, which only grows
	events []routing.Event
}

var _ Ledger = (*Memory)(nil)

// Load implements Ledger.
func (m *Memory) Load(ctx context.Context, key string) ([]routing.Event, Version, error) {
	if err := errors.Join(ctx.Err(), CheckKey(key)); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	data, ok := m.streams[key]
	have := m.decoded[key]
	m.mu.Unlock()
	if !ok {
		return nil, "", nil
	}
	if have.size == len(data) {
		return slices.Clone(have.events), ContentVersion(data), nil
	}
	events, err := DecodeStored(key, data)
	if err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.decoded == nil {
		m.decoded = map[string]decoded{}
	}
	m.decoded[key] = decoded{len(data), slices.Clone(events)}
	return events, ContentVersion(data), nil
}

// Append implements Ledger.
func (m *Memory) Append(ctx context.Context, key string, seen Version, events []routing.Event) (Version, error) {
	add, err := Encode(key, "", events)
	if err := errors.Join(ctx.Err(), err); err != nil || len(events) == 0 {
		return seen, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.streams[key]
	if versionOf(old, ok) != seen {
		return "", ErrConflict
	}
	if m.streams == nil {
		m.streams = map[string][]byte{}
	}
	m.streams[key] = Append(key, old, add)
	return ContentVersion(m.streams[key]), nil
}

// Keys implements Ledger.
func (m *Memory) Keys(ctx context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.streams)), ctx.Err()
}

// versionOf returns the version of a stream that may not exist.
func versionOf(data []byte, exists bool) Version {
	if !exists {
		return ""
	}
	return ContentVersion(data)
}
