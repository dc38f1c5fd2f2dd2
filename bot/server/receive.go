package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

const (
	// reading bounds the bytes of bodies that are read at once.
	reading = 8 * queue.MaxPayload
	// answerIn is how long a delivery is tried to be kept: GitHub gives ten
	// seconds for all of it.
	answerIn = 8 * time.Second
	// longestID bounds the id of a delivery; GitHub's have 36 characters.
	longestID = 100
)

// receiver takes webhooks. A delivery is answered with 202 when it is stored or
// is none that anything is done about, and never later than GitHub waits.
type receiver struct {
	secrets []string
	accept  func(ctx context.Context, d queue.Delivery) (fresh bool, err error)
	login   func() string          // of the App's bot, "" as long as it is unknown
	pushed  func(repository int64) // to the default branch, at once: what comes next is of the new configuration
	written func(repository int64) // to the ledger's branch
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	room    *semaphore.Weighted
}

func newReceiver(secrets []string, login func() string, accept func(context.Context, queue.Delivery) (bool, error), m *metrics, log *slog.Logger) *receiver {
	return &receiver{secrets: secrets, login: login, accept: accept, pushed: func(int64) {}, written: func(int64) {}, now: time.Now, log: log, metrics: m, room: semaphore.NewWeighted(reading)}
}

// ServeHTTP implements http.Handler. The signature is checked before anything
// of the body is looked at; who has no right one learns nothing.
func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := rc.now()
	event := r.Header.Get("X-GitHub-Event")
	status, outcome := rc.receive(w, r, event)
	if status != http.StatusAccepted {
		event = "" // anybody may have sent it, under any name
	}
	rc.metrics.delivered(event, outcome, rc.now().Sub(began))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status == http.StatusUnauthorized {
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"delivery": outcome})
}

func (rc *receiver) receive(w http.ResponseWriter, r *http.Request, event string) (status int, outcome string) {
	sums, ok := signatures(r.Header.Values("X-Hub-Signature-256"))
	if !ok {
		return http.StatusUnauthorized, "unsigned"
	}
	if r.ContentLength > queue.MaxPayload {
		return http.StatusRequestEntityTooLarge, "too large"
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerIn)
	defer cancel()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(answerIn)) // a recorder of a test has none
	body, taken, err := rc.read(ctx, w, r)
	defer rc.room.Release(taken)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, "too large"
	case errors.Is(err, errNoRoom):
		return http.StatusServiceUnavailable, "busy"
	case err != nil:
		return http.StatusBadRequest, "cut off"
	case !signed(body, sums, rc.secrets):
		return http.StatusUnauthorized, "wrong signature"
	}
	return rc.store(ctx, r, event, body)
}

// store keeps a delivery that is GitHub's.
func (rc *receiver) store(ctx context.Context, r *http.Request, event string, body []byte) (status int, outcome string) {
	id := r.Header.Get("X-GitHub-Delivery")
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "" && kind != "application/json" {
		return http.StatusUnsupportedMediaType, "not application/json"
	}
	if event == "" || id == "" || len(event) > longestID || len(id) > longestID || strings.ContainsFunc(event+id, unfit) {
		return http.StatusBadRequest, "without event or id"
	}
	hook, _ := strconv.ParseInt(r.Header.Get("X-GitHub-Hook-ID"), 10, 64) // 0 if unknown
	d := decode(queue.Delivery{ID: id, Hook: hook, Event: event, ReceivedAt: rc.now().UTC(), Payload: body})
	if d.toLedger() {
		rc.written(d.event.Repository.ID)
	}
	if !d.wanted(rc.login()) {
		return http.StatusAccepted, "ignored"
	}
	if event == "push" {
		rc.pushed(d.event.Repository.ID)
	}
	log := rc.log.With("delivery", id, "event", event, "action", d.Action, "repository", d.repository)
	fresh, err := rc.accept(ctx, d.Delivery)
	switch {
	case err != nil:
		log.Error("a delivery could not be stored; GitHub keeps it, to be sent again", "err", err)
		return http.StatusServiceUnavailable, "not stored"
	case !fresh:
		log.Info("delivered again")
		return http.StatusAccepted, "repeated"
	}
	log.Info("delivered")
	return http.StatusAccepted, "accepted"
}

func unfit(r rune) bool { return r <= ' ' || r > '~' }

// errNoRoom says that too much is being read already.
var errNoRoom = errors.New("no room to read a body")

// firstRead is how much of a body is made room for at first.
const firstRead = 64 << 10

// read reads all of a body, and returns how many bytes of the room it has taken.
// Room is taken for what has come, not for what is announced: whoever announces
// much and sends nothing, which needs no secret, keeps nobody else out.
func (rc *receiver) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (body []byte, taken int64, err error) {
	from := http.MaxBytesReader(w, r.Body, queue.MaxPayload)
	most := int64(queue.MaxPayload)
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	most++ // to see the end
	for {
		if int64(len(body)) == most {
			return nil, taken, &http.MaxBytesError{Limit: most - 1} // more than was announced
		}
		if len(body) == cap(body) {
			next := min(max(firstRead, 2*taken), most)
			if rc.room.Acquire(ctx, next-taken) != nil {
				return nil, taken, errNoRoom
			}
			taken = next
			body = append(make([]byte, 0, next), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, taken, nil
		case err != nil:
			return nil, taken, err
		}
	}
}

// signatures reads the header's sums. It is not ok if there is none.
func signatures(headers []string) ([][]byte, bool) {
	if len(headers) != 1 {
		return nil, false
	}
	hexed, ok := strings.CutPrefix(headers[0], "sha256=")
	sum, err := hex.DecodeString(hexed)
	return [][]byte{sum}, ok && err == nil && len(sum) == sha256.Size
}

// signed reports whether a body was signed with one of the secrets. How long it
// takes does not depend on which, nor on how much of a sum is right.
func signed(body []byte, sums [][]byte, secrets []string) bool {
	good := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, sum := range sums {
			good = hmac.Equal(sum, want) || good
		}
	}
	return good && len(secrets) > 0
}
