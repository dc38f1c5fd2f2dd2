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
	// reading bounds the bytes of all bodies that are read at once.
	reading = 8 * queue.MaxPayload
	// answerIn is how long storing a delivery may take: GitHub waits ten seconds for the answer.
	answerIn = 8 * time.Second
	// longestID bounds the id of a delivery; GitHub's have 36 characters.
	longestID = 100
)

// receiver accepts webhooks. A delivery is answered with 202 when it is stored, or when nothing is done
// about its event, and before GitHub stops waiting.
type receiver struct {
	secrets []string
	accept  func(ctx context.Context, d queue.Delivery) (fresh bool, err error)
	login   func() string          // of the App's bot, "" as long as it is unknown
	pushed  func(repository int64) // to the default branch; called at once, so that the next delivery has the new configuration
	written func(repository int64) // to the ledger's branch
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	memory  *semaphore.Weighted // for bodies, in bytes
}

func newReceiver(secrets []string, login func() string, accept func(context.Context, queue.Delivery) (bool, error), m *metrics, log *slog.Logger) *receiver {
	return &receiver{secrets: secrets, login: login, accept: accept, pushed: func(int64) {}, written: func(int64) {}, now: time.Now, log: log, metrics: m, memory: semaphore.NewWeighted(reading)}
}

// ServeHTTP implements http.Handler. The signature is checked before the body is decoded; a sender
// without a valid one learns nothing.
func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := rc.now()
	event := r.Header.Get("X-GitHub-Event")
	status, outcome := rc.receive(w, r, event)
	if status != http.StatusAccepted {
		event = "" // of an unknown sender, who may send any name
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
	defer rc.memory.Release(taken)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, "too large"
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable, "busy"
	case err != nil:
		return http.StatusBadRequest, "cut off"
	case !signed(body, sums, rc.secrets):
		return http.StatusUnauthorized, "wrong signature"
	}
	return rc.store(ctx, r, event, body)
}

// store stores a delivery that is signed by GitHub.
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
	// Headers are not signed: whoever saw a body can send it under another id, and as another event.
	// GitHub sends an event once, or again with the same id, so two equal bodies are one event.
	sum := sha256.Sum256(body)
	d.Digest = hex.EncodeToString(sum[:])
	log := rc.log.With("delivery", id, "event", event, "action", d.Action, "repository", d.repository)
	fresh, err := rc.accept(ctx, d.Delivery)
	switch {
	case err != nil:
		log.Error("a delivery could not be stored; GitHub keeps it for redelivery", "err", err)
		return http.StatusServiceUnavailable, "not stored"
	case !fresh:
		log.Info("delivered again")
		return http.StatusAccepted, "repeated"
	}
	log.Info("delivered")
	return http.StatusAccepted, "accepted"
}

func unfit(r rune) bool { return r <= ' ' || r > '~' }

// errBusy says that too many bytes are being read already.
var errBusy = errors.New("too many bodies are being read")

// firstRead is how many bytes are reserved for a body at first.
const firstRead = 64 << 10

// read reads all of a body, and returns how many bytes of memory it reserved. Memory is reserved for
// what was received, not for what was announced: a sender who announces much and sends nothing, for
// which no secret is needed, does not block others.
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
			if rc.memory.Acquire(ctx, next-taken) != nil {
				return nil, taken, errBusy
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

// signatures decodes the signature header. It is not ok without exactly one.
func signatures(headers []string) ([][]byte, bool) {
	if len(headers) != 1 {
		return nil, false
	}
	hexed, ok := strings.CutPrefix(headers[0], "sha256=")
	sum, err := hex.DecodeString(hexed)
	return [][]byte{sum}, ok && err == nil && len(sum) == sha256.Size
}

// signed reports whether a body was signed with one of the secrets. Its time depends neither on which
// one, nor on how many bytes of a signature match.
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
