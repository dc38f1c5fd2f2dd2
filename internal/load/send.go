package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// sent is what came of deliveries that were sent.
type sent struct {
	bytes int
	took  time.Duration   // from the first to the last answer
	waits []time.Duration // for each answer, ascending
}

func (s sent) perSecond() float64 { return float64(len(s.waits)) / s.took.Seconds() }

// quantile returns the wait of which the part q is not longer.
func (s sent) quantile(q float64) time.Duration { return s.waits[int(q*float64(len(s.waits)-1))] }

// send sends deliveries to the servers in turn. With a rate, each a second, a
// delivery has its time, from which its wait counts whether or not the one
// before was answered; with 0 so many callers send one after the other.
func send(ctx context.Context, all []*server, deliveries []delivery, rate float64, callers int) (sent, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var out sent
	for _, d := range deliveries {
		out.bytes += len(d.body)
	}
	out.waits = make([]time.Duration, len(deliveries))
	begun := time.Now()
	one := func(i int, due time.Time) {
		if err := post(ctx, all[i%len(all)], deliveries[i]); err != nil {
			cancel(fmt.Errorf("delivery %d of %d: %w", i+1, len(deliveries), err))
		}
		out.waits[i] = time.Since(due)
	}
	var wg sync.WaitGroup
	if rate > 0 {
		for i := range deliveries {
			due := begun.Add(time.Duration(float64(i) / rate * float64(time.Second)))
			time.Sleep(time.Until(due))
			wg.Go(func() { one(i, due) })
		}
	} else {
		work := make(chan int)
		for range callers {
			wg.Go(func() {
				for i := range work {
					one(i, time.Now())
				}
			})
		}
		for i := range deliveries {
			work <- i
		}
		close(work)
	}
	wg.Wait()
	out.took = time.Since(begun)
	slices.Sort(out.waits)
	if err := context.Cause(ctx); err != nil {
		return out, err
	}
	return out, nil
}

// post sends one delivery. Any answer but 202 is an error.
func post(ctx context.Context, s *server, d delivery) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/webhook", bytes.NewReader(d.body))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(d.body)
	req.Header = http.Header{"Content-Type": {"application/json"}, "X-Github-Event": {d.event}, "X-Github-Delivery": {d.id},
		"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("answered with %d: %s", res.StatusCode, text)
	}
	return nil
}
