//go:build unix

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
)

// mailJournal is the journal of a port with one open channel.
func mailJournal(t *testing.T) *Journal {
	t.Helper()
	d := &Journal{Ledger: &ledger.Memory{}, Key: routing.PortKey("acme/app", "plan", "greet"), Port: "greet", Now: time.Now}
	_, _, err := d.Record(t.Context(), func(plan.Journal) ([]plan.Event, error) {
		return []plan.Event{{Kind: plan.ChannelOpened, Channel: &plan.Channel{ID: "c", SessionA: "impl", SessionB: "test", Status: plan.ChannelActive, CreatedAt: time.Now()}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDirectChannel(t *testing.T) {
	t.Parallel()
	d := mailJournal(t)
	ctx := t.Context()
	send := func(from string, kind plan.MessageType, payload string) error {
		_, err := d.Send(ctx, plan.Message{ChannelID: "c", From: from, Type: kind, Payload: json.RawMessage(payload)})
		return err
	}
	for _, m := range []struct{ from, kind, payload string }{{"impl", "result", `1`}, {"test", "feedback", `2`}, {"impl", "query", `3`}} {
		if err := send(m.from, plan.MessageType(m.kind), m.payload); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("S2-9 S2-10 S2-14 S2-19 each receives what it was sent, in order", func(t *testing.T) {
		got, err := d.Receive(ctx, "c", "test")
		if err != nil || len(got) != 2 || string(got[0].Payload) != "1" || string(got[1].Payload) != "3" || got[0].From != "impl" || got[0].To != "test" || got[0].CreatedAt.IsZero() {
			t.Errorf("%+v %v", got, err)
		}
		if got, err := d.Receive(ctx, "c", "impl"); err != nil || len(got) != 1 || got[0].Type != plan.FeedbackMessage {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("S2-17 delivered once", func(t *testing.T) {
		if got, err := d.Receive(ctx, "c", "test"); err != nil || len(got) != 0 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("S2-7 S2-16 S2-18 what is refused leaves nothing", func(t *testing.T) {
		before, _, _ := d.Ledger.Load(ctx, d.Key)
		if err := send("impl", "gossip", `1`); err == nil {
			t.Error("an unknown type is taken")
		}
		if err := send("stranger", plan.QueryMessage, `1`); !errors.Is(err, plan.ErrNotMember) {
			t.Error(err)
		}
		if _, err := d.Receive(ctx, "c", "stranger"); !errors.Is(err, plan.ErrNotMember) {
			t.Error(err)
		}
		if _, err := d.Receive(ctx, "none", "impl"); !errors.Is(err, plan.ErrNoChannel) {
			t.Error(err)
		}
		if after, _, _ := d.Ledger.Load(ctx, d.Key); len(after) != len(before) {
			t.Errorf("%d events became %d", len(before), len(after))
		}
	})
	t.Run("S2-18 a closed channel", func(t *testing.T) {
		if _, _, err := d.Record(ctx, func(plan.Journal) ([]plan.Event, error) {
			return []plan.Event{{Kind: plan.ChannelShut, Channel: &plan.Channel{ID: "c"}}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := send("impl", plan.QueryMessage, `1`); !errors.Is(err, plan.ErrChannelClosed) {
			t.Error(err)
		}
	})
}

func TestMessagesOfManyProcessesAtOnce(t *testing.T) {
	t.Parallel()
	d := mailJournal(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			// A journal for each, as processes have them: only the ledger keeps them apart.
			own := &Journal{Ledger: d.Ledger, Key: d.Key, Port: d.Port, Now: time.Now}
			if _, err := own.Send(context.Background(), plan.Message{ChannelID: "c", From: "impl", Type: plan.QueryMessage, Payload: fmt.Appendf(nil, "%d", i)}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	t.Run("S2-17 none is lost, and none comes twice", func(t *testing.T) {
		var mu sync.Mutex
		seen := map[string]int{}
		var readers sync.WaitGroup
		for range 4 {
			readers.Add(1)
			go func() {
				defer readers.Done()
				own := &Journal{Ledger: d.Ledger, Key: d.Key, Port: d.Port, Now: time.Now}
				got, err := own.Receive(context.Background(), "c", "test")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, m := range got {
					seen[m.ID]++
				}
			}()
		}
		readers.Wait()
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s came %d times", id, n)
			}
		}
		if len(seen) != 20 {
			t.Errorf("%d of 20", len(seen))
		}
	})
}

func TestRelay(t *testing.T) {
	t.Parallel()
	d := mailJournal(t)
	raised := make(chan Raised, 1)
	l := plan.Loop{ID: "o", ChannelID: "c", ImplSession: "impl", TestSession: "test", Status: plan.Running}
	r, err := newRelay(d, l, nil, func(session string, x Raised) error {
		if !x.Type.Valid() {
			return errors.New("no such type")
		}
		raised <- x
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	ask := func(session, what string, in any) (string, error) {
		out, err := Ask(t.Context(), r.url, r.tokens[session], what, in)
		return string(out), err
	}
	t.Run("S2-14 a worker's query reaches the other", func(t *testing.T) {
		if _, err := ask("impl", "send", Sent{Type: plan.QueryMessage, Payload: json.RawMessage(`{"text":"which port?"}`)}); err != nil {
			t.Fatal(err)
		}
		if out, err := ask("test", "receive", struct{}{}); err != nil || !strings.Contains(out, "which port?") {
			t.Error(out, err)
		}
		if out, err := ask("test", "receive", struct{}{}); err != nil || strings.TrimSpace(out) != "[]" {
			t.Error(out, err)
		}
	})
	t.Run("S2-16 nobody speaks without a session's token", func(t *testing.T) {
		for _, token := range []string{"", "impl", r.tokens["impl"] + "0"} {
			if _, err := Ask(t.Context(), r.url, token, "receive", struct{}{}); err == nil || !strings.Contains(err.Error(), "none of the two workers") {
				t.Errorf("%q: %v", token, err)
			}
		}
	})
	t.Run("S2-15 either worker may call the operator", func(t *testing.T) {
		if _, err := ask("test", "escalate", Raised{escalation.Blocked, escalation.High, "no key"}); err != nil {
			t.Fatal(err)
		}
		if got := <-raised; got.Text != "no key" {
			t.Errorf("%+v", got)
		}
		if _, err := ask("test", "escalate", Raised{"gossip", escalation.High, "x"}); err == nil {
			t.Error("an unknown type is taken")
		}
	})
	t.Run("S2-82 progress outside 0 to 1 is refused", func(t *testing.T) {
		for v, ok := range map[float64]bool{0: true, 1: true, 0.5: true, 1.01: false, -0.01: false} {
			if _, err := ask("impl", "progress", plan.Progress{Progress: v, Task: "x"}); (err == nil) != ok {
				t.Errorf("%v: %v", v, err)
			}
		}
	})
	t.Run("bad requests are answered with why", func(t *testing.T) {
		for what, in := range map[string]any{"send": "no object", "feedback": map[string]any{}, "progress": []int{1}} {
			if _, err := ask("impl", what, in); err == nil {
				t.Errorf("%s is taken", what)
			}
		}
		if _, err := ask("impl", "send", Sent{Type: plan.QueryMessage, Payload: json.RawMessage(`"` + strings.Repeat("x", mostRequest) + `"`)}); err == nil {
			t.Error("a request without end is taken")
		}
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int64
		bad  bool
	}{
		{"", 0, false},
		{"120\n", 120, false},
		{"120\n 30", 150, false},
		{`{"total_tokens": 5}` + "\n" + `{"input_tokens": 2, "output_tokens": 3}`, 10, false},
		{`{"tokens_used": 5, "model": "x"}`, 5, false},
		{"-4\n7", 7, true},
		{`{"total_tokens": -1}`, 0, true},
		{"many", 0, true},
		{`{"total_tok`, 0, true},
		{"{}", 0, true},
		{"9223372036854775807\n9", 9223372036854775807, false},
	} {
		if got, err := sumTokens(strings.NewReader(c.text)); got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %d %v", c.text, got, err)
		}
	}
}
