package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

func signature(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// taken is what was accepted.
type taken struct {
	got []queue.Delivery
	err error
}

func (k *taken) accept(_ context.Context, d queue.Delivery) (bool, error) {
	if k.err != nil {
		return false, k.err
	}
	for _, have := range k.got {
		if have.ID == d.ID {
			return false, nil
		}
	}
	k.got = append(k.got, d)
	return true, nil
}

func newTestReceiver(k *taken) *receiver {
	return newReceiver([]string{"new", "old"}, func() string { return "switchback[bot]" }, k.accept, newMetrics(), slog.New(slog.DiscardHandler))
}

func ask(t *testing.T, rc *receiver, event, id, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body))
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set("X-Hub-Signature-256", signature("old", body))
	w := httptest.NewRecorder()
	rc.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestReceive(t *testing.T) {
	t.Parallel()
	k := &taken{}
	rc := newTestReceiver(k)
	const run = `{"action":"completed","installation":{"id":3},"repository":{"id":5,"full_name":"octo/app","default_branch":"main"},"workflow_run":{"pull_requests":[{"number":12}]}}`
	for _, c := range []struct{ event, id, body, want string }{
		{"workflow_run", "1", run, "accepted"},
		{"workflow_run", "1", run, "repeated"},
		{"workflow_run", "2", strings.Replace(run, "completed", "requested", 1), "ignored"},
		{"star", "3", run, "ignored"},
		{"push", "4", `{"ref":"refs/heads/main","repository":{"id":5,"default_branch":"main"}}`, "accepted"},
		{"push", "5", `{"ref":"refs/heads/other","repository":{"id":5,"default_branch":"main"}}`, "ignored"},
		{"issue_comment", "6", `{"action":"created","sender":{"login":"Switchback[bot]"}}`, "ignored"},
		{"workflow_run", "7", strings.Replace(run, "{", `{"sender":{"login":"switchback[bot]"},`, 1), "accepted"},
		{"issues", "8", `{"action":`, "accepted"}, // to be shown
	} {
		if code, answer := ask(t, rc, c.event, c.id, c.body); code != http.StatusAccepted || !strings.Contains(answer, c.want) {
			t.Errorf("%s %s: %d %s, want %s", c.event, c.id, code, answer, c.want)
		}
	}
	if d := k.got[0]; d.Installation != 3 || d.Key != "5#12" || d.Action != "completed" || string(d.Payload) != run || d.ReceivedAt.IsZero() {
		t.Errorf("%+v", d)
	}
	k.err = errors.New("the disk is full")
	if code, answer := ask(t, rc, "workflow_run", "9", run); code != http.StatusServiceUnavailable || strings.Contains(answer, "disk") {
		t.Errorf("%d %s", code, answer)
	}
}

