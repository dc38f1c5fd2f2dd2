package ledger_test

import (
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
)

func TestOverlay(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(testing.TB) ledger.Ledger { return &ledger.Overlay{Base: &ledger.Memory{}, Own: &ledger.Memory{}} })
	t.Run("what is appended follows the base, which stays as it is (S6-3)", func(t *testing.T) {
		t.Parallel()
		base, own := &ledger.Memory{}, &ledger.Memory{}
		if _, err := base.Append(t.Context(), "a", "", []routing.Event{ledgertest.Note("", "1")}); err != nil {
			t.Fatal(err)
		}
		o := &ledger.Overlay{Base: base, Own: own}
		if _, err := o.Append(t.Context(), "a", "", []routing.Event{ledgertest.Note("", "2")}); err == nil {
			t.Error("an append that saw nothing of the base is taken")
		}
		_, v, err := o.Load(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Append(t.Context(), "a", v, []routing.Event{ledgertest.Note("", "2")}); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			led  ledger.Ledger
			want int
		}{"both": {o, 2}, "base": {base, 1}, "own": {own, 1}} {
			if events, _, err := c.led.Load(t.Context(), "a"); err != nil || len(events) != c.want {
				t.Errorf("%s: %v, %d events, want %d", name, err, len(events), c.want)
			}
		}
	})
}
