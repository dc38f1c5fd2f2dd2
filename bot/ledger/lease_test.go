package ledger_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
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
		release := l.Keep(t.Context(), func(context.Context) { at = append(at, time.Since(began)) })
		time.Sleep(10 * time.Minute)
		release()
		if len(at) != 9 || at[0] != 20*time.Second || at[8] != 3*time.Minute {
			t.Errorf("renewed at %v", at)
		}
		at = nil
		l.Keep(t.Context(), func(context.Context) { at = append(at, 0) })()
		time.Sleep(time.Minute)
		if at != nil {
			t.Error("renewed after its release")
		}
	})
}
