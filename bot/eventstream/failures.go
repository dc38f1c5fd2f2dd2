package eventstream

import (
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// place is a fingerprint in a checkpoint.
type place struct{ fingerprint, checkpoint string }

// failing is a failure of a case.
type failing struct {
	name, suite, file string
	class             routing.Class
	first, last       time.Time
	runs, flaky       int
	fixed             time.Time // zero: it still fails
	iterations        int       // of the streak when it was fixed
}

// failures are the failures of a case before and after an update.
type failures struct {
	was map[place]failing
	is  map[place]failing
}

// failures reads the failures of the case.
func (w writer) failures() (failures, error) {
	k := failures{map[place]failing{}, map[place]failing{}}
	rows, err := w.tx.QueryContext(w.ctx, `SELECT fingerprint, checkpoint, name, suite, file, class, first, last, runs, flaky, fixed, iterations
		FROM projection_failure WHERE key = $1`, text(w.key))
	if err != nil {
		return k, err
	}
	defer rows.Close()
	for rows.Next() {
		var p place
		var x failing
		var first, last, fixed int64
		if err := rows.Scan(&p.fingerprint, &p.checkpoint, &x.name, &x.suite, &x.file, &x.class, &first, &last, &x.runs, &x.flaky, &fixed, &x.iterations); err != nil {
			return k, err
		}
		x.first, x.last, x.fixed = fromMillis(first), fromMillis(last), fromMillis(fixed)
		k.was[p], k.is[p] = x, x
	}
	return k, rows.Err()
}

// see adds a run. A failure is fixed by a run of its checkpoint that passes, or that is complete
// and does not contain it, not even by name.
func (k failures) see(c routing.Case, e routing.Event) {
	run, ok := e.Run()
	if !ok || run.Decision.Repeated || run.Decision.Rule == "stale-commit" || run.Decision.Rule == "stale-run" {
		return
	}
	v := run.Verdict
	here := map[place]bool{}
	for _, f := range v.Failures {
		p := place{text(f.Fingerprint), text(v.Checkpoint)}
		if f.Fingerprint == "" || here[p] {
			continue
		}
		here[p] = true
		x, known := k.is[p]
		if !known {
			x.first = e.At
		}
		x.name, x.suite, x.file, x.class = f.Name, f.Suite, f.File, f.Class
		x.last, x.fixed, x.iterations = e.At, time.Time{}, 0
		x.runs++
		if f.Flaky || f.Class == routing.Flaky {
			x.flaky++
		}
		if v.Result == routing.Pass { // it failed and passed in one run
			x.fixed, x.iterations = e.At, c.Checkpoints[v.Checkpoint].Retries
		}
		k.is[p] = x
	}
	k.seeCut(v, e.At, here)
	whole := v.Run.Part == "" && v.Run.Parts <= 1 && v.Unlisted() == 0 && (v.Result == routing.Fail || v.Result == routing.Pass)
	if run.Decision.Kind != routing.KindPass && !whole {
		return
	}
	for p, x := range k.is {
		if p.checkpoint == text(v.Checkpoint) && !here[p] && x.fixed.IsZero() {
			x.fixed, x.iterations = e.At, run.Decision.Iteration
			k.is[p] = x
		}
	}
}

// seeCut adds what is known of a run's failures by name and fingerprint alone, to those that were seen
// before in full, and to here.
func (k failures) seeCut(v routing.Verdict, at time.Time, here map[place]bool) {
	if len(v.Cut) == 0 {
		return
	}
	cut := map[uint64]bool{}
	for _, f := range v.Cut {
		cut[f.Print] = true
	}
	for p, x := range k.is {
		if p.checkpoint != text(v.Checkpoint) || here[p] || !cut[history.FingerprintOf(p.fingerprint)] {
			continue
		}
		here[p] = true
		x.last, x.fixed, x.iterations = at, time.Time{}, 0
		x.runs++
		k.is[p] = x
	}
}

// clusters writes the changed failures of the case, and their clusters.
func (w writer) clusters(k failures) error {
	for p, is := range k.is {
		was, known := k.was[p]
		if known && was == is {
			continue
		}
		err := w.exec(`INSERT INTO projection_failure (fingerprint, key, checkpoint, repo, name, suite, file, class, first, last, runs, flaky, fixed, iterations)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
			ON CONFLICT (fingerprint, key, checkpoint) DO UPDATE SET name = excluded.name, suite = excluded.suite, file = excluded.file,
			class = excluded.class, last = excluded.last, runs = excluded.runs, flaky = excluded.flaky, fixed = excluded.fixed, iterations = excluded.iterations`,
			p.fingerprint, w.key, p.checkpoint, w.repo, is.name, is.suite, is.file, string(is.class), millis(is.first), millis(is.last), is.runs, is.flaky,
			millis(is.fixed), is.iterations)
		if err != nil {
			return err
		}
		cases, open := 0, 0
		if !known {
			cases = 1
		} else if was.fixed.IsZero() {
			open--
		}
		if is.fixed.IsZero() {
			open++
		}
		least, most := "min", "max" // of two values, in SQLite
		if w.postgres {
			least, most = "least", "greatest"
		}
		err = w.exec(`INSERT INTO projection_cluster (fingerprint, repo, name, suite, file, class, first, last, cases, runs, flaky, open)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
			ON CONFLICT (fingerprint, repo) DO UPDATE SET name = excluded.name, suite = excluded.suite, file = excluded.file, class = excluded.class,
			first = `+least+`(projection_cluster.first, excluded.first), last = `+most+`(projection_cluster.last, excluded.last),
			cases = projection_cluster.cases + excluded.cases, runs = projection_cluster.runs + excluded.runs, flaky = projection_cluster.flaky + excluded.flaky,
			open = projection_cluster.open + excluded.open`,
			p.fingerprint, w.repo, is.name, is.suite, is.file, string(is.class), millis(is.first), millis(is.last), cases, is.runs-was.runs, is.flaky-was.flaky, open)
		if err != nil {
			return err
		}
	}
	return nil
}
