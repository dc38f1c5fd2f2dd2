package signin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
)

// TestS6_12_StateIsGoodOnce is S6-12: of all who return with one state, in all replicas, one is first,
// for as long as the state is valid.
func TestS6_12_StateIsGoodOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s sessions) {
		var first atomic.Int32
		var wg sync.WaitGroup
		for range 24 {
			wg.Go(func() {
				ok, err := s.spend(context.Background(), "state", noon.Add(atGitHub))
				if err != nil {
					t.Error(err)
				}
				if ok {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if first.Load() != 1 {
			t.Errorf("%d were first", first.Load())
		}
		var stored string
		if err := s.db.Read.QueryRow("SELECT state FROM signin_used").Scan(&stored); err != nil || strings.Contains(stored, "state") {
			t.Errorf("%q %v", stored, err)
		}
		for _, c := range []struct {
			at   time.Time
			want bool
		}{{noon, true}, {noon.Add(atGitHub), true}, {noon.Add(atGitHub + 2*time.Hour), false}} {
			if err := s.prune(t.Context(), c.at); err != nil {
				t.Fatal(err)
			}
			if spent, err := s.spent(t.Context(), "state"); spent != c.want || err != nil {
				t.Errorf("at %v: %v %v", c.at, spent, err)
			}
		}
	})
}

// A state is not forgotten with the process.
func TestS6_12_StateStaysUsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	for _, want := range []bool{true, false, false} {
		db, err := database.OpenFile(t.Context(), path, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(t.Context(), nil, Line()); err != nil {
			t.Fatal(err)
		}
		if first, err := (sessions{db, sealed(t, "secret")}).spend(t.Context(), "state", noon); first != want || err != nil {
			t.Errorf("%v %v, want %v", first, err, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, byte(n >> 8), byte(n)}) }

// TestS6_12_AddressesAreLimited is S6-12: an address that tries often waits, and no other does.
func TestS6_12_AddressesAreLimited(t *testing.T) {
	t.Parallel()
	now := noon
	a := newAttempts(func() time.Time { return now })
	for i := range burst {
		if ok, _ := a.allow(address(1)); !ok {
			t.Fatalf("the attempt %d is refused", i)
		}
	}
	if ok, wait := a.allow(address(1)); ok || wait <= 0 || wait > refill {
		t.Errorf("%v %v", ok, wait)
	}
	if !a.logs(address(1)) || a.logs(address(1)) || !a.logs(address(2)) {
		t.Error("not one refusal of each address is logged")
	}
	if ok, _ := a.allow(address(2)); !ok {
		t.Error("another address is refused")
	}
	now = now.Add(refill)
	if ok, _ := a.allow(address(1)); !ok {
		t.Error("refused after the wait")
	}
	if ok, _ := a.allow(address(1)); ok {
		t.Error("the wait gives more than one")
	}
	a.refund(address(1))
	if ok, _ := a.allow(address(1)); !ok {
		t.Error("what was given back cannot be used")
	}
	inside := netip.MustParseAddr("2001:db8::1")
	for range burst {
		a.allow(inside)
	}
	if ok, _ := a.allow(netip.MustParseAddr("2001:db8::ffff:2")); ok {
		t.Error("an address of the same network is another")
	}
	for i := range 3 * addresses {
		a.allow(address(i))
	}
	if len(a.by) > addresses {
		t.Errorf("%d addresses are remembered", len(a.by))
	}
}

// TestS6_12_TurnsAreTaken is S6-12: beyond what asks GitHub at once others wait instead of being
// refused, and one address has no more than its share.
func TestS6_12_TurnsAreTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAttempts(time.Now)
		var in, refused atomic.Int32
		release := make(chan struct{})
		enter := func(from netip.Addr) {
			go func() {
				leave, err := a.enter(t.Context(), from)
				if err != nil {
					refused.Add(1)
					return
				}
				in.Add(1)
				<-release
				leave()
			}()
		}
		for range 30 {
			enter(address(1))
		}
		synctest.Wait()
		if in.Load() != ofOne {
			t.Errorf("%d of one address ask at once", in.Load())
		}
		for i := range atOne {
			enter(address(2 + i))
		}
		synctest.Wait()
		if in.Load() != atOne || refused.Load() != 0 {
			t.Errorf("%d ask at once, %d were refused", in.Load(), refused.Load())
		}
		for range 30 + atOne {
			release <- struct{}{}
		}
		synctest.Wait()
		if in.Load() != 30+atOne || refused.Load() != 0 {
			t.Errorf("%d had a turn, %d were refused", in.Load(), refused.Load())
		}
		for range atOne + 1 {
			enter(address(100 + int(in.Load())))
			synctest.Wait()
		}
		time.Sleep(queued)
		synctest.Wait()
		if refused.Load() != 1 {
			t.Errorf("%d were refused after the wait", refused.Load())
		}
		for range atOne {
			release <- struct{}{}
		}
		synctest.Wait()
		for from, s := range a.by {
			if s.waiting != 0 {
				t.Errorf("%s: %d wait for nothing", from, s.waiting)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range ofOne {
			if _, err := a.enter(t.Context(), address(1)); err != nil {
				t.Error(err)
			}
		}
		if _, err := a.enter(ended, address(1)); !errors.Is(err, context.Canceled) {
			t.Error(fmt.Errorf("somebody who left waits: %w", err))
		}
	})
}
