package surveys

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing/survey"
)

var begin = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

var nightly = survey.Result{WorkflowName: "Nightly", AutomationLevel: 20, ReportPath: "o/r.md", RunID: "77", Suggestions: []survey.Suggestion{{ID: "cache", Text: "Cache the modules"}}}

// service is a process at a time.
func service(m *mortal, owner string, now time.Time) *Service {
	return &Service{Ledger: m, Issues: m, Comments: m, Repositories: m, Starts: m, Repo: "acme/app", Owner: owner, TTL: 3 * time.Minute, Now: func() time.Time { return now },
		Config: config.File{Feedback: config.FeedbackSettings{Workflow: "optimize.yml"}}}
}

func said(by string, level survey.Choice, n int, at time.Time) survey.Said {
	return survey.Said{Answer: survey.Answer{Level: level, Accepted: []string{"cache"}, FreeText: "more"}, By: by, Source: fmt.Sprint("comment/", n), At: at}
}

// chapters are what processes do, one after the other.
var chapters = []struct {
	name string
	at   time.Duration
	do   func(t *testing.T, d *Service) error
}{
	{"open", 0, func(t *testing.T, d *Service) error { _, err := d.Open(t.Context(), nightly); return err }},
	{"remind", 37 * time.Hour, func(t *testing.T, d *Service) error { _, err := d.Reconcile(t.Context()); return err }},
	{"answer", 40 * time.Hour, func(t *testing.T, d *Service) error {
		_, _, err := d.Answer(t.Context(), nightly.ID("acme/app"), said("octo", survey.Raise, 1, begin.Add(40*time.Hour)))
		return err
	}},
	{"reenter", 41 * time.Hour, func(t *testing.T, d *Service) error {
		_, err := d.Reenter(t.Context(), survey.Completed{ID: "78", Workflow: "Nightly", At: begin.Add(41 * time.Hour)})
		return err
	}},
}

// Killed around any step, and reconciled up later: the world is as if nothing had
// happened.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	calm := newWorld()
	led := &ledger.Memory{}
	var steps []int
	for _, ch := range chapters {
		m := &mortal{world: calm, led: led}
		if err := ch.do(t, service(m, "run 1/1 job a", begin.Add(ch.at))); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, m.steps)
	}
	reg, err := service(&mortal{led: led}, "", begin).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := calm.state(reg)
	if len(calm.comments) != 2 || len(calm.starts) != 1 || calm.issues[0].State != "closed" {
		t.Fatalf("%s", want)
	}
	for c, ch := range chapters {
		for n := 1; n <= steps[c]; n++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s step %d after %v", ch.name, n, after), func(t *testing.T) {
					w, led := newWorld(), &ledger.Memory{}
					for i, other := range chapters {
						m := &mortal{world: w, led: led}
						at := begin.Add(other.at)
						if i == c {
							m.die, m.after = n, after
							if err := other.do(t, service(m, "run 1/1 job a", at)); !errors.Is(err, errKilled) {
								t.Fatalf("it lives: %v", err)
							}
							m = &mortal{world: w, led: led}
							at = at.Add(4 * time.Minute)
							if err := other.do(t, service(m, "run 2/1 job a", at)); err != nil { // delivered again
								t.Fatal(err)
							}
							if _, err := service(m, "run 3/1 job reconcile", at).Reconcile(t.Context()); err != nil {
								t.Fatal(err)
							}
						} else if err := other.do(t, service(m, "run 1/1 job a", at)); err != nil {
							t.Fatal(err)
						}
					}
					reg, err := service(&mortal{led: led}, "", begin).State(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if got := whenRecorded.Replace(w.state(reg)); got != whenRecorded.Replace(want) {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
				})
			}
		}
	}
}

// whenRecorded are the minutes at which an answer may have been recorded.
var whenRecorded = strings.NewReplacer("01:04 UTC", "01:00 UTC")

