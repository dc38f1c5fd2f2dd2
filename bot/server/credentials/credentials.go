// Package credentials keeps what a GitHub App is known by: its id, its private
// key and its webhook secret. Setup saves them once, and the server loads them,
// from the data directory or from the environment.
package credentials

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
)

// DefaultGitHub is where people see github.com.
const DefaultGitHub = "https://github.com"

// Secret is text that is shown nowhere: whatever prints or logs it shows a
// placeholder. Encoding it as JSON writes it, for that is how it is kept.
type Secret string

const hidden = "[secret]"

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// Format implements fmt.Formatter for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	text := hidden
	if s == "" {
		text = "[none]"
	}
	_, _ = io.WriteString(f, text)
}

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }

// App is a GitHub App as its owner knows it.
type App struct {
	ID            int64  `json:"id"`
	Slug          string `json:"slug,omitempty"` // names the App in addresses; its bot is Slug[bot]
	Name          string `json:"name,omitempty"`
	URL           string `json:"html_url,omitempty"` // of its page
	GitHub        string `json:"github,omitempty"`   // where people see GitHub; "" means DefaultGitHub
	Server        string `json:"server,omitempty"`   // where people and GitHub see the server, if setup was told
	ClientID      string `json:"client_id,omitempty"`
	ClientSecret  Secret `json:"client_secret,omitempty"`
	PrivateKey    Secret `json:"private_key"` // PEM
	WebhookSecret Secret `json:"webhook_secret"`
	// OldWebhookSecret is taken beside WebhookSecret while that is replaced.
	OldWebhookSecret Secret `json:"old_webhook_secret,omitempty"`
}

// LogValue implements slog.LogValuer: as JSON the secrets would be written.
func (a App) LogValue() slog.Value {
	return slog.GroupValue(slog.Int64("id", a.ID), slog.String("slug", a.Slug))
}

// Bot is the login under which the App's posts appear, "" if its slug is not
// known: GET /app says it.
func (a App) Bot() string {
	if a.Slug == "" {
		return ""
	}
	return a.Slug + "[bot]"
}

// WebhookSecrets are those with which a webhook may be signed, the present one
// first.
func (a App) WebhookSecrets() []string {
	var out []string
	for _, s := range []Secret{a.WebhookSecret, a.OldWebhookSecret} {
		if s != "" && !slices.Contains(out, s.Reveal()) {
			out = append(out, s.Reveal())
		}
	}
	return out
}

// WebURL is where people see the App's GitHub, without a slash at its end.
func (a App) WebURL() string { return cmp.Or(a.GitHub, DefaultGitHub) }

// APIURL is the address of the API of the App's GitHub.
func (a App) APIURL() string { return APIURL(a.WebURL()) }

// APIURL returns the address of the API of the GitHub that people see at web:
// github.com and GHE.com have a host for it, GitHub Enterprise Server a path.
func APIURL(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return web
	}
	switch host := strings.ToLower(u.Host); {
	case host == "github.com" || host == "www.github.com":
		return "https://api.github.com"
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + strings.TrimPrefix(host, "api.")
	}
	return strings.TrimRight(web, "/") + "/api/v3"
}

// ParseGitHub returns the address at which people see a GitHub in the form in
// which it is kept: "" is github.com, and an address of an API is refused. Plain
// http is for a GitHub on this machine only: the private key goes over the wire.
func ParseGitHub(s string) (string, error) {
	if s == "" {
		return DefaultGitHub, nil
	}
	u, err := url.Parse(strings.TrimRight(s, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q is not the address of a GitHub; give it as https://github.example.com", s)
	case strings.HasSuffix(u.Path, "/api/v3") || strings.HasPrefix(u.Host, "api."):
		return "", fmt.Errorf("%q is the address of an API; give the address at which people see GitHub", s)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "", fmt.Errorf("%q is not encrypted; the App's private key goes over that connection: use https", s)
	}
	return u.String(), nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// Check returns an error that names everything that a server needs and a lacks.
func (a App) Check() error {
	var errs []error
	if a.ID <= 0 {
		errs = append(errs, errors.New("the App's id is missing or not a positive number"))
	}
	if a.WebhookSecret == "" {
		errs = append(errs, errors.New("the webhook secret is missing: without it anybody could send events"))
	}
	if err := checkKey(a.PrivateKey); err != nil {
		errs = append(errs, err)
	}
	if _, err := ParseGitHub(a.GitHub); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkKey never quotes the key.
func checkKey(key Secret) error {
	if key == "" {
		return errors.New("the private key is missing")
	}
	block, _ := pem.Decode([]byte(key.Reveal()))
	if block == nil {
		return errors.New("the private key is not in PEM form; give the whole file that GitHub gave, from -----BEGIN to -----END")
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return nil
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return nil
	}
	return fmt.Errorf("the private key (%s) cannot be read as an RSA key; give the file that GitHub gave", block.Type)
}
