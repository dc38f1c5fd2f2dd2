package server

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/server/recovery"
	"github.com/switchback-ci/switchback/routing/plan"
)

func environment(t *testing.T, more ...string) func(string) string {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"SWITCHBACK_DATA": t.TempDir(), "SWITCHBACK_APP_ID": "7", "SWITCHBACK_WEBHOOK_SECRET": "hush hush",
		"SWITCHBACK_PRIVATE_KEY": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})),
	}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return func(name string) string { return env[name] }
}

func TestSettings(t *testing.T) {
	t.Parallel()
	env := environment(t, "SWITCHBACK_WORKERS", "3", "SWITCHBACK_GRACE", "5s", "SWITCHBACK_DATABASE_URL", "postgres://me:very%20secret@db/x?sslpassword=too")
	s, err := Load(map[string]string{"workers": "4"}, env)
	if err != nil || s.Workers != 4 || s.Grace != 5*time.Second || s.Listen.String() != ":8080" || s.App.ID != 7 {
		t.Fatalf("%+v %v", s, err)
	}
	var b strings.Builder
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SWITCHBACK_WORKERS=4\n", "SWITCHBACK_APP_ID=7\n", "SWITCHBACK_DATABASE_URL=postgres://me:xxxxx@db/x", "SWITCHBACK_PRIVATE_KEY=[secret]\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	for _, secret := range []string{"hush", "very", "too", "BEGIN", "MII"} {
		if strings.Contains(b.String(), secret) {
			t.Errorf("%q is in\n%s", secret, b.String())
		}
	}
}

func TestSettingsWrong(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"grace": "long"}, environment(t, "SWITCHBACK_WORKERS", "0", "SWITCHBACK_LOG_FORMAT", "xml", "SWITCHBACK_APP_ID", "x"))
	if err == nil {
		t.Fatal("no error")
	}
	for given, want := range map[string]time.Duration{"": 5 * time.Minute, "0": 0, "0s": 0, "90s": 90 * time.Second} {
		if s, err := Load(nil, environment(t, "SWITCHBACK_RECOVER", given)); err != nil || s.Recover != want {
			t.Errorf("%q: %v %v", given, s.Recover, err)
		}
	}
	if _, err := Load(map[string]string{"recover": "10ms"}, environment(t)); err == nil || !strings.Contains(err.Error(), `--recover: "10ms" is no duration of at least 1s`) {
		t.Error(err)
	}
	for _, want := range []string{`SWITCHBACK_WORKERS: "0" is no whole number from 1 to 1000`, `--grace: "long"`, `SWITCHBACK_LOG_FORMAT: "xml" is none of text, json`, "SWITCHBACK_APP_ID"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}

func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/app.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range All() {
		row := fmt.Sprintf("| `--%s` | `%s` |", x.Flag, x.Env)
		if x.Default != "" {
			row += fmt.Sprintf(" `%s` |", x.Default)
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/app.md lacks %s", row)
		}
	}
	m := newMetrics()
	m.delivered("push", "accepted", 0)
	m.worked("push", "done", 0)
	m.Applied("comment", nil)
	m.errors.WithLabelValues("x").Inc()
	m.looked(recovery.Found{}, nil)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "switchback_") && !strings.Contains(string(page), f.GetName()) {
			t.Errorf("docs/app.md lacks %s", f.GetName())
		}
	}
}

