// Package notify tells chats and other services what people should hear of: escalations, incidents,
// tests in quarantine, and once a week how things stand. Whoever does not answer, or rejects, delays
// nobody else.
package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// Format is what an endpoint understands.
type Format string

// The formats.
const (
	Slack   Format = "slack"   // an incoming webhook of Slack, or of what takes the same, such as Mattermost
	Teams   Format = "teams"   // a workflow of Microsoft Teams that posts adaptive cards
	Webhook Format = "webhook" // JSON, signed like GitHub's webhooks
)

// Topic is what an endpoint may hear of.
type Topic string

// The topics.
const (
	Escalation Topic = "escalation" // a maintainer has to answer
	Limit      Topic = "limit"      // an escalation because fix attempts are used up or make no progress
	Resolved   Topic = "resolved"   // an escalation was answered, or a green run made it obsolete
	Incident   Topic = "incident"   // an incident opened, or is over
	Quarantine Topic = "quarantine" // a test is in quarantine, or its quarantine ends soon or has ended
	Digest     Topic = "digest"     // the weekly digest; endpoints get it that set a time for it
)

var topics = []string{string(Escalation), string(Limit), string(Resolved), string(Incident), string(Quarantine)}

// Endpoint is one place that is told.
type Endpoint struct {
	Name         string           `yaml:"name"`
	Format       Format           `yaml:"format"`
	URLEnv       string           `yaml:"url_env"`       // the variable with the address, which is a secret
	SecretEnv    string           `yaml:"secret_env"`    // the variable with the secret of the signature
	On           []Topic          `yaml:"on"`            // default: escalation
	Repositories []string         `yaml:"repositories"`  // patterns of owner/name; default: all
	Language     catalog.Language `yaml:"language"`      // default: en
	DigestAt     string           `yaml:"digest"`        // weekday and time in UTC, such as "monday 09:00"; "": no digest
	AllowPrivate bool             `yaml:"allow_private"` // private addresses and http are allowed

	url    *url.URL
	secret []byte
	digest time.Duration // since the beginning of a week, Monday
}

// file is the file of endpoints.
type file struct {
	Endpoints []yaml.Node `yaml:"endpoints"`
}

// unknownKey finds a key of the file that it does not have in the decoder's error.
var unknownKey = regexp.MustCompile(`line (\d+): field (\S+) not found in type notify\.file`)

// Read reads a file of endpoints. Addresses and secrets come from getenv. An error names the file,
// the line and the remedy.
func Read(name string, getenv func(string) string) ([]Endpoint, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var f file
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		var root yaml.Node
		if m := unknownKey.FindStringSubmatch(err.Error()); m != nil && yaml.Unmarshal(data, &root) == nil {
			return nil, fmt.Errorf("%s:%s: unknown key %q; the file holds a list below the key endpoints", name, m[1], m[2])
		}
		return nil, fmt.Errorf("%s: %s", name, strings.Join(strings.Fields(err.Error()), " "))
	}
	var out []Endpoint
	var wrong []error
	for _, n := range f.Endpoints {
		e, err := endpoint(n, getenv)
		if err == nil && slices.ContainsFunc(out, func(o Endpoint) bool { return o.Name == e.Name }) {
			err = fmt.Errorf("a second endpoint with the name %q; give each its own", e.Name)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, n.Line, err))
		}
		out = append(out, e)
	}
	if len(f.Endpoints) == 0 {
		wrong = append(wrong, fmt.Errorf("%s: there are no endpoints; list them under `endpoints:`", name))
	}
	return out, errors.Join(wrong...)
}

var fields = []string{"name", "format", "url_env", "secret_env", "on", "repositories", "language", "digest", "allow_private"}

