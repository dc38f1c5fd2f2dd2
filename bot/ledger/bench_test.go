package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/routingtest"
)

// BenchmarkStream measures loading and appending to a case of ordinary length.
func BenchmarkStream(b *testing.B) {
	const key = "acme/app#1"
	_, events := routingtest.Stream(rand.New(rand.NewPCG(1, 3)), key, 40, routing.DefaultPolicy())
	m := new(ledger.Memory)
	v, err := m.Append(b.Context(), key, "", events)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("load %d events", len(events)), func(b *testing.B) {
		for b.Loop() {
			if _, _, err := m.Load(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		}
	})
	one := events[len(events)-1:]
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			l := new(ledger.Memory)
			if _, err := l.Append(b.Context(), key, "", events); err != nil {
				b.Fatal(err)
			}
			_, _ = l.Append(b.Context(), key, v, one)
		}
	})
}
