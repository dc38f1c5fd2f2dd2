package routing

import "fmt"

// Projection says how the state of a stream follows from its events.
type Projection[S any] struct {
	// New returns the state of the stream of key before its first event. Apply may change it.
	New func(key string) S
	// Clone returns a copy that Apply may change without changing the original. It may be nil
	// where Apply never changes what it is given.
	Clone func(S) S
	// Apply returns the state after an event, or why the event does not follow.
	Apply func(S, Event) (S, error)
}

// Fold returns the state of the stream of key, which may be empty for a projection that does not
// need it. An event that does not follow from those before
// it is an error that names its place: this project never wrote such a stream.
func (p Projection[S]) Fold(key string, events []Event) (S, error) {
	return p.extend(p.New(key), key, 0, events)
}

// Extend returns the state after more events of a stream of which s is the state after seen
// events. It leaves s as it is, and clones it once however many the events are.
func (p Projection[S]) Extend(s S, key string, seen int, events []Event) (S, error) {
	if p.Clone != nil && len(events) > 0 {
		s = p.Clone(s)
	}
	return p.extend(s, key, seen, events)
}

func (p Projection[S]) extend(s S, key string, seen int, events []Event) (S, error) {
	for i, e := range events {
		next, err := p.Apply(s, e)
		if err != nil {
			if key == "" {
				key = e.Stream
			}
			return s, fmt.Errorf("event %d of stream %s: %w", seen+i+1, key, err)
		}
		s = next
	}
	return s, nil
}
