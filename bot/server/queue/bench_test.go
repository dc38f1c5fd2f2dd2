package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// BenchmarkAccept stores deliveries of 20 KB from callers that send one after
// the other, through to the disk, and reports how many a second, and how long
// the slowest hundredth waits. Beside it nobody works on them, or all are.
func BenchmarkAccept(b *testing.B) {
	pgtest.Durable(b)
	for name, empty := range places {
		for _, as := range []struct {
			callers int
			working bool
		}{{64, false}, {64, true}, {8, false}, {8, true}} {
			b.Run(fmt.Sprintf("%s/callers=%d/working=%v", name, as.callers, as.working), func(b *testing.B) {
				s := empty(b).opened(b)
				if as.working {
					if err := s.Jobs.Start(context.Background(), queue.Work{Handle: func(context.Context, queue.Delivery) error { return nil }}); err != nil {
						b.Fatal(err)
					}
				}
				payload := bytes.Repeat([]byte(`{"action":"completed","workflow_run":{"id":1234567890}},`), 20_000/56)
				var next atomic.Int64
				var mu sync.Mutex
				var waits []time.Duration
				var wg sync.WaitGroup
				b.ResetTimer()
				for range as.callers {
					wg.Go(func() {
						var mine []time.Duration
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							d := delivery(fmt.Sprintf("%08x-0000-11f0-8000-000000000000", n), 0)
							d.Payload = payload
							begun := time.Now()
							if fresh, err := s.Deliveries.Accept(context.Background(), d); err != nil || !fresh {
								b.Error(fresh, err)
							}
							mine = append(mine, time.Since(begun))
						}
						mu.Lock()
						waits = append(waits, mine...)
						mu.Unlock()
					})
				}
				wg.Wait()
				b.StopTimer()
				slices.Sort(waits)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
				b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}

// BenchmarkWork works off deliveries of 20 KB that were stored before, with work that takes no time, and
// reports how many a second.
func BenchmarkWork(b *testing.B) {
	pgtest.Durable(b)
	for name, empty := range places {
		b.Run(name, func(b *testing.B) {
			s := empty(b).opened(b)
			payload := bytes.Repeat([]byte(`{"action":"completed","workflow_run":{"id":1234567890}},`), 20_000/56)
			var accepting sync.WaitGroup
			for caller := range 32 {
				accepting.Go(func() {
					for n := caller; n < b.N; n += 32 {
						d := delivery(fmt.Sprintf("%08x-0000-11f0-8000-000000000000", n), 0)
						d.Payload = payload
						if _, err := s.Deliveries.Accept(context.Background(), d); err != nil {
							b.Error(err)
						}
					}
				})
			}
			accepting.Wait()
			var left atomic.Int64
			left.Store(int64(b.N))
			done := make(chan struct{})
			b.ResetTimer()
			err := s.Jobs.Start(context.Background(), queue.Work{Handle: func(context.Context, queue.Delivery) error {
				if left.Add(-1) == 0 {
					close(done)
				}
				return nil
			}})
			if err != nil {
				b.Fatal(err)
			}
			<-done
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}
