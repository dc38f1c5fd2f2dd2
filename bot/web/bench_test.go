package web_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
)

var benchCases = flag.Int("cases", 10_000, "how many cases the pages are measured with, by thousands")

// taken is how many cases are projected one by one.
const taken = 1000

// BenchmarkPages measures every page:
//
//	go test ./bot/web -run '^$' -bench Pages -cases 100000 -timeout 1h
func BenchmarkPages(b *testing.B) {
	for _, kind := range []database.Kind{database.SQLite, database.Postgres} {
		b.Run(string(kind), func(b *testing.B) {
			db := opened(b, kind)
			f := eventstream.New(db)
			some := fill(b, f)
			multiply(b, db, *benchCases)
			common, most := "", 0 // a failure that is everywhere
			for print, of := range prints(team(100)) {
				if len(of) > most {
					common, most = print, len(of)
				}
			}
			d, err := web.New(web.Options{Store: f, Sections: sections(f, nil), Gate: reader{nil}, GitHub: "https://github.com", Now: func() time.Time { return noon },
				Stream: func(context.Context, string) ([]routing.Event, error) { return some.Events, nil }})
			if err != nil {
				b.Fatal(err)
			}
			one, err := web.New(web.Options{Store: f, Sections: sections(f, nil), Gate: reader{[]string{"acme/web", "acme/stock"}}, GitHub: "https://github.com", Now: func() time.Time { return noon }})
			if err != nil {
				b.Fatal(err)
			}
			for _, path := range []string{"/", "/?days=30", "/?repo=acme/web", "/cases", "/cases?state=escalated", "/cases?state=completed&page=200", "/case/" + strings.Replace(some.Key, "#", "/", 1),
				"/failures", "/failures?page=50", "/failures?q=total", "/failures?q=nothing+is+called+so", "/failures?class=TIMEOUT&repo=acme/web", "/failure/" + common,
				"/rules?days=7", "/rules?days=0", "/feedback", "/plans"} {
				for who, h := range map[string]*web.Server{"all": d, "two": one} {
					if who == "two" && strings.HasPrefix(path, "/case/") {
						continue
					}
					b.Run(who+path, func(b *testing.B) {
						for b.Loop() {
							if code, _ := get(b, h, path); code != http.StatusOK {
								b.Fatal(code)
							}
						}
					})
				}
			}
		})
	}
}

// fill projects a thousand cases and returns the longest.
func fill(b *testing.B, f *eventstream.Store) (longest sample.Stream) {
	var waiting []eventstream.Stream
	events := 0
	for s := range sample.Cases(sample.Options{Seed: 5, Cases: taken, End: noon, Own: true}) {
		if events += len(s.Events); len(s.Events) > len(longest.Events) {
			longest = s
		}
		waiting = append(waiting, eventstream.Stream{Key: s.Key, Events: s.Events})
	}
	began := time.Now()
	for some := range slices.Chunk(waiting, 100) {
		if _, err := f.Projector.Fill(context.Background(), some); err != nil {
			b.Fatal(err)
		}
	}
	fmt.Fprintf(os.Stderr, "%d cases, %d events taken in: %.0f cases a second\n", taken, events, taken/time.Since(began).Seconds())
	return longest
}

// multiply copies the rows of cases with other numbers, and those of failures of few cases with
// other fingerprints, until there are so many.
func multiply(b *testing.B, db *database.DB, cases int) {
	own := "(SELECT fingerprint FROM projection_cluster WHERE length(fingerprint) = 16 GROUP BY fingerprint HAVING sum(cases) <= 3)"
	for k := 1; k < cases/taken; k++ {
		number := func(column, from string) string {
			return fmt.Sprintf("(CAST(substr(%s, %s) AS integer) + %d)", column, from, k*taken)
		}
		for _, statement := range []string{
			`INSERT INTO projection_case SELECT repo || '#' || ` + number("subject", "2") + `, repo, '#' || ` + number("subject", "2") + fmt.Sprintf(`, state, since - %d, opened - %[1]d, updated - %[1]d,
				checkpoint, decision, rule, class, reason, iterations, most, checkpoints FROM projection_case WHERE `, 1000*k) + number("subject", "2") + fmt.Sprintf(" <= %d", (k+1)*taken),
			`INSERT INTO projection_failure SELECT fingerprint || CASE WHEN fingerprint IN ` + own + fmt.Sprintf(` THEN '%d' ELSE '' END`, k) + `, repo || '#' || ` + number("key", "length(repo) + 2") +
				fmt.Sprintf(`, checkpoint, repo, name, suite, file, class, first, last - %d, runs, flaky, fixed, iterations FROM projection_failure WHERE length(fingerprint) = 16 AND `, 1000*k) +
				number("key", "length(repo) + 2") + fmt.Sprintf(" <= %d", (k+1)*taken),
			fmt.Sprintf(`INSERT INTO projection_cluster SELECT fingerprint || '%d', repo, name, suite, file, class, first, last - %d, cases, runs, flaky, open FROM projection_cluster WHERE fingerprint IN `, k, 1000*k) + own,
			fmt.Sprintf(`INSERT INTO projection_green SELECT repo, day, iterations, human, took + %d, n FROM projection_green WHERE took < 200 AND 10 > %d`, 200*k, k),
		} {
			if _, err := db.Write.Exec(statement); err != nil {
				b.Fatal(err)
			}
		}
	}
	if _, err := db.Write.Exec(fmt.Sprintf("UPDATE projection_state SET n = n * %d", cases/taken)); err != nil {
		b.Fatal(err)
	}
	if _, err := db.Write.Exec(fmt.Sprintf("UPDATE projection_cluster SET cases = cases * %d WHERE cases > 9", cases/taken)); err != nil {
		b.Fatal(err)
	}
	for _, table := range []string{"projection_case", "projection_failure", "projection_cluster", "projection_green", "projection_count"} {
		var n int
		if err := db.Read.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d rows\n", table, n)
	}
}