// endpoint returns the endpoint that a node describes.
func endpoint(n yaml.Node, getenv func(string) string) (e Endpoint, err error) {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if k := n.Content[i].Value; !slices.Contains(fields, k) {
			return e, fmt.Errorf("unknown key %q; %s", k, suggest.Hint(k, fields))
		}
	}
	if err := n.Decode(&e); err != nil {
		return e, err
	}
	if e.On == nil {
		e.On = []Topic{Escalation}
	}
	for _, t := range e.On {
		if !slices.Contains(topics, string(t)) {
			return e, fmt.Errorf("on: unknown topic %q; %s", t, suggest.Hint(string(t), topics))
		}
	}
	for _, p := range e.Repositories {
		if !doublestar.ValidatePattern(p) || strings.Count(p, "/") != 1 {
			return e, fmt.Errorf("repositories: %q is no pattern of owner/name, such as acme/*", p)
		}
	}
	if e.Language == "" {
		e.Language = catalog.English
	}
	switch {
	case e.Name == "" || len(e.Name) > 100:
		return e, errors.New("name is missing or longer than 100 bytes; give the endpoint a short one, for logs and metrics")
	case e.Format != Slack && e.Format != Teams && e.Format != Webhook:
		return e, fmt.Errorf("format is %q; %s", e.Format, suggest.Hint(string(e.Format), []string{string(Slack), string(Teams), string(Webhook)}))
	case !slices.Contains(catalog.Languages(), e.Language):
		return e, fmt.Errorf("language is %q; known are en, ko", e.Language)
	case e.Format == Webhook && e.SecretEnv == "":
		return e, errors.New("secret_env is missing; name the variable with the secret that signs, so that the receiver can tell who sent it")
	case e.Format != Webhook && e.SecretEnv != "":
		return e, fmt.Errorf("secret_env is for format: webhook; the address of %s is the secret, remove it", e.Format)
	}
	if e.DigestAt != "" {
		if e.digest, err = weekTime(e.DigestAt); err != nil {
			return e, err
		}
	}
	if e.url, err = e.address(getenv); err != nil {
		return e, err
	}
	if e.SecretEnv != "" {
		if e.secret = []byte(getenv(e.SecretEnv)); len(e.secret) < 16 {
			return e, fmt.Errorf("secret_env: %s has fewer than 16 bytes; set it to a long random text", e.SecretEnv)
		}
	}
	return e, nil
}

// address returns where an endpoint is. No error shows it: it is a secret.
func (e Endpoint) address(getenv func(string) string) (*url.URL, error) {
	if e.URLEnv == "" {
		return nil, errors.New("url_env is missing; name the variable with the address, which is a secret and stays out of the file")
	}
	value := strings.TrimSpace(getenv(e.URLEnv))
	if value == "" {
		return nil, fmt.Errorf("url_env: %s is not set; set it to the address", e.URLEnv)
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !e.AllowPrivate) {
		return nil, fmt.Errorf("url_env: %s holds no https address; set it to the one that %s shows", e.URLEnv, e.Format)
	}
	return u, nil
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// weekTime returns a time of a week since its beginning, Monday.
func weekTime(s string) (time.Duration, error) {
	day, at, _ := strings.Cut(strings.ToLower(s), " ")
	i := slices.Index(weekdays, day)
	t, err := time.Parse("15:04", at)
	if i < 0 || err != nil {
		return 0, fmt.Errorf("digest is %q; give a weekday and a time in UTC, such as monday 09:00", s)
	}
	return time.Duration(i)*24*time.Hour + t.Sub(t.Truncate(24*time.Hour)), nil
}

// Due returns when the newest digest was due at a time. ok is false if the endpoint gets none.
func (e Endpoint) Due(now time.Time) (due time.Time, ok bool) {
	if e.DigestAt == "" {
		return time.Time{}, false
	}
	now = now.UTC()
	day := (int(now.Weekday()) + 6) % 7 // Monday is 0
	due = now.Truncate(24*time.Hour).AddDate(0, 0, -day).Add(e.digest)
	if due.After(now) {
		due = due.AddDate(0, 0, -7)
	}
	return due, true
}

// Wants reports whether the endpoint is told of a message.
func (e Endpoint) Wants(m Message) bool {
	on := m.Topic == Digest || slices.ContainsFunc(m.Topics(), func(t Topic) bool { return slices.Contains(e.On, t) })
	return on && e.Covers(m.Repository)
}

// Covers reports whether a repository is among those of the endpoint.
func (e Endpoint) Covers(repository string) bool {
	return len(e.Repositories) == 0 || slices.ContainsFunc(e.Repositories, func(p string) bool {
		return doublestar.MatchUnvalidated(strings.ToLower(p), strings.ToLower(repository))
	})
}
