package queue

import (
	"context"
	"errors"
	"time"
)

// ErrClosed says that the store no longer takes anything.
var ErrClosed = errors.New("the store is closed")

// A batch is what one transaction takes: a commit that goes through to the disk
// costs about the same for one delivery as for many.
const (
	batchRows  = 256
	batchBytes = 32 << 20
	batchTime  = 30 * time.Second
)

// pending is an Accept that waits for its commit.
type pending struct {
	row
	answer chan answer // buffered: the caller may have stopped waiting
}

type answer struct {
	fresh bool
	err   error
}

// Accept stores a delivery and puts the work on it into the queue, both or, on
// an error, neither. A delivery that is already known is not fresh, and nothing
// is stored. When Accept returns without an error, the delivery is on the disk.
// An error of ctx leaves open if it was stored: let it be delivered again.
func (s *Store) Accept(ctx context.Context, d Delivery) (fresh bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	r, err := pack(d)
	if err != nil {
		return false, err
	}
	p := &pending{r, make(chan answer, 1)}
	select {
	case s.in <- p:
	case <-s.closing:
		return false, ErrClosed
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case a := <-p.answer:
		return a.fresh, a.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// commit stores what comes in, all that waits in one transaction.
func (s *Store) commit() {
	for {
		select {
		case p := <-s.in:
			s.store(s.gather(p))
		case <-s.closing:
			return
		}
	}
}

// gather returns a batch: p and whoever waits behind it.
func (s *Store) gather(p *pending) []*pending {
	batch, size := []*pending{p}, len(p.Payload)
	for len(batch) < batchRows && size < batchBytes {
		select {
		case p := <-s.in:
			batch, size = append(batch, p), size+len(p.Payload)
		default:
			return batch
		}
	}
	return batch
}

// store stores a batch and answers. If that fails, each is stored by itself, so
// that none fails because of another.
func (s *Store) store(batch []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	defer cancel()
	var rows []row
	first := map[string]*pending{}
	for _, p := range batch {
		if first[p.ID] == nil {
			first[p.ID] = p
			rows = append(rows, p.row)
		}
	}
	fresh, err := s.jobs.accept(ctx, rows)
	if err != nil && len(batch) > 1 {
		for _, p := range batch {
			s.store([]*pending{p})
		}
		return
	}
	for _, p := range batch {
		p.answer <- answer{err == nil && fresh[p.ID] && first[p.ID] == p, err}
	}
}
