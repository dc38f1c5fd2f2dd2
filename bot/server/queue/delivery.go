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

// Delivery is a webhook delivery as it was received.
type Delivery struct {
	ID           string // X-GitHub-Delivery
	Hook         int64  // X-GitHub-Hook-ID, 0 if unknown
	Installation int64  // of the App, 0 if unknown
	Event        string // X-GitHub-Event
	Action       string // of the payload, "" if it has none
	ReceivedAt   time.Time
	Payload      []byte
	// Digest is the hexadecimal SHA-256 of the body that GitHub signed. Of deliveries with the same
	// digest only the first is stored, whatever their ids. "" compares ids only.
	Digest string
	// Key is the serialization key: deliveries with the same key are about the same subject. "" for
	// a delivery that shares its subject with no other.
	Key string
}

// State is the state of a delivery.
type State string

// The states. The last three are final, but for Again.
const (
	Received   State = "received" // stored, not begun
	Working    State = "working"
	Waiting    State = "later"  // will be tried again, not before NextAt; costs no attempt
	Failed     State = "failed" // the same, but attempts are counted
	Done       State = "done"
	Gone       State = "gone"        // its subject no longer exists
	DeadLetter State = "dead_letter" // not tried again: a maintainer has to look
)

// Status is the state of a delivery and of its attempts.
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
	HasPayload         bool // the payload is still kept, so Again is possible
}

// MaxPayload is the largest payload of a delivery, in bytes.
const MaxPayload = 25 << 20

// ErrInvalid is the error of a delivery that can never be stored.
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
	for name, s := range map[string]string{"id": d.ID, "event": d.Event, "action": d.Action, "key": d.Key, "digest": d.Digest} {
		if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return row{}, fmt.Errorf("%w: its %s is no text of at most %d bytes: %.60q", ErrInvalid, name, maxText, s)
		}
	}
	if len(d.Payload) > MaxPayload {
		return row{}, fmt.Errorf("%w: its payload has %d bytes, %d are allowed", ErrInvalid, len(d.Payload), MaxPayload)
	}
	if d.Payload == nil {
		d.Payload = []byte{} // NULL means a payload that is no longer kept
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

// writers are reused because creating one takes longer than compressing a payload.
var writers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return w
}}

// unpack decompresses a payload.
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
