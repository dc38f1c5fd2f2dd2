package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/redact"
)

// The environment variables that Load reads. Each but the ids and the address
// may also be given as the path of a file, by its name with _FILE behind it.
const (
	EnvAppID            = "SWITCHBACK_APP_ID"
	EnvPrivateKey       = "SWITCHBACK_PRIVATE_KEY"
	EnvWebhookSecret    = "SWITCHBACK_WEBHOOK_SECRET"
	EnvOldWebhookSecret = "SWITCHBACK_WEBHOOK_SECRET_OLD"
	EnvClientID         = "SWITCHBACK_CLIENT_ID"
	EnvClientSecret     = "SWITCHBACK_CLIENT_SECRET"
	EnvGitHubURL        = "SWITCHBACK_GITHUB_URL"
)

// EnvData names the data directory: the App's credentials, and the database
// where no other is given.
const EnvData = "SWITCHBACK_DATA"

// DataDir returns the data directory: what the environment says, or
// .switchback in the user's home, away from any checkout.
func DataDir(getenv func(string) string) string {
	if dir := getenv(EnvData); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".switchback")
}

// ErrNone is returned, wrapped, where neither the data directory nor the
// environment knows an App.
var ErrNone = errors.New("no GitHub App is set up")

// Load returns the App saved in the data directory dir, with what the
// environment says in its place. An App given by the environment alone needs
// no file. An App that lacks something, or a file that others may read, is an
// error with its remedy; none of them quotes a secret.
func Load(dir string, getenv func(string) string) (App, error) {
	a, err := Read(dir)
	saved := err == nil
	if err != nil && !errors.Is(err, ErrNone) {
		return App{}, err
	}
	given, err := override(&a, getenv)
	switch {
	case err != nil:
		return App{}, err
	case !saved && !given:
		return App{}, fmt.Errorf("%w: there is no %s, and %s is not set; run `switchback setup`, or set %s, %s and %s",
			ErrNone, filepath.Join(dir, fileName), EnvAppID, EnvAppID, EnvPrivateKey, EnvWebhookSecret)
	}
	redact.Hide(string(a.PrivateKey), string(a.WebhookSecret), string(a.OldWebhookSecret), string(a.ClientSecret))
	if err := a.Check(); err != nil {
		where := "the environment"
		if saved {
			where = filepath.Join(dir, fileName)
		}
		return App{}, fmt.Errorf("the GitHub App of %s: %w", where, err)
	}
	return a, nil
}

// override puts into a what the environment says, and reports whether that
// names an App. An id other than the saved App's takes nothing from that.
func override(a *App, getenv func(string) string) (given bool, err error) {
	if s := strings.TrimSpace(getenv(EnvAppID)); s != "" {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil || id <= 0 {
			return false, fmt.Errorf("%s is %q; it is the App's number, to be found on its settings page", EnvAppID, s)
		}
		if id != a.ID {
			*a = App{ID: id}
		}
		given = true
	}
	for _, v := range []struct {
		name string
		into *Secret
	}{{EnvPrivateKey, &a.PrivateKey}, {EnvWebhookSecret, &a.WebhookSecret}, {EnvOldWebhookSecret, &a.OldWebhookSecret}, {EnvClientSecret, &a.ClientSecret}} {
		s, err := variable(v.name, getenv)
		if err != nil {
			return false, err
		}
		if s != "" {
			*v.into = Secret(s)
		}
	}
	if s := getenv(EnvPrivateKey); s != "" && !strings.Contains(s, "\n") {
		a.PrivateKey = Secret(strings.ReplaceAll(s, `\n`, "\n")) // as files of variables write it
	}
	if s := strings.TrimSpace(getenv(EnvClientID)); s != "" {
		a.ClientID = s
	}
	if s := strings.TrimSpace(getenv(EnvGitHubURL)); s != "" {
		if a.GitHub, err = ParseGitHub(s); err != nil {
			return false, fmt.Errorf("%s: %w", EnvGitHubURL, err)
		}
	}
	return given, nil
}

// variable returns a variable's value, or that of the file it names.
func variable(name string, getenv func(string) string) (string, error) {
	value, path := getenv(name), getenv(name+"_FILE")
	switch {
	case path == "":
		return strings.TrimSpace(value), nil
	case value != "":
		return "", fmt.Errorf("both %s and %s_FILE are set; set one", name, name)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	if value = strings.TrimSpace(string(data)); value == "" {
		return "", fmt.Errorf("%s_FILE: %s is empty", name, path)
	}
	return value, nil
}

// Read returns the App saved in dir, or an error that is ErrNone if there is
// none. It does not look for what the App lacks.
func Read(dir string) (App, error) {
	path := filepath.Join(dir, fileName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return App{}, fmt.Errorf("%w in %s", ErrNone, dir)
	}
	if err != nil {
		return App{}, err
	}
	if open := info.Mode().Perm() & 0o007; open != 0 && modes {
		return App{}, fmt.Errorf("%s may be read by everybody on this machine (%#o); run `chmod 600 %s`, and replace the App's private key if somebody else uses it", path, info.Mode().Perm(), path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return App{}, err
	}
	return decode(path, data)
}
