package credentials

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var testKey = sync.OnceValue(func() Secret {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return Secret(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
})

func testApp() App {
	return App{ID: 7, Slug: "switchback-acme", Name: "Switchback Acme", ClientID: "Iv1.x", ClientSecret: "client secret",
		PrivateKey: testKey(), WebhookSecret: "hook secret"}
}

func env(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

func save(t *testing.T, dir string, a App, force bool) error {
	t.Helper()
	_, err := Save(context.Background(), dir, a, force)
	return err
}

func TestSaved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := Prepare(dir, false); err != nil {
		t.Fatal(err)
	}
	path, err := Save(context.Background(), dir, testApp(), false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Load(dir, env()); err != nil || got != testApp() {
		t.Errorf("%+v %v", got, err)
	}
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		if info, err := os.Stat(name); err != nil || modes && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %#o (%v)", name, info.Mode(), want, err)
		}
	}
	if err := save(t, dir, testApp(), false); err != nil {
		t.Errorf("the same again: %v", err)
	}
	other := testApp()
	other.ID, other.WebhookSecret = 8, "another"
	var exists *ExistsError
	if err := save(t, dir, other, false); !errors.As(err, &exists) || exists.App.ID != 7 {
		t.Errorf("another over it: %v", err)
	}
	if err := Prepare(dir, false); !errors.As(err, &exists) {
		t.Errorf("prepared beside another: %v", err)
	}
	if err := errors.Join(Prepare(dir, true), save(t, dir, other, true)); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(dir, env()); err != nil || got != other {
		t.Errorf("%+v %v", got, err)
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "app-7-*.json"))
	if len(kept) != 1 {
		t.Fatalf("the old App is kept as %v", kept)
	}
	data, _ := os.ReadFile(kept[0])
	if got, err := decode(kept[0], data); err != nil || got != testApp() {
		t.Errorf("kept %+v %v", got, err)
	}
}

// Of many that save at once one wins; nobody sees half a file.
func TestSavedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testKey()
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wg.Go(func() {
			a := testApp()
			a.ID = int64(100 + i)
			_, err := Save(context.Background(), dir, a, false)
			var exists *ExistsError
			if got, rerr := Read(dir); rerr != nil || got.Check() != nil {
				t.Errorf("read %v %v", got.ID, rerr)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.As(err, &exists) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d won", won)
	}
}

// What a killed process leaves beside the file is in nobody's way.
func TestSavedAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, tempName), []byte(`{"id":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, env()); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "switchback setup") {
		t.Errorf("%v", err)
	}
	if err := save(t, dir, testApp(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, env()); err != nil {
		t.Error(err)
	}
}

func TestLoadedFromTheEnvironment(t *testing.T) {
	t.Parallel()
	key := testKey().Reveal()
	dir, empty := t.TempDir(), t.TempDir()
	if err := save(t, dir, testApp(), false); err != nil {
		t.Fatal(err)
	}
	keyFile, hookFile := filepath.Join(empty, "key.pem"), filepath.Join(empty, "hook")
	if err := errors.Join(os.WriteFile(keyFile, []byte(key), 0o600), os.WriteFile(hookFile, []byte("from a file\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir     string
		env     []string
		id      int64
		secrets string
		api     string
		err     string
	}{
		"alone":            {empty, []string{EnvAppID, "9", EnvPrivateKey, key, EnvWebhookSecret, "s"}, 9, "s", "https://api.github.com", ""},
		"of files":         {empty, []string{EnvAppID, "9", EnvPrivateKey + "_FILE", keyFile, EnvWebhookSecret + "_FILE", hookFile}, 9, "from a file", "https://api.github.com", ""},
		"key in one line":  {empty, []string{EnvAppID, "9", EnvPrivateKey, strings.ReplaceAll(key, "\n", `\n`), EnvWebhookSecret, "s"}, 9, "s", "https://api.github.com", ""},
		"rotated":          {dir, []string{EnvWebhookSecret, "new", EnvOldWebhookSecret, "hook secret"}, 7, "new,hook secret", "https://api.github.com", ""},
		"enterprise":       {dir, []string{EnvGitHubURL, "https://github.acme.test/"}, 7, "hook secret", "https://github.acme.test/api/v3", ""},
		"data residency":   {dir, []string{EnvGitHubURL, "https://acme.ghe.com"}, 7, "hook secret", "https://api.acme.ghe.com", ""},
		"id alone":         {dir, []string{EnvAppID, "7"}, 7, "hook secret", "https://api.github.com", ""},
		"another App":      {dir, []string{EnvAppID, "9"}, 0, "", "", "the private key is missing"},
		"no secret":        {empty, []string{EnvAppID, "9", EnvPrivateKey, key}, 0, "", "", "the webhook secret is missing"},
		"no number":        {empty, []string{EnvAppID, "switchback"}, 0, "", "", "SWITCHBACK_APP_ID is \"switchback\""},
		"twice":            {dir, []string{EnvWebhookSecret, "a", EnvWebhookSecret + "_FILE", hookFile}, 0, "", "", "set one"},
		"no such file":     {dir, []string{EnvPrivateKey + "_FILE", filepath.Join(empty, "none")}, 0, "", "", "SWITCHBACK_PRIVATE_KEY_FILE: open"},
		"no PEM":           {dir, []string{EnvPrivateKey, "abc"}, 0, "", "", "not in PEM form"},
		"no key":           {dir, []string{EnvPrivateKey, "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"}, 0, "", "", "cannot be read as an RSA key"},
		"an API's address": {dir, []string{EnvGitHubURL, "https://github.acme.test/api/v3"}, 0, "", "", "address of an API"},
		"plain http":       {dir, []string{EnvGitHubURL, "http://github.acme.test"}, 0, "", "", "use https"},
		"neither":          {empty, nil, 0, "", "", "no GitHub App is set up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Load(c.dir, env(c.env...))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || got.ID != c.id || strings.Join(got.WebhookSecrets(), ",") != c.secrets || got.APIURL() != c.api {
				t.Errorf("%d %v %s %v", got.ID, got.WebhookSecrets(), got.APIURL(), err)
			}
		})
	}
}

func TestOpenToOthers(t *testing.T) {
	t.Parallel()
	if !modes {
		t.Log("the mode of a file says nothing here")
		return
	}
	dir := t.TempDir()
	path, err := Save(context.Background(), dir, testApp(), false)
	if err := errors.Join(err, os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, env()); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
	if err := Prepare(dir, false); err == nil {
		t.Error("prepared over it")
	}
}

func TestBrokenFileNamesItsLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, []byte("{\n  \"id\": 7,\n  \"private_key\": oops\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, env()); err == nil || !strings.Contains(err.Error(), path+":3: ") {
		t.Errorf("%v", err)
	}
}

// A secret is in no error, no print and no log line.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	a := testApp()
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("app", "app", a, "secret", a.WebhookSecret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("app", "app", a, "secret", a.ClientSecret)
	broken := a
	broken.PrivateKey = "abc hook secret"
	fmt.Fprintf(&log, "%v %+v %#v %s %q %x %v", a, a, a, a.WebhookSecret, a.WebhookSecret, a.WebhookSecret, broken.Check())
	for _, s := range []string{"hook secret", "client secret", a.PrivateKey.Reveal()[40:80], fmt.Sprintf("%x", "hook secret")} {
		if strings.Contains(log.String(), s) {
			t.Errorf("%q is shown in\n%s", s, log.String())
		}
	}
	if !strings.Contains(log.String(), hidden) {
		t.Error("nothing was shown at all")
	}
}
