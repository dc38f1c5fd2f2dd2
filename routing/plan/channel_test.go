package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDirectChannel(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *Mail {
		m := &Mail{}
		if _, err := m.Open("c", "impl", "test", t0); err != nil {
			t.Fatal(err)
		}
		return m
	}
	send := func(m *Mail, id, from, to string, typ MessageType) error {
		return m.Send(Message{ID: id, ChannelID: "c", From: from, To: to, Type: typ, Payload: []byte(`{"n":1}`), CreatedAt: t0})
	}
	ids := func(msgs []Message, err error) string {
		var out []string
		for _, x := range msgs {
			out = append(out, x.ID)
		}
		return strings.TrimSpace(fmt.Sprint(strings.Join(out, " "), " ", err))
	}
	t.Run("S2-5 S2-6 channel and message by their names", func(t *testing.T) {
		c := Channel{"c", "i", "t", ChannelActive, t0}
		m := Message{"m", "c", "i", "t", QueryMessage, []byte(`1`), t0, time.Time{}}
		if got, want := string(encode(c)), `{"id":"c","session_a":"i","session_b":"t","status":"active","created_at":"2026-01-02T03:04:05Z"}`; got != want {
			t.Error(got)
		}
		if got, want := string(encode(m)), `{"id":"m","channel_id":"c","from":"i","to":"t","type":"query","payload":1,"created_at":"2026-01-02T03:04:05Z"}`; got != want {
			t.Error(got)
		}
	})
	t.Run("S2-7 other types are refused", func(t *testing.T) {
		m := open(t)
		for _, typ := range []MessageType{"", "gossip", "RESULT"} {
			if err := send(m, "x", "impl", "test", typ); err == nil || len(m.Messages) > 0 {
				t.Errorf("%q: %v", typ, err)
			}
		}
		for i, typ := range MessageTypes() {
			if err := send(m, fmt.Sprint(i), "impl", "test", typ); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("S2-8 create", func(t *testing.T) {
		m := open(t)
		if _, err := m.Open("c", "impl", "test", t0); err != nil || len(m.Channels) != 1 {
			t.Errorf("again: %v", err)
		}
		for _, bad := range [][3]string{{"c", "impl", "other"}, {"", "a", "b"}, {"d", "a", "a"}, {"d", "", "b"}} {
			if _, err := m.Open(bad[0], bad[1], bad[2], t0); err == nil || len(m.Channels) != 1 {
				t.Errorf("%v: %v", bad, err)
			}
		}
	})
	t.Run("S2-90 S2-9 S2-10 S2-14 what one sends, either way, the other receives", func(t *testing.T) {
		m := open(t)
		err := errors.Join(send(m, "1", "impl", "test", ResultMessage), send(m, "2", "test", "impl", FeedbackMessage), send(m, "3", "impl", "test", QueryMessage))
		if len(m.Messages) != 3 || err != nil {
			t.Fatal(err)
		}
		if got := ids(m.Receive("c", "test", t0)); got != "1 3 <nil>" {
			t.Error(got)
		}
		if got := ids(m.Receive("c", "impl", t0)); got != "2 <nil>" {
			t.Error(got)
		}
	})
	t.Run("S2-16 only the two members may send or receive", func(t *testing.T) {
		m := open(t)
		for _, way := range [][2]string{{"mallory", "test"}, {"impl", "mallory"}, {"impl", "impl"}, {"impl", ""}} {
			if err := send(m, "x", way[0], way[1], ResultMessage); !errors.Is(err, ErrNotMember) || len(m.Messages) > 0 {
				t.Errorf("%v: %v", way, err)
			}
		}
		if _, err := m.Receive("c", "mallory", t0); !errors.Is(err, ErrNotMember) {
			t.Error(err)
		}
	})
	t.Run("S2-17 delivered once, and sent again is sent once", func(t *testing.T) {
		m := open(t)
		if err := errors.Join(send(m, "1", "impl", "test", ResultMessage), send(m, "1", "impl", "test", ResultMessage)); err != nil {
			t.Fatal(err)
		}
		first, second := ids(m.Receive("c", "test", t0)), ids(m.Receive("c", "test", t0))
		if first != "1 <nil>" || second != "<nil>" || !m.Messages[0].DeliveredAt.Equal(t0) {
			t.Errorf("%q, then %q", first, second)
		}
	})
	t.Run("S2-18 a closed or unknown channel is an error", func(t *testing.T) {
		m := open(t)
		_ = send(m, "1", "impl", "test", ResultMessage)
		if err := m.Close("c"); err != nil {
			t.Fatal(err)
		}
		_, err := m.Receive("c", "test", t0)
		if !errors.Is(err, ErrChannelClosed) || !errors.Is(send(m, "2", "impl", "test", ResultMessage), ErrChannelClosed) {
			t.Error(err)
		}
		if _, err := m.Receive("d", "test", t0); !errors.Is(err, ErrNoChannel) || !errors.Is(m.Close("d"), ErrNoChannel) || !errors.Is((&Mail{}).Send(Message{ChannelID: "c"}), ErrNoChannel) {
			t.Error(err)
		}
	})
	t.Run("S2-19 in the order of creation", func(t *testing.T) {
		m := open(t)
		var want []string
		for i := 40; i > 0; i-- { // ids say nothing of it
			id := fmt.Sprint(i)
			want = append(want, id)
			if err := send(m, id, "impl", "test", QueryMessage); err != nil {
				t.Fatal(err)
			}
		}
		if got := ids(m.Receive("c", "test", t0)); got != strings.Join(want, " ")+" <nil>" {
			t.Error(got)
		}
	})
	t.Run("what is too long or no JSON is refused", func(t *testing.T) {
		m := open(t)
		for _, bad := range []Message{{ID: "1", Payload: []byte(`{`)}, {ID: "2", Payload: []byte(`"` + strings.Repeat("x", maxPayload) + `"`)}, {}} {
			bad.ChannelID, bad.From, bad.To, bad.Type = "c", "impl", "test", ResultMessage
			if err := m.Send(bad); err == nil || len(m.Messages) > 0 {
				t.Errorf("%s: %v", bad.ID, err)
			}
		}
	})
}
