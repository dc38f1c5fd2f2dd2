package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/server/recovery"
	"github.com/switchback-ci/switchback/routing"
)

// metrics are the metrics for Prometheus.
type metrics struct {
	registry   *prometheus.Registry
	deliveries *prometheus.CounterVec
	answer     prometheus.Histogram
	work       *prometheus.HistogramVec
	decisions  *prometheus.CounterVec
	effects    *prometheus.CounterVec
	requests   *prometheus.CounterVec
	remaining  *prometheus.GaugeVec
	errors     *prometheus.CounterVec
	coalesced  prometheus.Counter
	looks      *prometheus.CounterVec
	recovered  *prometheus.CounterVec

	notifications *prometheus.CounterVec
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "switchback", Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry:   prometheus.NewRegistry(),
		deliveries: counter("deliveries_total", "Webhooks, by event and what they were answered with.", "event", "outcome"),
		answer: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "switchback", Name: "delivery_answer_seconds",
			Help: "Time until a webhook was answered.", Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}),
		work: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "switchback", Name: "delivery_work_seconds",
			Help: "Time that the work on a delivery took, by event and outcome.", Buckets: prometheus.ExponentialBuckets(.01, 3, 10)}, []string{"event", "outcome"}),
		decisions: counter("decisions_total", "Decisions about runs, by what was decided and the class of the failure.", "decision", "class"),
		effects:   counter("effects_total", "Effects on GitHub, by kind and whether they could be carried out.", "kind", "outcome"),
		requests:  counter("github_requests_total", "Answers of GitHub's API, by method and status. Unchanged ones cost nothing.", "method", "status", "unchanged"),
		remaining: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "switchback", Name: "github_rate_remaining",
			Help: "Requests left of the rate limit, as GitHub said last."}, []string{"installation", "resource"}),
		errors: counter("errors_total", "Work that could not be done, by what the error means.", "kind"),
		coalesced: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "switchback", Name: "deliveries_overtaken_total",
			Help: "Deliveries that were recorded and posted nothing, because a newer one of their case waited."}),
		looks:         counter("recovery_looks_total", "Looks for what the App was not told, by whether all could be looked at.", "outcome"),
		notifications: counter("notifications_total", "Notifications of chats and services, by endpoint and whether it was told.", "endpoint", "outcome"),
		recovered:     counter("recovered_total", "What was found that the App was not told: deliveries asked for again, runs and commands.", "kind"),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.deliveries, m.answer, m.work, m.decisions, m.effects, m.requests, m.remaining, m.errors, m.coalesced, m.looks, m.recovered, m.notifications)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// scraped serves the metrics on an address of their own until end is called, if the settings name
// one.
func (v *server) scraped() (end func(), err error) {
	if v.settings.Metrics == nil {
		return func() {}, nil
	}
	l, err := v.settings.Metrics.Listen()
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", v.metrics.handler())
	web := v.web(mux)
	go func() {
		if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			v.log.Error("metrics are not served any more", "err", err)
		}
	}()
	v.log.Info("metrics", "address", l.Addr().String())
	return func() { _ = web.Close() }, nil
}

// delivered counts an answer to a webhook. event becomes a label; it is "" if GitHub did not sign
// the delivery.
func (m *metrics) delivered(event, outcome string, took time.Duration) {
	if event != "" && !handler.Known(event) {
		event = "other"
	}
	m.deliveries.WithLabelValues(event, outcome).Inc()
	m.answer.Observe(took.Seconds())
}

func (m *metrics) worked(event, outcome string, took time.Duration) {
	m.work.WithLabelValues(event, outcome).Observe(took.Seconds())
}

// Decided implements handler.Metrics.
func (m *metrics) Decided(d routing.Decision, class routing.Class) {
	m.decisions.WithLabelValues(string(d.Kind), string(class)).Inc()
}

// Applied implements handler.Metrics.
func (m *metrics) Applied(kind routing.EffectKind, err error) {
	outcome := "done"
	if err != nil {
		outcome = advice.Of(err).Name()
	}
	m.effects.WithLabelValues(string(kind), outcome).Inc()
}

// looked counts a search for missed events, and what it found.
func (m *metrics) looked(f recovery.Found, err error) {
	outcome := "done"
	if err != nil {
		outcome = "partly"
	}
	m.looks.WithLabelValues(outcome).Inc()
	for kind, n := range map[string]int{"delivery": f.Asked, "run": f.Runs, "command": f.Commands} {
		m.recovered.WithLabelValues(kind).Add(float64(n))
	}
}

