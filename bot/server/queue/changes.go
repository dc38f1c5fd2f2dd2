package queue

import (
	"context"
	"sync"
	"time"
)

// The limits of the changes that are committed together.
const (
	mostChanges = 64
	changeTime  = 10 * time.Second
)

// change is a statement that changes one delivery.
type change struct {
	text  string
	args  []any
	into  []any // where the columns of the row that it returns are put; nil: it returns none
	found bool  // it returned a row
}

// changes records the states of deliveries: those that wait are recorded by one transaction, because a
// commit to disk takes about as long for one as for many.
type changes struct {
	queue   queue
	in      chan *pendingChange
	closing chan struct{}
	ended   sync.WaitGroup // committers
}

// pendingChange is a change that waits for its commit.
type pendingChange struct {
	*change
	answer chan error
}

// newChanges starts the committers, which end with close.
func newChanges(q queue) *changes {
	c := &changes{queue: q, in: make(chan *pendingChange), closing: make(chan struct{})}
	for range q.committers() {
		c.ended.Go(c.commit)
	}
	return c
}

// close ends the committers. The changes that they have taken are committed.
func (c *changes) close() {
	close(c.closing)
	c.ended.Wait()
}

// do commits a change. It waits for the commit also after ctx has ended: what was begun is known.
func (c *changes) do(ctx context.Context, x *change) error {
	p := &pendingChange{x, make(chan error, 1)}
	select {
	case c.in <- p:
		return <-p.answer
	case <-c.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *changes) commit() {
	for {
		select {
		case p := <-c.in:
			c.store(c.gather(p))
		case <-c.closing:
			return
		}
	}
}

// gather returns p and the changes that wait behind it.
func (c *changes) gather(p *pendingChange) []*pendingChange {
	batch := []*pendingChange{p}
	for len(batch) < mostChanges {
		select {
		case p := <-c.in:
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

// store commits changes and answers. If the transaction fails, each is committed alone, so that none
// fails because of another.
func (c *changes) store(batch []*pendingChange) {
	ctx, cancel := context.WithTimeout(context.Background(), changeTime)
	defer cancel()
	all := make([]*change, len(batch))
	for i, p := range batch {
		p.found = false
		all[i] = p.change
	}
	err := c.queue.change(ctx, all)
	if err != nil && len(batch) > 1 {
		for _, p := range batch {
			c.store([]*pendingChange{p})
		}
		return
	}
	for _, p := range batch {
		p.answer <- err
	}
}
