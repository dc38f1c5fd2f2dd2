package server

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/server/recovery"
)

func TestOneSearchAtATime(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"SQLite": "", "PostgreSQL": pgtest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := queue.Open(t.Context(), url, t.TempDir(), recovery.Line())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 { // processes that lead, one after another
				if err := s.Jobs.Enqueue(t.Context(), recoverAll{}); err != nil {
					t.Fatal(err)
				}
			}
			var n int
			err = s.Database().Read.QueryRowContext(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'recover' AND queue = $1", asideQueue).Scan(&n)
			if err != nil || n != 1 {
				t.Errorf("%d jobs: %v", n, err)
			}
		})
	}
}

func TestWantedEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event, action string
		want          bool
	}{
		{"workflow_run", "completed", true}, {"workflow_run", "requested", false}, {"push", "", true}, {"star", "created", false},
		{"issue_comment", "created", true}, {"issue_comment", "edited", false},
	} {
		if got := handler.Wanted(c.event, c.action); got != c.want {
			t.Errorf("%s %s: %v", c.event, c.action, got)
		}
	}
}

func TestAskedAgainAfterTwoLooks(t *testing.T) {
	t.Parallel()
	app := someApp(t)
	s, err := queue.Open(t.Context(), "", t.TempDir(), recovery.Line())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := &server{settings: Settings{Recover: time.Second}, store: s, metrics: newMetrics(), installations: &installations{app: app}, contexts: &contexts{}}
	r, err := v.recovery()
	if err != nil || r.Interval != 2*time.Second {
		t.Errorf("every %v: %v", r.Interval, err)
	}
}

// someApp is an App that GitHub does not know.
func someApp(t *testing.T) *github.App {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	app, err := github.NewApp(1, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), "http://127.0.0.1:1/")
	if err != nil {
		t.Fatal(err)
	}
	return app
}
