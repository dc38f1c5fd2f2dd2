// Package server is Switchback as a GitHub App: it accepts webhooks, stores them until they are
// handled, and calls the handlers that the Action calls as well.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/endpoint"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/bot/notify"
	"github.com/switchback-ci/switchback/bot/server/credentials"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// Settings say how the server runs. Each is a flag of `switchback serve` and an environment
// variable; the flag takes precedence.
type Settings struct {
	Listen    endpoint.Address // that is listened on
	Proxies   endpoint.Proxies // in front of the server
	Data      string           // data directory
	Database  string           // URL of a PostgreSQL database; "" is SQLite in Data
	Workers   int              // deliveries handled at once
	Grace     time.Duration    // how long deliveries in progress may take after the first signal to stop
	Reconcile time.Duration    // time between two reconciles of a repository
	Recover   time.Duration    // time between two searches for missed events, 0 for none
	LeaseTTL  time.Duration    // how long a process that stopped responding keeps its lease on a case
	Interval  time.Duration    // between two writes to GitHub of one installation
	Limits    ratelimit.Limits // of the requests to GitHub for one installation
	Events    time.Duration    // how long events are kept
	Cache     int              // MiB of answers kept per installation
	Level     string           // debug, info, warn, error
	Format    string           // of the log: text or json

	Dashboard string        // whether pages are served: auto, on, off
	Public    string        // address at which people see the server; "" as setup kept it
	NoSignIn  bool          // whether people on this machine may see everything
	Access    time.Duration // how long what GitHub said somebody may see is kept

	Notify []notify.Endpoint // that are told of escalations
	notify string            // the file that lists them

	Metrics *endpoint.Address // on which metrics are served to everybody who reaches it; nil to serve none

	App credentials.App
}

// Setting is one of Settings as people give it.
type Setting struct {
	Flag, Env, Default, Usage string
	Switch                    bool // as a flag, it needs no value

	set func(*Settings, string) error
	get func(Settings) string
}

// All returns the settings in the order in which they are shown.
func All() []Setting {
	return []Setting{
		{Flag: "listen", Env: "SWITCHBACK_LISTEN", Default: ":8080", Usage: "the address to listen on, or unix:PATH for a Unix socket of mode 0600",
			set: func(s *Settings, v string) (err error) { s.Listen, err = endpoint.Parse(v); return err }, get: func(s Settings) string { return s.Listen.String() }},
		{Flag: "trusted-proxy", Env: "SWITCHBACK_TRUSTED_PROXY", Usage: "the addresses or networks of the reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, separated by commas",
			set: func(s *Settings, v string) (err error) { s.Proxies, err = endpoint.ParseProxies(v); return err }, get: func(s Settings) string { return s.Proxies.String() }},
		text("data", credentials.EnvData, "", "the data directory; default: .switchback in the home directory", func(s *Settings) *string { return &s.Data }),
		{Flag: "database-url", Env: "SWITCHBACK_DATABASE_URL", Usage: "the URL of a PostgreSQL database; default: SQLite in the data directory",
			set: func(s *Settings, v string) error { s.Database = v; return nil }, get: func(s Settings) string { return masked(s.Database) }},
		number("workers", "SWITCHBACK_WORKERS", "8", "how many deliveries are processed at once", 1, 1000, func(s *Settings) *int { return &s.Workers }),
		span("grace", "SWITCHBACK_GRACE", "30s", "how long work in progress may take to finish after the first signal to stop", 0, func(s *Settings) *time.Duration { return &s.Grace }),
		span("reconcile", "SWITCHBACK_RECONCILE", "10m", "the interval at which reminders, timeouts and unfinished work are checked", time.Second, func(s *Settings) *time.Duration { return &s.Reconcile }),
		orOff(span("recover", "SWITCHBACK_RECOVER", "5m", "the interval at which missed webhooks are looked for, first at the start; 0 to turn it off", time.Second, func(s *Settings) *time.Duration { return &s.Recover })),
		span("lease", "SWITCHBACK_LEASE_TTL", "1m", "how long a process that stopped responding keeps its lease on a case", time.Second, func(s *Settings) *time.Duration { return &s.LeaseTTL }),
		span("content-interval", "SWITCHBACK_CONTENT_INTERVAL", "1s", "the interval between two writes to GitHub for one installation; GitHub asks for one second", time.Millisecond, func(s *Settings) *time.Duration { return &s.Interval }),
		{Flag: "limits", Env: "SWITCHBACK_LIMITS", Default: ratelimit.GitHub().String(), Usage: "GitHub's rate limits for one installation: requests that create content over a short and a long period, points, and concurrent requests",
			set: func(s *Settings, v string) (err error) { s.Limits, err = ratelimit.Parse(v); return err }, get: func(s Settings) string { return s.Limits.String() }},
		number("cache", "SWITCHBACK_CACHE_MB", "16", "the size of the cache for GitHub's responses per installation, in MiB", 0, 4096, func(s *Settings) *int { return &s.Cache }),
		span("events-kept", "SWITCHBACK_EVENTS_KEPT", "336h", "how long events are kept, so that clients can resume", time.Hour, func(s *Settings) *time.Duration { return &s.Events }),
		choice("dashboard", "SWITCHBACK_DASHBOARD", "auto", "whether the dashboard is served; auto: if sign-in is configured", func(s *Settings) *string { return &s.Dashboard }, "auto", "on", "off"),
		text("public-url", "SWITCHBACK_PUBLIC_URL", "", "the URL at which people open the server, such as https://switchback.example.com; default: the one given to setup", func(s *Settings) *string { return &s.Public }),
		onOff("no-sign-in", "SWITCHBACK_NO_SIGN_IN", "serve the dashboard without sign-in; only with a loopback address or a Unix socket as --listen", func(s *Settings) *bool { return &s.NoSignIn }),
		span("access", "SWITCHBACK_ACCESS", "2m", "how long the repositories that GitHub lets a person see are cached", time.Second, func(s *Settings) *time.Duration { return &s.Access }),
		{Flag: "notify", Env: "SWITCHBACK_NOTIFY", Usage: "the file that lists the chats and services to notify; default: nobody is",
			set: func(s *Settings, v string) error { s.notify = v; return nil }, get: func(s Settings) string { return s.notify }},
		{Flag: "metrics-listen", Env: "SWITCHBACK_METRICS_LISTEN", Usage: "the address with its host, or unix:PATH, to serve /metrics on, to everybody who reaches it; default: metrics are not served",
			set: (*Settings).setMetrics, get: func(s Settings) string {
				if s.Metrics == nil {
					return ""
				}
				return s.Metrics.String()
			}},
		choice("log-level", "SWITCHBACK_LOG_LEVEL", "info", "", func(s *Settings) *string { return &s.Level }, "debug", "info", "warn", "error"),
		choice("log-format", "SWITCHBACK_LOG_FORMAT", "text", "", func(s *Settings) *string { return &s.Format }, "text", "json"),
	}
}