func TestAdvise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		want  advice.Kind
		after time.Duration
		name  string
	}{
		{fmt.Errorf("x: %w", handler.ErrMalformed), advice.Invalid, 0, "malformed"},
		{&github.Error{Kind: advice.Later, After: time.Hour}, advice.Later, time.Hour, "later"},
		{&github.Error{Kind: advice.Later}, advice.Later, 0, "later"},
		{&github.Error{Kind: advice.Gone}, advice.Gone, 0, "gone"},
		{fmt.Errorf("x: %w", github.ErrReadOnly), advice.Blocked, 15 * time.Minute, "read-only"},
		{&github.Error{Kind: advice.Fail}, advice.Fail, 0, "fail"},
		{&config.Error{}, advice.Blocked, 10 * time.Minute, "configuration"},
		{plans.Invalid(&plan.Error{}), advice.Blocked, 10 * time.Minute, "configuration"},
		{fmt.Errorf("x: %w", github.ErrSuspended), advice.Blocked, 15 * time.Minute, "suspended"},
		{fmt.Errorf("x: %w", github.ErrArchived), advice.Blocked, time.Hour, "archived"},
		{fmt.Errorf("x: %w", ledger.ErrConflict), advice.Blocked, time.Second, "conflict"},
		{&busyError{"1#2", 1}, advice.Later, whileBusy, "busy"},
		{fmt.Errorf("x: %w", context.Canceled), advice.Later, time.Second, "cut off"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), advice.Fail, 0, "cut off"},
		{errors.New("anything"), advice.Fail, 0, "fail"},
	} {
		if got := advise(c.err); got.Kind != c.want || got.After != c.after || got.Name() != c.name {
			t.Errorf("%v: %+v, want %s after %v (%s)", c.err, got, c.want, c.after, c.name)
		}
	}
}

// TestS6_14_NoSignIn is S6-14: without sign-in, pages are served on an explicit address of this machine
// or on a socket. It is also a test of the other settings of the dashboard.
func TestS6_14_NoSignIn(t *testing.T) {
	t.Parallel()
	known := []string{"SWITCHBACK_CLIENT_ID", "Iv1.x", "SWITCHBACK_CLIENT_SECRET", "hush", "SWITCHBACK_PUBLIC_URL", "https://x.example.com"}
	for _, c := range []struct {
		name  string
		flags map[string]string
		env   []string
		on    bool
		why   string // of an error, or of there being none
		bad   bool
	}{
		{"all is known", nil, known, true, "", false},
		{"nothing is known", nil, nil, false, "without SWITCHBACK_CLIENT_ID, SWITCHBACK_CLIENT_SECRET, SWITCHBACK_PUBLIC_URL", false},
		{"the address is not known", nil, known[:4], false, "without SWITCHBACK_PUBLIC_URL", false},
		{"the address is not encrypted", map[string]string{"public-url": "http://x.example.com"}, known, false, "not encrypted", false},
		{"asked for, but nothing is known", map[string]string{"dashboard": "on"}, nil, false, "--dashboard on: nobody could sign in", true},
		{"not wanted", map[string]string{"dashboard": "off"}, known, false, "", false},
		{"no such word", map[string]string{"dashboard": "maybe"}, known, true, `"maybe" is none of`, true},
		{"without sign-in on this machine", map[string]string{"no-sign-in": "true", "listen": "127.0.0.1:8080"}, nil, true, "", false},
		{"without sign-in on this machine, by name", map[string]string{"no-sign-in": "true", "listen": "localhost:8080"}, nil, true, "", false},
		{"without sign-in on this machine, IPv6", map[string]string{"no-sign-in": "true", "listen": "[::1]:8080"}, nil, true, "", false},
		{"without sign-in on a socket", map[string]string{"no-sign-in": "true", "listen": "unix:/run/x.sock"}, nil, true, "", false},
		{"without sign-in on all addresses", map[string]string{"no-sign-in": "true"}, known, true, `--no-sign-in: ":8080" is open to other machines`, true},
		{"without sign-in on 0.0.0.0", map[string]string{"listen": "0.0.0.0:8080"}, append(known, "SWITCHBACK_NO_SIGN_IN", "true"), true, "--listen 127.0.0.1:8080 or --listen unix:", true},
		{"without sign-in on another address", map[string]string{"no-sign-in": "true", "listen": "10.0.0.7:80"}, nil, true, "open to other machines", true},
		{"neither yes nor no", map[string]string{"no-sign-in": "perhaps"}, known, true, "neither true nor false", true},
	} {
		s, err := Load(c.flags, environment(t, c.env...))
		on, why := s.dashboard()
		if c.bad {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || on != c.on || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
			t.Errorf("%s: %v %q %v", c.name, on, why, err)
		}
	}
	s, err := Load(nil, environment(t, known...))
	var b strings.Builder
	if err != nil || s.Print(&b) != nil || strings.Contains(b.String(), "hush") || !strings.Contains(b.String(), "SWITCHBACK_CLIENT_ID=Iv1.x\nSWITCHBACK_CLIENT_SECRET=[secret]\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
