package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/endpoint"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/github/ratelimit/sqllimit"
	"github.com/switchback-ci/switchback/bot/notify"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/server/recovery"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/bot/web/signin"
)

// WebhookPath is the path of webhooks below the server's address.
const WebhookPath = "/webhook"

// server is `switchback serve`.
type server struct {
	settings      Settings
	version       string // of the program
	log           *slog.Logger
	metrics       *metrics
	store         *queue.Store
	worker        *worker
	installations *installations
	contexts      *contexts
	live          *notifier
	shown         *pages                 // nil if none are served
	login         atomic.Pointer[string] // of the App's bot, once it is known
	working       atomic.Bool            // the queue runs
	stopping      atomic.Bool
}

// Serve accepts webhooks and handles them until ctx ends. Then it accepts no more, finishes
// deliveries in progress within the grace period, and returns; hard ends that at once. What is not
// done by then is done after the next start.
func Serve(ctx, hard context.Context, s Settings, version string, log *slog.Logger) (err error) {
	name := processName()
	log = log.With("process", name)
	v := &server{settings: s, version: version, log: log, metrics: newMetrics()}
	app, err := github.NewApp(s.App.ID, []byte(s.App.PrivateKey.Reveal()), s.App.APIURL())
	if err != nil {
		return err
	}
	if v.store, err = queue.Open(ctx, s.Database, s.Data, recovery.Line(), sqllimit.Line(), eventstream.Line(), signin.Line(), notify.Line()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.store.Close()) }()
	v.installations = &installations{app: app, login: s.App.Bot(), process: name, store: v.store, settings: s, metrics: v.metrics, log: log}
	v.contexts = &contexts{installations: v.installations, store: v.store, metrics: v.metrics, log: log,
		appID: s.App.ID, serverURL: s.App.WebURL(), leaseTTL: s.LeaseTTL}
	v.live = newNotifier(eventstream.New(v.store.Database()), v.contexts, s.Events, log)
	v.contexts.shown = v.live.shown
	v.worker = &worker{notified: newNotifications(v), live: v.live, store: v.store, contexts: v.contexts, metrics: v.metrics, log: log, serving: ctx}
	search, err := v.recovery()
	if err != nil {
		return err
	}
	v.worker.rec = recovery.New(search)
	v.metrics.registry.MustRegister(&depth{v.store}, &outages{v.live.events.Incidents}, listening(v.live.broadcaster))
	if v.shown, err = v.pages(); err != nil {
		return err
	}
	return v.run(ctx, hard, agent(version))
}

// run serves until ctx ends, and stops.
func (v *server) run(ctx, hard context.Context, version slog.Attr) error {
	l, err := v.settings.Listen.Listen()
	if err != nil {
		return err
	}
	web := v.web(v.routes())
	scraped, err := v.scraped()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer scraped()
	telling, end := context.WithCancel(context.WithoutCancel(ctx)) // events of work that ends while the server stops are published too
	serving, over := context.WithCancel(ctx)                       // also ends with an error of the server
	defer v.live.run(telling, serving)()
	defer v.worker.notified.run(serving)()
	defer v.shown.run(serving)()
	defer end()
	defer over()
	failed := make(chan error, 2)
	go func() { failed <- web.Serve(l) }()
	v.log.Info("listening", "address", l.Addr().String(), version)
	started := make(chan struct{})
	go func() {
		defer close(started)
		if err := v.start(ctx); err != nil && ctx.Err() == nil {
			failed <- err
		}
	}()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	<-started
	over()
	return errors.Join(err, v.stop(hard, web))
}

// web returns an HTTP server with the limits of all addresses that this process listens on.
func (v *server) web(h http.Handler) *http.Server {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(v.log.Handler(), slog.LevelDebug)}
	bound(s, maxConnections)
	return s
}

