package routing

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

type noted struct {
	Text string `json:"text"`
}

func init() {
	RegisterPayload[noted]("test.noted")
	RegisterPayload[noted]("test.migrated",
		func(old json.RawMessage) (json.RawMessage, error) { // 1 to 2: "say" became "words"
			return json.RawMessage(strings.Replace(string(old), `"say"`, `"words"`, 1)), nil
		},
		func(old json.RawMessage) (json.RawMessage, error) { // 2 to 3: "words" became "text"
			if strings.Contains(string(old), "broken") {
				return nil, errors.New("no words")
			}
			return json.RawMessage(strings.Replace(string(old), `"words"`, `"text"`, 1)), nil
		})
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored string
		want   any    // the payload, nil if it cannot be read
		says   string // the error then
		again  string // as it is stored again, if that differs
	}{
		"a payload":             {`{"type":"test.noted","at":"2026-03-01T09:00:00Z","stream":"k","actor":"mona","data":{"text":"<hi>"}}`, noted{"<hi>"}, "", ""},
		"of version 1":          {`{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","data":{"say":"hi"}}`, noted{"hi"}, "", `{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","version":3,"data":{"text":"hi"}}`},
		"of version 2":          {`{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","version":2,"data":{"words":"hi"}}`, noted{"hi"}, "", `{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","version":3,"data":{"text":"hi"}}`},
		"of version 3":          {`{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","version":3,"data":{"text":"hi"}}`, noted{"hi"}, "", ""},
		"of a newer release":    {`{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","version":4,"data":{"t":"hi"}}`, nil, "newer release", ""},
		"that does not migrate": {`{"type":"test.migrated","at":"2026-03-01T09:00:00Z","stream":"k","version":2,"data":{"words":"broken"}}`, nil, "no words", ""},
		"of another shape":      {`{"type":"test.noted","at":"2026-03-01T09:00:00Z","stream":"k","data":["hi"]}`, nil, "unreadable", ""},
	} {
		var e Event
		if err := json.Unmarshal([]byte(c.stored), &e); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := PayloadOf[noted](e)
		if c.want == nil && (err == nil || !strings.Contains(err.Error(), c.says)) || c.want != nil && !reflect.DeepEqual(any(got), c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if c.want == nil {
			_, err := Projection[int]{
				New:   func(string) int { return 0 },
				Apply: func(n int, e Event) (int, error) { _, err := PayloadOf[noted](e); return n + 1, err },
			}.Fold("k", []Event{{Type: "test.noted", Data: noted{}}, e})
			if err == nil || !strings.Contains(err.Error(), "event 2 of stream k") {
				t.Errorf("%s: its place is not named: %v", name, err)
			}
		}
		sealed, err := e.Seal()
		if err != nil {
			t.Fatal(err)
		}
		var again strings.Builder
		enc := json.NewEncoder(&again)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(sealed); err != nil {
			t.Fatal(err)
		}
		if want := orElse(c.again, c.stored); strings.TrimSpace(again.String()) != want {
			t.Errorf("%s: stored again as\n%s\nwant\n%s", name, again.String(), want)
		}
	}
	for _, e := range []Event{{Type: "test.noted"}, {Type: "test.noted", Data: 7}} {
		if _, err := PayloadOf[noted](e); err == nil {
			t.Errorf("%v has a payload", e.Data)
		}
	}
	if f, n := EventType("port.session.start").Family(), EventType("port.session.start").Name(); f != "port" || n != "session.start" || EventRun.Family() != "" || EventRun.Name() != "run" {
		t.Errorf("family %q, name %q", f, n)
	}
}