func TestRaces(t *testing.T) {
	t.Parallel()
	t.Run("S1-32 of many who answer at once one counts and the others are second", func(t *testing.T) {
		for seed := range uint64(200) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			w, led := newWorld(), &ledger.Memory{}
			m := &mortal{world: w, led: led}
			if _, err := service(m, "run 1/1 job a", begin).Open(t.Context(), nightly); err != nil {
				t.Fatal(err)
			}
			levels := []survey.Choice{survey.Raise, survey.Lower, survey.Keep, survey.Raise}
			rnd.Shuffle(len(levels), func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
			outs := make([]survey.Outcome, len(levels))
			var wg sync.WaitGroup
			for i, l := range levels {
				wg.Go(func() {
					var err error
					d := service(m, fmt.Sprintf("run %d/1 job a", i+2), begin.Add(time.Hour))
					if outs[i], _, err = d.Answer(t.Context(), nightly.ID("acme/app"), said(fmt.Sprint("user", i), l, i, begin)); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			reg, err := service(m, "", begin).State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			first := slices.Index(outs, survey.Accepted)
			if len(reg.Feedback) != 1 || first < 0 || slices.Contains(outs[first+1:], survey.Accepted) || *reg.Feedback[0].UserID != fmt.Sprint("user", first) || w.posts != 1 {
				t.Fatalf("seed %d: %v, %d rows, %d posts", seed, outs, len(reg.Feedback), w.posts)
			}
		}
	})
	t.Run("S1-46 a run delivered many times at once starts the next cycle once", func(t *testing.T) {
		for range 50 {
			w, led := newWorld(), &ledger.Memory{}
			m := &mortal{world: w, led: led}
			for _, ch := range chapters[:3] {
				if err := ch.do(t, service(m, "run 1/1 job a", begin.Add(ch.at))); err != nil {
					t.Fatal(err)
				}
			}
			var wg sync.WaitGroup
			for i := range 5 {
				wg.Go(func() {
					if err := chapters[3].do(t, service(m, fmt.Sprintf("run %d/1 job a", i+2), begin.Add(41*time.Hour))); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(w.starts) != 1 {
				t.Fatalf("%v", w.starts)
			}
		}
	})
	t.Run("S1-1 a result opened many times at once is one survey", func(t *testing.T) {
		w, led := newWorld(), &ledger.Memory{}
		m := &mortal{world: w, led: led}
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if _, err := service(m, fmt.Sprintf("run %d/1 job a", i), begin).Open(t.Context(), nightly); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(w.issues) != 1 {
			t.Errorf("%d issues", len(w.issues))
		}
	})
}

func TestTakeOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, first, second string
		later               time.Duration
		takes               bool
	}{
		{"another run waits while the first may be at it", "run 1/1 job a", "run 2/1 job a", time.Minute, false},
		{"another run takes over what has been silent", "run 1/1 job a", "run 2/1 job a", 3 * time.Minute, true},
		{"the next attempt of the same job takes over at once", "run 1/1 job a 0f", "run 1/2 job a 1e", time.Second, true},
		{"another job of the run waits", "run 1/1 job a", "run 1/1 job b", time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, led := newWorld(), &ledger.Memory{}
			killed := &mortal{world: w, led: led, die: 2} // recorded, not filed
			if _, err := service(killed, c.first, begin).Open(t.Context(), nightly); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			p, err := service(&mortal{world: w, led: led}, c.second, begin.Add(c.later)).Open(t.Context(), nightly)
			if err != nil || (p.Number > 0) != c.takes || len(w.issues) != p.Number {
				t.Errorf("%+v %v", p, err)
			}
		})
	}
	t.Run("an issue that was deleted keeps nothing pending", func(t *testing.T) {
		w, led := newWorld(), &ledger.Memory{}
		m := &mortal{world: w, led: led}
		if err := chapters[0].do(t, service(m, "run 1/1 job a", begin)); err != nil {
			t.Fatal(err)
		}
		w.gone = true
		ps, err := service(m, "run 2/1 job a", begin.Add(100*time.Hour)).Reconcile(t.Context())
		if err != nil || len(ps) != 1 || !ps[0].TimedOut || len(ps[0].Pending) != 0 {
			t.Errorf("%+v %v", ps, err)
		}
	})
	t.Run("a survey whose issue was never filed is filed and then timed out", func(t *testing.T) {
		w, led := newWorld(), &ledger.Memory{}
		killed := &mortal{world: w, led: led, die: 2}
		if _, err := service(killed, "run 1/1 job a", begin).Open(t.Context(), nightly); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		ps, err := service(&mortal{world: w, led: led}, "run 2/1 job a", begin.Add(72*time.Hour)).Reconcile(t.Context())
		if err != nil || len(ps) != 1 || len(w.issues) != 1 || w.issues[0].State != "closed" || len(ps[0].Pending) != 0 {
			t.Errorf("%+v %v %+v", ps, err, w.issues)
		}
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event, title, actor string
		want                bool
	}{
		{"workflow_dispatch", "Nightly", "github-actions[bot]", true},
		{"repository_dispatch", "again acme/app!surveys/reentry/78", "octo", true},
		{"workflow_dispatch", "Nightly", "octo", false},
		{"schedule", "Nightly", "github-actions[bot]", false},
		{"push", "acme/app!surveys/reentry/78", "octo", false},
	} {
		t.Run(fmt.Sprintf("S1-46 %s by %s titled %s", c.event, c.actor, strings.ReplaceAll(c.title, "/", " ")), func(t *testing.T) {
			if got := Own(c.event, c.title, c.actor, "github-actions[bot]"); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestPacket(t *testing.T) {
	t.Parallel()
	var r survey.State
	s := survey.Started{Reentry: survey.Reentry{Run: "78"}}
	for i := range 10 {
		g := survey.Goal{NextAutomationLevel: 20, OptimizationDirectives: []string{}, CarryOverIssues: []string{strings.Repeat("x", 10_000)}, ApprovedBy: survey.HumanFeedback}
		id := fmt.Sprint("p", i)
		r.Surveys = append(r.Surveys, survey.Survey{ID: id, Goal: &g})
		s.Surveys = append(s.Surveys, id)
	}
	t.Run("S1-45 goals that do not fit an event are counted", func(t *testing.T) {
		if p := packet(r, s); p.Phase != 1 || len(p.Goals)+p.More != 10 || len(p.Goals) != 4 {
			t.Errorf("%d goals, %d more", len(p.Goals), p.More)
		}
	})
}

// What was to be posted while the App was not installed is posted when it is again.
func TestAnswerWhileTheRepositoryIsAway(t *testing.T) {
	t.Parallel()
	m := &mortal{world: newWorld(), led: &ledger.Memory{}}
	if err := chapters[0].do(t, service(m, "one", begin)); err != nil {
		t.Fatal(err)
	}
	d := service(m, "two", begin.Add(time.Hour))
	d.Comments, d.Repositories = away{m}, away{m}
	if err := chapters[2].do(t, d); !errors.Is(err, github.ErrAbsent) {
		t.Errorf("%v", err)
	}
	if _, err := service(m, "three", begin.Add(41*time.Hour)).Reconcile(t.Context()); err != nil || m.posts == 0 || m.issues[0].State != "closed" {
		t.Errorf("%d comments, %+v: %v", m.posts, m.issues, err)
	}
}