// start starts the queue once GitHub has said which login the App has. Webhooks are accepted
// meanwhile.
func (v *server) start(ctx context.Context) error {
	for n := 1; v.installations.login == ""; n++ {
		slug, err := v.installations.app.Slug(ctx)
		if err == nil && slug != "" {
			v.installations.login = slug + "[bot]"
			continue
		}
		if kind := advice.Of(err).Kind; kind != advice.Later && err != nil {
			return fmt.Errorf("GitHub does not know the App %d at %s: %w", v.settings.App.ID, v.settings.App.APIURL(), err)
		}
		v.log.Warn("GitHub could not be asked for the App's login; it is asked again", "err", err)
		if sleep.For(ctx, min(time.Second<<min(n, 5), 30*time.Second)) != nil {
			return nil
		}
	}
	login := v.installations.login
	v.login.Store(&login)
	close(v.live.begun)
	err := v.store.Jobs.Start(ctx, queue.Work{
		Handle: v.worker.handle, AtOnce: v.settings.Workers, Log: quiet(v.log), Workers: v.worker.reconcilers(), Periodic: timers(v.settings), Aside: map[string]int{asideQueue: 1, notifyQueue: notifyAtOnce},
		Advise: advise,
	})
	if err != nil {
		return err
	}
	v.working.Store(true)
	v.log.Info("working", "bot", v.installations.login)
	return nil
}

// stop accepts no more webhooks, and finishes deliveries in progress within the grace period.
func (v *server) stop(hard context.Context, web *http.Server) error {
	v.stopping.Store(true)
	v.log.Info("stopping", "grace", v.settings.Grace)
	ctx, cancel := context.WithTimeout(hard, v.settings.Grace)
	defer cancel()
	err := web.Shutdown(ctx)
	if err != nil {
		err = web.Close()
	}
	if v.working.Swap(false) {
		if stopped := v.store.Jobs.Stop(ctx); stopped != nil || ctx.Err() != nil {
			v.log.Warn("the grace period is over; deliveries in progress are handled again after the next start", "err", stopped)
		}
	}
	v.log.Info("stopped")
	return err
}

func (v *server) bot() string {
	if p := v.login.Load(); p != nil {
		return *p
	}
	return ""
}

func (v *server) routes() http.Handler {
	mux := http.NewServeMux()
	hooks := newReceiver(v.settings.App.WebhookSecrets(), v.bot, v.store.Deliveries.Accept, v.metrics, v.log)
	hooks.from = func(r *http.Request) netip.Addr { return endpoint.Group(v.settings.Proxies.Client(r)) }
	hooks.pushed, hooks.written = v.contexts.stale, v.live.pushed
	mux.Handle("POST "+WebhookPath, hooks)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", v.ready)
	if v.shown != nil {
		mux.Handle("/", v.shown)
	}
	return v.protected(mux)
}

// hsts is the Strict-Transport-Security of answers over TLS. It does not speak for other hosts below
// the server's name, which belong to others.
const hsts = "max-age=31536000"

// protected adds the headers that protect the readers of any answer. Pages replace the policy with
// their own.
func (v *server) protected(h http.Handler) http.Handler {
	public, err := signin.ParsePublic(v.settings.Public)
	encrypted := err == nil && strings.HasPrefix(public, "https:")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
		head.Set("Referrer-Policy", "same-origin")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Cache-Control", "no-store")
		if encrypted || v.settings.Proxies.Encrypted(r) {
			head.Set("Strict-Transport-Security", hsts)
		}
		h.ServeHTTP(w, r)
	})
}

// ready reports whether webhooks can be stored and are handled.
func (v *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	_, _, err := v.store.Deliveries.Find(ctx, "")
	switch {
	case v.stopping.Load():
		answer(w, http.StatusServiceUnavailable, "stopping")
	case err != nil:
		v.log.Warn("not ready", "err", err)
		answer(w, http.StatusServiceUnavailable, "the database does not answer")
	case !v.working.Load():
		answer(w, http.StatusServiceUnavailable, "the queue does not work")
	default:
		answer(w, http.StatusOK, "ready")
	}
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": text})
}

// processName names this process among all replicas and all starts.
func processName() string {
	host, err := os.Hostname()
	if err != nil || len(host) > 60 {
		host = "host"
	}
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), hex.EncodeToString(b[:]))
}
