package queue

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed is the error of Accept after Close.
var ErrClosed = errors.New("the store is closed")

// The limits of a batch, which is stored by one transaction: a commit to disk takes about the same
// time for one delivery as for many.
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

// intake stores incoming deliveries in batches.
type intake struct {
	queue   queue
	in      chan *pending
	closing chan struct{}
	ended   sync.WaitGroup // committers
}

// newIntake starts the committers, which end with close.
func newIntake(q queue) *intake {
	i := &intake{queue: q, in: make(chan *pending), closing: make(chan struct{})}
	for range q.committers() {
		i.ended.Go(i.commit)
	}
	return i
}

func (i *intake) close() {
	close(i.closing)
	i.ended.Wait()
}

// Accept stores a delivery and enqueues its job, both or, on an error, neither. When it returns
// without an error, the delivery is on disk. fresh is false if a delivery of its id or its digest was
// stored before. An error of ctx does not tell whether it was stored; GitHub has to send it again.
func (d *Deliveries) Accept(ctx context.Context, x Delivery) (fresh bool, err error) {
	return d.incoming.accept(ctx, x)
}

func (i *intake) accept(ctx context.Context, d Delivery) (fresh bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	r, err := pack(d)
	if err != nil {
		return false, err
	}
	p := &pending{r, make(chan answer, 1)}
	select {
	case i.in <- p:
	case <-i.closing:
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

// commit stores incoming deliveries until close, all that wait in one transaction.
func (i *intake) commit() {
	for {
		select {
		case p := <-i.in:
			i.store(i.gather(p))
		case <-i.closing:
			return
		}
	}
}

// gather returns a batch of p and the deliveries that wait behind it.
func (i *intake) gather(p *pending) []*pending {
	batch, size := []*pending{p}, len(p.Payload)
	for len(batch) < batchRows && size < batchBytes {
		select {
		case p := <-i.in:
			batch, size = append(batch, p), size+len(p.Payload)
		default:
			return batch
		}
	}
	return batch
}

// store stores a batch and answers. If the transaction fails, each delivery is stored alone, so
// that none fails because of another.
func (i *intake) store(batch []*pending) {
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
	fresh, err := i.queue.accept(ctx, rows)
	if err != nil && len(batch) > 1 {
		for _, p := range batch {
			i.store([]*pending{p})
		}
		return
	}
	for _, p := range batch {
		p.answer <- answer{err == nil && fresh[p.ID] && first[p.ID] == p, err}
	}
}
