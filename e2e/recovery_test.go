package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/server/recovery"
)

// postbox is what a server of webhooks took in: it keeps deliveries by their id,
// and has the program carry them out, one after another.
type postbox struct {
	s      *story
	server *httptest.Server

	mu     sync.Mutex
	stored map[string]bool
	got    chan string // ids, as they are taken in
	turn   sync.Mutex
}

func newPostbox(s *story) *postbox {
	p := &postbox{s: s, stored: map[string]bool{}, got: make(chan string, 100)}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = p.Accept(r.Context(), r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery"), body)
		w.WriteHeader(http.StatusAccepted)
	}))
	s.t.Cleanup(p.server.Close)
	return p
}

// up lets deliveries arrive, or get lost.
func (p *postbox) up(on bool) {
	if on {
		p.s.r.Deliver(p.server.URL)
	} else {
		p.s.r.Deliver("")
	}
}

// next waits for the next delivery that was carried out.
func (p *postbox) next(t *testing.T) string {
	t.Helper()
	select {
	case id := <-p.got:
		return id
	case <-time.After(2 * time.Minute): // it takes a second or two
		t.Fatal("nothing came")
		return ""
	}
}

// Accept implements recovery.Inbox.
func (p *postbox) Accept(_ context.Context, event, id string, payload []byte) (bool, error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.mu.Lock()
	known := p.stored[id]
	p.stored[id] = true
	p.mu.Unlock()
	var e struct {
		Action string
		Sender struct{ Login string }
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		p.s.t.Errorf("%s %s: %v\n%s", event, id, err, payload)
	}
	if known || !wantedHere(event, e.Action) || strings.HasSuffix(e.Sender.Login, "[bot]") {
		return !known, nil
	}
	bin, err := switchback()
	if err != nil {
		return false, err
	}
	res := p.s.b.RunAction(p.s.t, Action{Binary: bin, Args: []string{"action"}, Repo: p.s.r, Token: p.s.token, Event: event, Payload: json.RawMessage(payload),
		Actor: e.Sender.Login, Inputs: map[string]string{"reports": "**/report.xml", "checkpoint": "unit"},
		Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"}})
	if res.ExitCode != 0 {
		p.s.t.Errorf("%s %s: exit %d\n%s%s", event, id, res.ExitCode, res.Stdout, res.Stderr)
	}
	p.got <- id
	return true, nil
}

// Stored implements recovery.Inbox.
func (p *postbox) Stored(_ context.Context, ids []string) (map[string]bool, error) {
	ours := p.s.r.Deliveries()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]bool{}
	for _, id := range ids {
		// What another test lost is none of this one's affair.
		other := !strings.HasPrefix(id, "comment-") && !slices.ContainsFunc(ours, func(d Delivery) bool { return d.GUID == id })
		out[id] = p.stored[id] || other
	}
	return out, nil
}

func wantedHere(event, action string) bool {
	return event == "workflow_run" && action == "completed" || event == "issue_comment" && action == "created"
}

// recovered is a recovery that looks after the story's repository alone.
func recovered(t *testing.T, s *story, p *postbox) (*recovery.Recovery, *time.Duration) {
	t.Helper()
	app, err := github.NewApp(SwitchbackAppID, []byte(s.b.AppPrivateKey()), s.b.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := github.Options{ContentInterval: -1, CacheBytes: 8 << 20}
	self, err := app.Self(o)
	if err != nil {
		t.Fatal(err)
	}
	db, err := database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "marks.db"), true)
	if err == nil {
		t.Cleanup(func() { _ = db.Close() })
		err = db.Migrate(t.Context(), nil, recovery.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	later := new(time.Duration)
	hubs := map[int64]*github.Client{}
	return recovery.New(recovery.Options{App: self, Inbox: p, Marks: recovery.Table{DB: db}, Grace: -1, Wanted: wantedHere,
		Now: func() time.Time { return time.Now().Add(*later) },
		Installation: func(id int64) (*github.Client, error) {
			if hubs[id] == nil {
				if hubs[id], err = app.Installation(id, o); err != nil {
					return nil, err
				}
			}
			return hubs[id], nil
		},
		Ledger: func(_ context.Context, r recovery.Repository) (ledger.Ledger, error) {
			if r.Repo.String() != s.r.FullName {
				return nil, nil
			}
			return gitbranch.NewGit(hubs[r.Installation], r.Repo, "switchback-ledger"), nil
		}}), later
}

// fails files a run of the story's head that ended in a failure.
func (s *story) fails(test string) *Run {
	f := s.ranOn(s.r, "feature", failing(test))
	f.Pulls = []int{s.number}
	return s.r.AddRun(f)
}

func (s *story) send(run *Run) Delivery {
	return s.r.Send(s.t, "workflow_run", s.r.RunPayload(run, "completed"))
}

// shown is what a pull request shows, without what is another in each story.
func (s *story) timeline() []string {
	plain := regexp.MustCompile(`[0-9a-f]{7,}|reply/\d+|\d{4}-\d\d-\d\d[T ][0-9:.]+|repo-\d+|/runs/\d+|127\.0\.0\.1:\d+|run \d+`)
	var out []string
	for _, c := range s.r.Comments(s.t, s.number) {
		out = append(out, c.User.Login+": "+plain.ReplaceAllString(c.Body, "…"))
	}
	return out
}

func TestRecovery(t *testing.T) {
	const command = "/switchback help" // in whatever order it comes
	happen := func(s *story, tell func(*Run)) {
		tell(s.fails("TestMul")) // one of an older commit would be out of date by the time it is found
		s.r.Comment(t, Owner, s.number, command)
	}
	// The twin gets every event as it happens.
	twin := newStory(t, "")
	tp := newPostbox(twin)
	tp.up(true)
	happen(twin, func(r *Run) { twin.send(r); tp.next(t) })
	tp.next(t) // the comment
	want := twin.timeline()
	if len(want) != 3 || !strings.Contains(strings.Join(want, ""), "TestMul") {
		t.Fatalf("the twin shows %q", want)
	}

	t.Run("deliveries to a server that was down are asked for again", func(t *testing.T) {
		s := newStory(t, "")
		s.r.Alone(t) // there may be more of other tests than one look takes
		p := newPostbox(s)
		rec, later := recovered(t, s, p)
		p.up(true)
		if _, err := rec.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.up(false)
		happen(s, func(r *Run) { s.send(r) })
		lost := awaitDeliveries(s, 2)
		f, err := rec.Deliveries(t.Context())
		if err != nil || f.Asked < 2 {
			t.Fatalf("%+v %v", f, err)
		}
		awaitDeliveries(s, 4) // nobody was there again
		if f, err = rec.Deliveries(t.Context()); err != nil || asked(s, lost[0].GUID) != 1 {
			t.Errorf("asked %d times within the interval: %+v %v", asked(s, lost[0].GUID), f, err)
		}
		*later = recovery.DefaultInterval + time.Minute
		p.up(true)
		if _, err = rec.Deliveries(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 2 {
			got = append(got, p.next(t))
		}
		for _, d := range lost {
			if !slices.Contains(got, d.GUID) {
				t.Errorf("%s %s was not delivered again: %q", d.Event, d.GUID, got)
			}
		}
		same(t, s, want)
		v := s.b.View("")
		*later *= 3
		f, err = rec.Run(t.Context())
		if err != nil || f.Runs > 0 || asked(s, lost[0].GUID) != 2 {
			t.Errorf("found again: %+v %v", f, err)
		}
		same(t, s, want) // a command that came under another id was taken in again, and does nothing twice
		bad := slices.DeleteFunc(v.Violations(), func(line string) bool { return !strings.Contains(line, " /app/") })
		if bad = append(bad, s.view.Violations()...); len(bad) > 0 {
			t.Errorf("violations: %q", bad)
		}
	})
	t.Run("what GitHub does not know to be lost is found", func(t *testing.T) {
		s := newStory(t, "")
		s.r.Alone(t) // there may be more of other tests than one look takes
		p := newPostbox(s)
		rec, later := recovered(t, s, p)
		old := s.fails("TestOld") // before the App came
		old.Started = time.Now().Add(-time.Hour)
		if f, err := rec.Scan(t.Context()); err != nil || f != (recovery.Found{}) {
			t.Fatalf("%+v %v", f, err)
		}
		*later = 3 * time.Minute // a run of the bench ends a minute after it began
		quiet := len(s.view.Requests())
		if f, err := rec.Scan(t.Context()); err != nil || f != (recovery.Found{}) {
			t.Fatalf("%+v %v", f, err)
		}
		if n := len(s.view.Requests()) - quiet; n > 2 {
			t.Errorf("a look that finds nothing costs %d requests", n)
		}
		p.up(false)
		s.r.Comment(t, Owner, s.number, "nothing to do")
		happen(s, func(*Run) {
			f, err := rec.Scan(t.Context())
			if err != nil || f.Runs != 1 || f.Commands != 0 {
				t.Fatalf("%+v %v", f, err)
			}
			p.next(t)
			*later += time.Second
		})
		for range 2 {
			*later += time.Hour
			if _, err := rec.Scan(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if id := p.next(t); !strings.HasPrefix(id, "comment-") || len(p.got) > 0 {
			t.Errorf("found %q and %d more", id, len(p.got))
		}
		same(t, s, want)
		if bad := s.view.Violations(); bad != nil {
			t.Errorf("violations: %q", bad)
		}
	})
}

// same checks that a story shows what its twin does.
func same(t *testing.T, s *story, want []string) {
	t.Helper()
	var got []string
	for _, c := range s.timeline() {
		if !strings.Contains(c, "nothing to do") {
			got = append(got, c)
		}
	}
	slices.Sort(got)
	want = slices.Clone(want)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it shows\n%s\nits twin\n%s", strings.Join(got, "\n---\n"), strings.Join(want, "\n---\n"))
	}
}

// awaitDeliveries waits until there are n deliveries of the story that matter.
func awaitDeliveries(s *story, n int) []Delivery {
	s.t.Helper()
	for range 600 {
		var out []Delivery
		for _, d := range s.r.Deliveries() {
			if wantedHere(d.Event, d.Action) && d.Status >= 300 {
				out = append(out, d)
			}
		}
		if len(out) >= n {
			return out
		}
		time.Sleep(50 * time.Millisecond) // emulate delivers later, without a signal
	}
	s.t.Fatalf("there are no %d deliveries: %v", n, s.r.Deliveries())
	return nil
}

// asked returns how often GitHub was asked for a delivery again.
func asked(s *story, guid string) (n int) {
	for _, d := range s.r.Deliveries() {
		if d.GUID == guid && d.Redelivery {
			n++
		}
	}
	return n
}
