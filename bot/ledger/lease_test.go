package ledger_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

func TestLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		me, you := ledger.Lease{Owner: "me", TTL: time.Minute}, ledger.Lease{Owner: "you"}
		x := me.Take()
		if !me.Mine(x) || me.Taken(x) || you.Mine(x) || !you.Taken(x) || me.Left(x) != time.Minute {
			t.Errorf("after Take: %+v", x)
		}
		time.Sleep(45 * time.Second)
		if me.Mine(x) || !you.Taken(x) {
			t.Error("in its last quarter it is not enough for another effect, and still not free")
		}
		time.Sleep(15 * time.Second)
		if you.Taken(x) {
			t.Error("it outlives its time")
		}
		if you.Taken(me.Release()) {
			t.Error("it is held after its release")
		}
		if got := you.Left(you.Take()); got != ledger.DefaultLease {
			t.Errorf("without a TTL it lasts %s", got)
		}
	})
}

func TestLeaseIsKeptThreeTimesItsLength(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ledger.Lease{Owner: "me", TTL: time.Minute}
		var at []time.Duration
		began := time.Now()
		held, release := l.Keep(t.Context(), l.Take(), func(context.Context) (*routing.Lease, error) {
			at = append(at, time.Since(began))
			return l.Take(), nil
		})
		<-held.Done()
		if end := time.Since(began); end != 4*time.Minute-7500*time.Millisecond || !errors.Is(context.Cause(held), ledger.ErrLeaseEnded) {
			t.Errorf("cut off after %v: %v", end, context.Cause(held))
		}
		release()
		if len(at) != 9 || at[0] != 20*time.Second || at[8] != 3*time.Minute {
			t.Errorf("renewed at %v", at)
		}
		at = nil
		_, release = l.Keep(t.Context(), l.Take(), func(context.Context) (*routing.Lease, error) { at = append(at, 0); return l.Take(), nil })
		release()
		time.Sleep(time.Minute)
		if at != nil {
			t.Error("renewed after its release")
		}
	})
}

// TestLeaseNotRenewed cuts work off before another process may begin it, whatever keeps its lease from
// being renewed.
func TestLeaseNotRenewed(t *testing.T) {
	t.Parallel()
	l := ledger.Lease{Owner: "me", TTL: time.Minute}
	for name, c := range map[string]struct {
		renew func(context.Context) (*routing.Lease, error)
		end   time.Duration
	}{
		"the ledger fails":           {func(context.Context) (*routing.Lease, error) { return nil, errors.New("no database") }, 52500 * time.Millisecond},
		"the ledger does not answer": {func(ctx context.Context) (*routing.Lease, error) { <-ctx.Done(); return nil, ctx.Err() }, 52500 * time.Millisecond},
		"another process has it": {func(context.Context) (*routing.Lease, error) {
			return &routing.Lease{Owner: "you", Until: time.Now().Add(time.Hour)}, nil
		}, 20 * time.Second},
		"it was released": {func(context.Context) (*routing.Lease, error) { return nil, nil }, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				held, release := l.Keep(t.Context(), l.Take(), c.renew)
				defer release()
				<-held.Done()
				if end := time.Since(began); end != c.end || !errors.Is(context.Cause(held), ledger.ErrLeaseEnded) || t.Context().Err() != nil {
					t.Errorf("cut off after %v: %v", end, context.Cause(held))
				}
			})
		})
	}
}