func (m *metrics) answered(installation int64) func(github.Answer) {
	id := strconv.FormatInt(installation, 10)
	return func(a github.Answer) {
		m.requests.WithLabelValues(a.Method, strconv.Itoa(a.Status), strconv.FormatBool(a.Unchanged)).Inc()
		if a.Remaining >= 0 && a.Resource != "" {
			m.remaining.WithLabelValues(id, a.Resource).Set(float64(a.Remaining))
		}
	}
}

// listening counts the open streams of events.
func listening(h *eventstream.Broadcaster) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "switchback_event_streams", Help: "Streams of live events that are open."},
		func() float64 { return float64(h.Subscribers()) })
}

// depth reads the state of the queue when the metrics are scraped.
type depth struct{ store *queue.Store }

var (
	depthDesc = prometheus.NewDesc("switchback_queue_depth", "Deliveries that are not done, by state; dead letters are not retried.", []string{"state"}, nil)
	ageDesc   = prometheus.NewDesc("switchback_queue_age_seconds", "Age of the oldest delivery that waits, 0 if none does.", nil, nil)
)

// Describe implements prometheus.Collector.
func (*depth) Describe(ch chan<- *prometheus.Desc) { ch <- depthDesc; ch <- ageDesc }

// Collect implements prometheus.Collector.
func (d *depth) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counts, oldest, err := d.store.Deliveries.Unfinished(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(depthDesc, err)
		return
	}
	age := 0.0
	if !oldest.IsZero() {
		age = max(0, time.Since(oldest).Seconds())
	}
	ch <- prometheus.MustNewConstMetric(ageDesc, prometheus.GaugeValue, age)
	for _, state := range []queue.State{queue.Received, queue.Working, queue.Waiting, queue.Failed, queue.DeadLetter} {
		ch <- prometheus.MustNewConstMetric(depthDesc, prometheus.GaugeValue, float64(counts[state]), string(state))
	}
}

// outages reads the figures of the incidents when the metrics are scraped. They are those of all
// processes that share the database.
type outages struct{ incidents eventstream.Incidents }

var (
	incidentOpenDesc     = prometheus.NewDesc("switchback_incidents_open", "Incidents that are not over, by what they come from.", []string{"kind"}, nil)
	incidentOnHoldDesc   = prometheus.NewDesc("switchback_incident_members_on_hold", "Checkpoints that are on hold for an incident.", []string{"kind"}, nil)
	incidentAgeDesc      = prometheus.NewDesc("switchback_incident_age_seconds", "Age of the oldest incident that is not over, 0 if there is none.", []string{"kind"}, nil)
	incidentOpenedDesc   = prometheus.NewDesc("switchback_incidents_opened_total", "Incidents that were opened, each time.", []string{"kind"}, nil)
	incidentResolvedDesc = prometheus.NewDesc("switchback_incidents_resolved_total", "Incidents that were resolved or dismissed, each time.", []string{"kind"}, nil)
)

// Describe implements prometheus.Collector.
func (*outages) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{incidentOpenDesc, incidentOnHoldDesc, incidentAgeDesc, incidentOpenedDesc, incidentResolvedDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (o *outages) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counts, err := o.incidents.Counts(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(incidentOpenDesc, err)
		return
	}
	for _, kind := range []routing.IncidentKind{routing.IncidentEnvironment, routing.IncidentBase} {
		c, age := counts[kind], 0.0
		if !c.Oldest.IsZero() {
			age = max(0, time.Since(c.Oldest).Seconds())
		}
		figure := func(d *prometheus.Desc, t prometheus.ValueType, v float64) {
			ch <- prometheus.MustNewConstMetric(d, t, v, string(kind))
		}
		figure(incidentOpenDesc, prometheus.GaugeValue, float64(c.Open))
		figure(incidentOnHoldDesc, prometheus.GaugeValue, float64(c.OnHold))
		figure(incidentAgeDesc, prometheus.GaugeValue, age)
		figure(incidentOpenedDesc, prometheus.CounterValue, float64(c.Opened))
		figure(incidentResolvedDesc, prometheus.CounterValue, float64(c.Resolved))
	}
}
