package sqllimit_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/bot/github/ratelimit/sqllimit"
)

// limits are such that they bind within a test.
var limits = ratelimit.Limits{Short: ratelimit.Rate{N: 6, Per: time.Second}, Long: ratelimit.Rate{N: 15, Per: 4 * time.Second}, Points: ratelimit.Rate{N: 60, Per: time.Second}, AtOnce: 8}

func open(t *testing.T, url string) *database.DB {
	t.Helper()
	db, err := database.OpenURL(t.Context(), url)
	if err == nil {
		t.Cleanup(func() { _ = db.Close() })
		err = db.Migrate(t.Context(), nil, sqllimit.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// keepers returns three keepers of one State, as three processes have them.
func keepers(t *testing.T) map[string][]ratelimit.Store {
	t.Helper()
	alone := &ratelimit.LocalStore{}
	file, err := database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "x.db"), true)
	if err == nil {
		t.Cleanup(func() { _ = file.Close() })
		err = file.Migrate(t.Context(), nil, sqllimit.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	url := pgtest.URL(t)
	out := map[string][]ratelimit.Store{}
	for range 3 {
		out["one process"] = append(out["one process"], alone)
		out["SQLite"] = append(out["SQLite"], sqllimit.Store{DB: file, Name: "a"})
		out["PostgreSQL"] = append(out["PostgreSQL"], sqllimit.Store{DB: open(t, url), Name: "a"})
	}
	return out
}

// Of what all processes send no span of time sees more than the limits, by the
// time at which it was sent, one write at a time.
func TestTogether(t *testing.T) {
	t.Parallel()
	for name, all := range keepers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var writes []time.Time
			points, writing := map[time.Time]int{}, 0
			var wg sync.WaitGroup
			for i, k := range all {
				holder := string(rune('a' + i))
				wg.Go(func() {
					for range 7 { // each of the three: more than the longer rate has
						for {
							var l ratelimit.Grant
							if err := k.Update(t.Context(), func(now time.Time, s *ratelimit.State) {
								l = s.Write(now, limits, ratelimit.Request{Holder: holder, InUse: 1, Content: true})
							}); err != nil {
								t.Error(err)
								return
							}
							if l.Wait == 0 {
								break
							}
							time.Sleep(l.Wait)
						}
						mu.Lock()
						if writing++; writing > 1 {
							t.Errorf("%d write at once", writing)
						}
						writes = append(writes, time.Now())
						points[time.Now()] += ratelimit.WriteTokens
						writing--
						mu.Unlock()
						if err := k.Update(t.Context(), func(now time.Time, s *ratelimit.State) { s.Done(now, limits, holder) }); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if len(writes) != 21 {
				t.Errorf("%d writes", len(writes))
			}
			for _, r := range []ratelimit.Rate{limits.Short, limits.Long} {
				for i := r.N; i < len(writes); i++ {
					if d := writes[i].Sub(writes[i-r.N]); d < r.Per {
						t.Errorf("%d writes within %v, limit %v", r.N+1, d, r)
					}
				}
			}
		})
	}
}

// What one learns all know, and each State is one by itself.
func TestShared(t *testing.T) {
	t.Parallel()
	for name, all := range keepers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if err := all[0].Update(ctx, func(now time.Time, s *ratelimit.State) { s.Block(now, time.Hour) }); err != nil {
				t.Fatal(err)
			}
			if err := all[1].Update(ctx, func(now time.Time, s *ratelimit.State) {
				if l := s.Read(now, limits, ratelimit.Request{Holder: "b", Want: 1}); l.Wait < 59*time.Minute || l.Tokens != 0 {
					t.Errorf("%+v", l)
				}
			}); err != nil {
				t.Fatal(err)
			}
			k, ok := all[2].(sqllimit.Store)
			if !ok {
				return // it has no name
			}
			k.Name = "b"
			if err := k.Update(ctx, func(now time.Time, s *ratelimit.State) {
				if l := s.Read(now, limits, ratelimit.Request{Holder: "c", Want: 1}); l.Wait != 0 || l.Tokens != 1 {
					t.Errorf("%+v", l)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Steps at once lose none of each other's changes, also where the first of all
// make the State.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	for name, all := range keepers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const each = 20
			var wg sync.WaitGroup
			var mu sync.Mutex
			var seen []int
			for _, k := range all {
				wg.Go(func() {
					for range each {
						if err := k.Update(t.Context(), func(now time.Time, s *ratelimit.State) {
							s.Content = append(s.Content, now.UnixMicro())
							mu.Lock()
							seen = append(seen, len(s.Content))
							mu.Unlock()
						}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if slices.Sort(seen); len(seen) != 3*each || seen[0] != 1 || seen[len(seen)-1] != 3*each {
				t.Errorf("%v", seen)
			}
			if err := all[0].Update(t.Context(), func(_ time.Time, s *ratelimit.State) {
				if !slices.IsSorted(s.Content) {
					t.Error("the clock is not the same for all")
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Who cannot ask gets an error, and does not wait for ever.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	db := open(t, pgtest.URL(t))
	_ = db.Close()
	asked := false
	err := sqllimit.Store{DB: db, Name: "installation 7"}.Update(t.Context(), func(time.Time, *ratelimit.State) { asked = true })
	if err == nil || asked || !strings.Contains(err.Error(), "installation 7") {
		t.Errorf("%v, %v", err, asked)
	}
}

const child = "SWITCHBACK_RATION_CHILD"

// A process that is killed while it holds the write lease holds it for a moment longer, and
// what it may have sent counts.
func TestKilledWithWriteLease(t *testing.T) {
	take := func(ctx context.Context, url, holder string) (l ratelimit.Grant, sent int) {
		t.Helper()
		if err := (sqllimit.Store{DB: open(t, url), Name: "a"}).Update(ctx, func(now time.Time, s *ratelimit.State) {
			l = s.Write(now, limits, ratelimit.Request{Holder: holder, InUse: 1, Content: true})
			sent = len(s.Content)
		}); err != nil {
			t.Fatal(err)
		}
		return l, sent
	}
	if url := os.Getenv(child); url != "" {
		if l, _ := take(t.Context(), url, "child"); l.Wait != 0 {
			t.Fatal(l)
		}
		_, _ = os.Stdout.WriteString("\nhas it\n")
		select {} // until killed
	}
	t.Parallel()
	url := pgtest.URL(t)
	open(t, url)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWithWriteLease$")
	cmd.Env = append(os.Environ(), child+"="+url)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	buf, said := make([]byte, 4096), ""
	for !strings.Contains(said, "has it") {
		n, err := out.Read(buf)
		if said += string(buf[:n]); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	if l, _ := take(t.Context(), url, "other"); l.Wait == 0 {
		t.Error("two have the turn")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	for {
		l, sent := take(t.Context(), url, "other")
		if l.Wait == 0 {
			if sent != 1 {
				t.Errorf("%d writes count", sent)
			}
			return
		}
		time.Sleep(l.Wait)
	}
}

// A look sees what was stored last, and waits for no update that is in progress.
func TestLook(t *testing.T) {
	t.Parallel()
	for name, all := range keepers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			delay := func(k ratelimit.Store) (d time.Duration) {
				if err := k.Look(t.Context(), func(now time.Time, s *ratelimit.State) { d = s.WriteDelay(now, limits) }); err != nil {
					t.Error(err)
				}
				return d
			}
			if d := delay(all[0]); d != 0 {
				t.Errorf("a write waits %v before anything was sent", d)
			}
			if err := all[0].Update(t.Context(), func(now time.Time, s *ratelimit.State) { s.Block(now, time.Hour) }); err != nil {
				t.Fatal(err)
			}
			if d := delay(all[1]); d < 59*time.Minute || d > time.Hour {
				t.Errorf("a write waits %v of the hour that GitHub asked for", d)
			}
			if name == "one process" {
				return
			}
			begun, looked := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := all[2].Update(t.Context(), func(time.Time, *ratelimit.State) { close(begun); <-looked }); err != nil {
					t.Error(err)
				}
			})
			<-begun
			if d := delay(all[1]); d == 0 {
				t.Error("nothing is seen while others update")
			}
			close(looked)
			wg.Wait()
		})
	}
}
