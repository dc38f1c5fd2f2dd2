package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/endpoint"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

const (
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
	memory  *bodies
	from    func(*http.Request) netip.Addr // the sender's address, see endpoint.Group
}

func newReceiver(secrets []string, login func() string, accept func(context.Context, queue.Delivery) (bool, error), m *metrics, log *slog.Logger) *receiver {
	return &receiver{secrets: secrets, login: login, accept: accept, pushed: func(int64) {}, written: func(int64) {}, now: time.Now, log: log, metrics: m, memory: newBodies(time.Now),
		from: func(r *http.Request) netip.Addr { return endpoint.Group(endpoint.Proxies(nil).Client(r)) }}
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
	if status != http.StatusAccepted {
		w.Header().Set("Connection", "close") // what is left of the body is not read
	}
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
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(answerIn)) // a recorder of a test has none
	memory := rc.memory.begin(rc.from(r), func() {
		cancel()
		_ = control.SetReadDeadline(time.Unix(1, 0))
	})
	defer rc.memory.end(memory)
	check := newChecks(rc.secrets)
	body, err := rc.read(ctx, w, r, memory, check)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, "too large"
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable, "busy"
	case err != nil:
		return http.StatusBadRequest, "cut off"
	case !check.match(sums):
		return http.StatusUnauthorized, "wrong signature"
	}
	rc.memory.prove(memory.from)
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
	log := rc.log.With("delivery", id, "event", event, "action", d.Action, "repository", d.repository())
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

// read reads all of a body, and computes its signatures meanwhile. Memory is reserved for what was
// received, not for what was announced: a sender who announces much and sends nothing, for which no
// secret is needed, does not block others.
func (rc *receiver) read(ctx context.Context, w http.ResponseWriter, r *http.Request, memory *body, check checks) (data []byte, err error) {
	from := http.MaxBytesReader(w, r.Body, queue.MaxPayload)
	most := int64(queue.MaxPayload)
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	most++ // to see the end
	for size, told := int64(0), 0; ; {
		if int64(len(data)) == most {
			return nil, &http.MaxBytesError{Limit: most - 1} // more than was announced
		}
		if len(data) == cap(data) {
			if size = max(firstRead, 2*size); size > smallBody && r.ContentLength >= 0 {
				size = most // a body that has sent so much is believed, and waits once
			}
			size = min(size, most)
			if err := rc.memory.reserve(ctx, memory, size); err != nil {
				return nil, err
			}
			data = append(make([]byte, 0, size), data...)
		}
		n, err := from.Read(data[len(data):cap(data)])
		check.write(data[len(data) : len(data)+n])
		data = data[:len(data)+n]
		if len(data)-told >= firstRead {
			told = len(data)
			rc.memory.advance(memory)
		}
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil && rc.memory.gaveWay(memory):
			return nil, errBusy
		case err != nil:
			return nil, err
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

// checks computes the signatures of a body while it is read, one for each secret.
type checks []hash.Hash

func newChecks(secrets []string) checks {
	c := make(checks, len(secrets))
	for i, secret := range secrets {
		c[i] = hmac.New(sha256.New, []byte(secret))
	}
	return c
}

func (c checks) write(data []byte) {
	for _, mac := range c {
		mac.Write(data)
	}
}

// match reports whether the body was signed with one of the secrets. Its time depends neither on
// which one, nor on how many bytes of a signature match.
func (c checks) match(sums [][]byte) bool {
	good := false
	for _, mac := range c {
		want := mac.Sum(nil)
		for _, sum := range sums {
			good = hmac.Equal(sum, want) || good
		}
	}
	return good
}