// setMetrics sets the address of the metrics. It names its host, so that nobody serves them to all
// the world by leaving it out.
func (s *Settings) setMetrics(v string) error {
	if v == "" {
		s.Metrics = nil
		return nil
	}
	a, err := endpoint.Parse(v)
	if err != nil {
		return err
	}
	if !a.Unix() && a.Host() == "" {
		return fmt.Errorf("%q names no host; write 127.0.0.1:%[2]s for this machine, 0.0.0.0:%[2]s for everybody who reaches it, or unix:PATH", v, a.Port())
	}
	s.Metrics = &a
	return nil
}

func text(flag, env, def, usage string, at func(*Settings) *string) Setting {
	return Setting{Flag: flag, Env: env, Default: def, Usage: usage, set: func(s *Settings, v string) error { *at(s) = v; return nil }, get: func(s Settings) string { return *at(&s) }}
}

func onOff(flag, env, usage string, at func(*Settings) *bool) Setting {
	set := func(s *Settings, v string) (err error) {
		if *at(s), err = strconv.ParseBool(v); err != nil {
			return fmt.Errorf("%q is neither true nor false", v)
		}
		return nil
	}
	return Setting{Flag: flag, Env: env, Default: "false", Usage: usage, Switch: true, set: set, get: func(s Settings) string { return strconv.FormatBool(*at(&s)) }}
}

func choice(flag, env, def, usage string, at func(*Settings) *string, all ...string) Setting {
	set := func(s *Settings, v string) error {
		for _, c := range all {
			if v == c {
				*at(s) = v
				return nil
			}
		}
		return fmt.Errorf("%q is none of %s", v, strings.Join(all, ", "))
	}
	if usage != "" {
		usage = "; " + usage
	}
	return Setting{Flag: flag, Env: env, Default: def, Usage: "one of " + strings.Join(all, ", ") + usage, set: set, get: func(s Settings) string { return *at(&s) }}
}

