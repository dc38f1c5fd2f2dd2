package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

func sender(n byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, n}) }

// fill makes bodies of an address until a pool is full, and returns how many gave way later.
func fill(t *testing.T, b *bodies, from netip.Addr, size int64, n int) (stopped *int) {
	t.Helper()
	stopped = new(int)
	for i := range n {
		if err := b.reserve(t.Context(), b.begin(from, func() { *stopped++ }), size); err != nil {
			t.Fatalf("body %d: %v", i, err)
		}
	}
	return stopped
}

// TestS6_15_BodiesGiveWay is S6-15: bodies that hold all memory give way, at once to an address that
// has sent a signed one, and otherwise within a second.
func TestS6_15_BodiesGiveWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		size   int64
		all    int
		proven bool // the address that asks
		rivals bool // the addresses that hold all memory
		same   bool // they are one
		most   time.Duration
	}{
		{"a small one of a proven address", firstRead, smallMemory / firstRead, true, false, false, 0},
		{"a large one of a proven address", queue.MaxPayload, 6, true, false, false, 0},
		{"a small one of a new address", firstRead, smallMemory / firstRead, false, false, false, smallTime},
		{"a large one of a new address", queue.MaxPayload, 6, false, false, false, largeTime},
		{"a small one through the same proxy", firstRead, smallMemory / firstRead, true, true, true, smallTime},
		{"a large one through the same proxy", queue.MaxPayload, 6, true, true, true, largeTime},
		{"a large one among proven addresses", queue.MaxPayload, 6, true, true, false, largeTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBodies(time.Now)
				from, rival := sender(1), sender(2)
				if c.same {
					rival = from
				}
				if c.proven {
					b.prove(from)
				}
				if c.rivals {
					b.prove(rival)
				}
				stopped := fill(t, b, rival, c.size, c.all)
				began := time.Now()
				x := b.begin(from, func() { t.Error("it gave way itself") })
				if err := b.reserve(t.Context(), x, c.size); err != nil || time.Since(began) > c.most || *stopped != 1 {
					t.Errorf("%v after %v, %d gave way", err, time.Since(began), *stopped)
				}
				b.end(x)
			})
		})
	}
}

// A large body never keeps a small one waiting, and one that is proven is not taken from by others.
func TestS6_15_PoolsAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(time.Now)
		stopped := fill(t, b, sender(2), queue.MaxPayload, 6)
		if err := b.reserve(t.Context(), b.begin(sender(1), nil), firstRead); err != nil || *stopped != 0 {
			t.Errorf("%v, %d gave way", err, *stopped)
		}
		b.prove(sender(2))
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), answerIn)
		defer cancel()
		if err := b.reserve(ctx, b.begin(sender(1), nil), queue.MaxPayload); !errors.Is(err, errBusy) || *stopped != 0 {
			t.Errorf("%v, %d of a proven address gave way", err, *stopped)
		}
		time.Sleep(provenTime)
		if err := b.reserve(t.Context(), b.begin(sender(1), nil), queue.MaxPayload); err != nil || *stopped != 1 {
			t.Errorf("%v, %d gave way a day later", err, *stopped)
		}
		for n := range provenMost + 100 {
			b.prove(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
		}
		if len(b.proven) > provenMost {
			t.Errorf("%d addresses are remembered", len(b.proven))
		}
	})
}

// TestS6_15_SmallestIsNext is S6-15: among those that wait for memory a smaller body comes first, so
// that many that wait for the largest do not delay the others.
func TestS6_15_SmallestIsNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(time.Now)
		fill(t, b, sender(1), queue.MaxPayload, 6)
		for range 24 {
			go func() {
				x := b.begin(sender(1), func() {})
				if b.reserve(t.Context(), x, queue.MaxPayload) == nil {
					time.Sleep(answerIn)
					b.end(x)
				}
			}()
		}
		synctest.Wait()
		time.Sleep(time.Millisecond)
		for range 5 {
			began := time.Now()
			x := b.begin(sender(1), func() { t.Error("it gave way") })
			if err := b.reserve(t.Context(), x, 5<<20); err != nil || time.Since(began) > largeTime {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			b.end(x)
		}
		time.Sleep(time.Hour)
	})
}

