package recovery

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (*database.DB, error){
		"sqlite": func(t *testing.T) (*database.DB, error) {
			return database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "marks.db"), true)
		},
		"postgres": func(t *testing.T) (*database.DB, error) { return database.OpenURL(t.Context(), pgtest.URL(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for range 2 { // two processes that start
				if err := db.Migrate(t.Context(), nil, Line()); err != nil {
					t.Fatal(err)
				}
			}
			r := times{Table{db}}
			if at, err := r.get(t.Context(), "runs/1"); err != nil || !at.IsZero() {
				t.Errorf("%v %v", at, err)
			}
			for _, want := range []time.Time{time.Unix(1700000000, 5000), time.Unix(1700000001, 0)} {
				if err := r.set(t.Context(), "runs/1", time.Time{}, want); err != nil {
					t.Fatal(err)
				}
				if at, err := r.get(t.Context(), "runs/1"); err != nil || !at.Equal(want) {
					t.Errorf("%v %v, want %v", at, err, want)
				}
			}
			if err := (Table{db}).SetMark(t.Context(), "broken", "yesterday"); err != nil {
				t.Fatal(err)
			}
			if _, err := r.get(t.Context(), "broken"); err == nil {
				t.Error("a mark that is no time is taken for one")
			}
		})
	}
}