func number(flag, env, def, usage string, low, high int, at func(*Settings) *int) Setting {
	set := func(s *Settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is no whole number from %d to %d", v, low, high)
		}
		*at(s) = n
		return nil
	}
	return Setting{Flag: flag, Env: env, Default: def, Usage: usage, set: set, get: func(s Settings) string { return strconv.Itoa(*at(&s)) }}
}

func span(flag, env, def, usage string, low time.Duration, at func(*Settings) *time.Duration) Setting {
	set := func(s *Settings, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < low {
			return fmt.Errorf("%q is no duration of at least %v; write e.g. 30s or 5m", v, low)
		}
		*at(s) = d
		return nil
	}
	return Setting{Flag: flag, Env: env, Default: def, Usage: usage, set: set, get: func(s Settings) string { return at(&s).String() }}
}

// orOff is a span that may be 0, too.
func orOff(x Setting) Setting {
	set := x.set
	x.set = func(s *Settings, v string) error {
		err := set(s, v)
		if d, perr := time.ParseDuration(v); perr == nil && d == 0 {
			return nil // as it is
		}
		if err != nil {
			return fmt.Errorf("%w, and 0 for none", err)
		}
		return nil
	}
	return x
}

// Load reads the settings and the App's credentials. Flags are those given on
// the command line, by name. The error names every setting that is wrong.
func Load(flags map[string]string, getenv func(string) string) (Settings, error) {
	s, wrong := load(flags, getenv)
	var err error
	if s.App, err = credentials.Load(s.Data, getenv); err != nil {
		wrong = errors.Join(wrong, err)
	}
	s.Public = cmp.Or(s.Public, s.App.Server)
	return s, errors.Join(wrong, s.checkDashboard())
}

// load is Load without the credentials.
func load(flags map[string]string, getenv func(string) string) (Settings, error) {
	var s Settings
	var wrong []error
	for _, x := range All() {
		value, from := x.Default, x.Env
		if v := getenv(x.Env); v != "" {
			value = v
		}
		if v, ok := flags[x.Flag]; ok {
			value, from = v, "--"+x.Flag
		}
		if err := x.set(&s, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", from, err))
		}
	}
	if s.Data == "" {
		s.Data = credentials.DataDir(getenv)
	}
	if s.notify != "" {
		var err error
		if s.Notify, err = notify.Read(s.notify, getenv); err != nil {
			wrong = append(wrong, fmt.Errorf("--notify: %w", err))
		}
	}
	return s, errors.Join(wrong...)
}

// Print writes the settings as lines of an environment, secrets masked.
func (s Settings) Print(w io.Writer) error {
	var b strings.Builder
	for _, x := range All() {
		fmt.Fprintf(&b, "%s=%s\n", x.Env, x.get(s))
	}
	fmt.Fprintf(&b, "%s=%d\n%s=%s\n", credentials.EnvAppID, s.App.ID, credentials.EnvGitHubURL, s.App.WebURL())
	fmt.Fprintf(&b, "%s=%v\n%s=%v\n%s=%v\n", credentials.EnvPrivateKey, s.App.PrivateKey,
		credentials.EnvWebhookSecret, s.App.WebhookSecret, credentials.EnvOldWebhookSecret, s.App.OldWebhookSecret)
	fmt.Fprintf(&b, "%s=%s\n%s=%v\n", credentials.EnvClientID, s.App.ClientID, credentials.EnvClientSecret, s.App.ClientSecret)
	_, err := io.WriteString(w, b.String())
	return err
}

// masked returns the URL of a database without its password, and without the
// parameters that may hold one.
func masked(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil {
		return "[unreadable]"
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "password") {
			q.Set(name, "xxxxx")
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}

// Logger returns the log that the settings ask for.
func (s Settings) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.Level)) // one of those that All lists
	o := &slog.HandlerOptions{Level: level}
	if s.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// agent describes this program and its system for the log.
func agent(version string) slog.Attr {
	return slog.String("version", version+" "+runtime.GOOS+"/"+runtime.GOARCH)
}

// quiet returns a log of warnings and errors, or the log itself if that is set to show
// everything: the queue logs its state every few seconds.
func quiet(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return log
	}
	return slog.New(warnings{log.Handler()})
}

type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{w.Handler.WithAttrs(a)} }

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// OpenStore opens the database that the flags and the environment name. The App's credentials are
// not needed, and the server may run.
func OpenStore(ctx context.Context, flags map[string]string, getenv func(string) string) (*queue.Store, error) {
	s, err := load(flags, getenv)
	if err != nil {
		return nil, err
	}
	return queue.OpenBeside(ctx, s.Database, s.Data)
}