// TestS6_15_WaitingIsNotReading is S6-15: a body that had to wait for its memory has as long as any
// other from when it has it.
func TestS6_15_WaitingIsNotReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(time.Now)
		b.prove(sender(1))
		var before []*body
		for range 6 {
			y := b.begin(sender(1), func() {})
			if err := b.reserve(t.Context(), y, queue.MaxPayload); err != nil {
				t.Fatal(err)
			}
			before = append(before, y)
		}
		var gone time.Time
		x := b.begin(sender(1), func() { gone = time.Now() })
		began := time.Now()
		if err := b.reserve(t.Context(), x, queue.MaxPayload); err != nil || time.Since(began) != largeTime {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		given := time.Now()
		for _, y := range before {
			b.end(y)
		}
		time.Sleep(time.Millisecond) // so that x is the oldest
		fill(t, b, sender(1), queue.MaxPayload, 5)
		if err := b.reserve(t.Context(), b.begin(sender(1), func() {}), queue.MaxPayload); err != nil || gone.Sub(given) != largeTime {
			t.Errorf("%v, it gave way after %v", err, gone.Sub(given))
		}
	})
}

// TestS6_15_SteadyIsKept is S6-15: a body that had to wait for its memory and is then sent slowly,
// but steadily, is read to its end while others of the same address are begun and left.
func TestS6_15_SteadyIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(time.Now)
		b.prove(sender(1))
		fill(t, b, sender(1), queue.MaxPayload, 6)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 24 {
			go func() {
				for ctx.Err() == nil {
					stopped := make(chan struct{})
					x := b.begin(sender(1), func() { close(stopped) })
					if b.reserve(ctx, x, queue.MaxPayload) == nil {
						<-stopped
					}
				}
			}()
		}
		time.Sleep(time.Minute)
		x := b.begin(sender(1), func() { t.Error("it gave way") })
		if err := b.reserve(ctx, x, 5<<20); err != nil {
			t.Fatal(err)
		}
		for range 5 << 20 / firstRead {
			time.Sleep(2 * largeTime * firstRead / (6 << 20)) // somewhat less than twice largeTime for all of it
			b.advance(x)
		}
		b.end(x)
		cancel()
		for y := range b.large.readers {
			y.stop()
		}
	})
}

// TestS6_15_FewWait is S6-15: who waits for memory is bounded, and the newest stay.
func TestS6_15_FewWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(time.Now)
		b.prove(sender(2))
		fill(t, b, sender(2), queue.MaxPayload, 6)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stopped := 0
		var mu sync.Mutex // guards stopped and failed
		var failed []error
		for range mostWaiting + 10 {
			go func() {
				err := b.reserve(ctx, b.begin(sender(1), func() { mu.Lock(); stopped++; mu.Unlock() }), queue.MaxPayload)
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}()
			synctest.Wait()
			time.Sleep(time.Microsecond)
		}
		mu.Lock()
		defer mu.Unlock()
		if stopped != 10 || len(b.large.waiting) != mostWaiting || len(failed) != 10 || !errors.Is(failed[0], errBusy) {
			t.Errorf("%d gave way, %d wait, errors %v", stopped, len(b.large.waiting), failed)
		}
		mu.Unlock()
		cancel()
		synctest.Wait()
		mu.Lock()
		if len(b.large.waiting) != 0 {
			t.Errorf("%d wait for nothing", len(b.large.waiting))
		}
	})
}

// TestS6_15_ConnectionsGiveWay is S6-15: connections that send no request give way to new ones, and
// those that do, do not.
func TestS6_15_ConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	hold, held := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			close(held)
			<-hold
		}
		_, _ = io.WriteString(w, "ok")
	}))
	bound(s.Config, 20)
	s.Start()
	defer s.Close()
	at := s.Listener.Addr().String()
	answer := make(chan error, 1)
	go func() {
		res, err := http.Get(s.URL + "/hold")
		if err == nil {
			_ = res.Body.Close()
		}
		answer <- err
	}()
	<-held
	var slow []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nX: "); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	for range 20 {
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	_ = slow[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := slow[0].Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the oldest is still open: %v", err)
	}
	close(hold)
	if err := <-answer; err != nil {
		t.Errorf("a request that is handled is cut off: %v", err)
	}
}