// unread fails the test when anything of a body is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestReceiveReadsNothingUnsigned(t *testing.T) {
	t.Parallel()
	rc := newTestReceiver(&taken{})
	for _, header := range []string{"", "sha1=00", "sha256=", "sha256=zz", "sha256=" + strings.Repeat("0", 62), strings.Repeat("0", 64)} {
		r := httptest.NewRequest(http.MethodPost, "/webhook", unread{t})
		r.Header.Set("X-Hub-Signature-256", header)
		w := httptest.NewRecorder()
		rc.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || w.Body.Len() != 0 {
			t.Errorf("%q: %d %q", header, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/webhook", unread{t})
	r.Header.Set("X-Hub-Signature-256", signature("new", ""))
	r.ContentLength = queue.MaxPayload + 1
	w := httptest.NewRecorder()
	rc.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Error(w.Code)
	}
}

func TestReceiveWithoutLength(t *testing.T) {
	t.Parallel()
	rc := newTestReceiver(&taken{})
	r := httptest.NewRequest(http.MethodPost, "/webhook", io.LimitReader(endless{}, queue.MaxPayload+1))
	r.ContentLength = -1
	r.Header.Set("X-Hub-Signature-256", signature("new", ""))
	w := httptest.NewRecorder()
	rc.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Error(w.Code)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestSignedWithNoSecret(t *testing.T) {
	t.Parallel()
	sums, ok := signatures([]string{signature("", "x")})
	check := newChecks(nil)
	check.write([]byte("x"))
	if !ok || check.match(sums) {
		t.Error("a server without a secret takes what is signed with none")
	}
}

// Whatever a payload says, what is kept beside it can be stored.
func TestDecodedCanBeStored(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\u00e9", 3000)
	for event, payload := range map[string]string{
		"workflow_run": `{"action":"completed","repository":{"id":1,"full_name":"` + long + `"},"workflow_run":{"head_branch":"` + long + `","head_repository":{"full_name":"x\u0000y"}}}`,
		"push":         `{"ref":"refs/heads/main","repository":{"default_branch":"main","id":-1}}`,
		"issues":       `{"action":"` + long + `\u0000","issue":{"number":-3}}`,
		"check_run":    "{\"action\":\"\x00\xff\"}",
	} {
		d := decode(queue.Delivery{ID: "1", Event: event, Payload: []byte(payload)})
		if len(d.Key) > 255 || len(d.Action) > 255 || strings.ContainsRune(d.Key+d.Action, 0) {
			t.Errorf("%+v cannot be stored", d)
		}
	}
}

func TestReceiveAllSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 5*firstRead - 1, 5 * firstRead, queue.MaxPayload} {
		for _, known := range []bool{true, false} {
			rc := newTestReceiver(&taken{})
			r := httptest.NewRequest(http.MethodPost, "/webhook", io.LimitReader(strings.NewReader(strings.Repeat("x", n)), int64(n)))
			r.ContentLength = -1
			if known {
				r.ContentLength = int64(n)
			}
			memory := rc.memory.begin(rc.from(r), func() {})
			body, err := rc.read(t.Context(), httptest.NewRecorder(), r, memory, newChecks([]string{"x"}))
			took := memory.taken
			if err != nil || len(body) != n || took > max(firstRead, 2*int64(n)) || known && took > int64(n)+1 {
				t.Errorf("%d bytes: %d were read, with memory for %d: %v", n, len(body), took, err)
			}
		}
	}
}

// Whoever announces much and sends nothing keeps nobody else out.
func TestReceiveBoundsMemory(t *testing.T) {
	t.Parallel()
	rc := newTestReceiver(&taken{})
	ends := make(chan *io.PipeWriter, 100)
	begun, done := make(chan struct{}), make(chan int, 100)
	for range 100 {
		body, end := io.Pipe()
		ends <- end
		go func() {
			r := httptest.NewRequest(http.MethodPost, "/webhook", body)
			r.ContentLength = queue.MaxPayload
			r.Header.Set("X-Hub-Signature-256", signature("new", ""))
			w := httptest.NewRecorder()
			rc.ServeHTTP(w, r)
			done <- w.Code
		}()
		go func() {
			_, _ = end.Write([]byte("{")) // returns when it was read
			begun <- struct{}{}
		}()
	}
	for range 100 {
		<-begun
	}
	if code, answer := ask(t, rc, "workflow_run", "1", `{"action":"completed"}`); code != http.StatusAccepted {
		t.Errorf("%d %s", code, answer)
	}
	for range 100 {
		_ = (<-ends).CloseWithError(io.ErrUnexpectedEOF)
		if code := <-done; code != http.StatusBadRequest {
			t.Errorf("one that was cut off is answered with %d", code)
		}
	}
	for _, p := range []*pool{&rc.memory.small, &rc.memory.large} {
		if p.free != p.all || len(p.held) != 0 || len(p.readers) != 0 {
			t.Errorf("not all memory was given back: %d of %d", p.free, p.all)
		}
	}
}
