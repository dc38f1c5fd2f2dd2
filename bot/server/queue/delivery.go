package queue

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Delivery is a webhook delivery as it came.
type Delivery struct {
	ID           string // X-GitHub-Delivery
	Hook         int64  // X-GitHub-Hook-ID, 0 if unknown
	Installation int64  // of the App, 0 if unknown
	Event        string // X-GitHub-Event
	Action       string // of the payload, "" if it has none
	ReceivedAt   time.Time
	Payload      []byte
	// Lane is what deliveries have in common that are about the same subject; ""
	// for one that has nothing in common with others.
	Lane string
}

// State says how far the work on a delivery has come.
type State string

// The states. The last three are final, but for Again.
const (
	Received State = "received" // stored, nobody has begun
	Working  State = "working"
	Waiting  State = "later"  // will be tried again, not before NextAt; costs no attempt
	Failed   State = "failed" // the same, and the attempts are counted
	Done     State = "done"
	Gone     State = "gone"   // what it is about is no longer there
	Poison   State = "poison" // given up: a human has to look
)

// Status is how a delivery stands.
type Status struct {
	ID                 string
	Hook, Installation int64
	Event, Action      string
	ReceivedAt         time.Time
	State              State
	Attempts           int       // that were begun
	Error              string    // of the last attempt, "" if it had none
	NextAt             time.Time // of Waiting and Failed, else zero
	ChangedAt          time.Time
	HasPayload         bool // it is still kept, so Again is possible
}

// MaxPayload is the largest payload of a delivery, in bytes.
const MaxPayload = 25 << 20

// ErrInvalid says that a delivery cannot be stored however often it comes.
var ErrInvalid = errors.New("not a delivery")

const (
	maxText = 255     // bytes of an id, an event's or an action's name
	large   = 4 << 10 // payloads beyond are compressed
)

// row is a delivery as it is stored.
type row struct {
	Delivery
	encoding string
}

// pack checks a delivery and compresses its payload if that is large.
func pack(d Delivery) (row, error) {
	if d.ID == "" {
		return row{}, fmt.Errorf("%w: it has no id", ErrInvalid)
	}
	for name, s := range map[string]string{"id": d.ID, "event": d.Event, "action": d.Action, "lane": d.Lane} {
		if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return row{}, fmt.Errorf("%w: its %s is no text of at most %d bytes: %.60q", ErrInvalid, name, maxText, s)
		}
	}
	if len(d.Payload) > MaxPayload {
		return row{}, fmt.Errorf("%w: its payload has %d bytes, %d are allowed", ErrInvalid, len(d.Payload), MaxPayload)
	}
	if d.Payload == nil {
		d.Payload = []byte{} // null stands for one that is no longer kept
	}
	if len(d.Payload) < large {
		return row{Delivery: d}, nil
	}
	var buf bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&buf)
	if _, err := w.Write(d.Payload); err != nil {
		return row{}, err
	}
	if err := w.Close(); err != nil {
		return row{}, err
	}
	d.Payload = buf.Bytes()
	return row{d, "gzip"}, nil
}

// writers are kept, for to make one takes longer than to use it.
var writers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return w
}}

// unpack returns a payload as it came.
func unpack(data []byte, encoding string) ([]byte, error) {
	if encoding == "" {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
