// Command fill writes a sample ledger, to be looked at:
//
//	go run ./internal/sample/fill -cases 400 sqlite:/tmp/sample.db
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/internal/sample"
)

func main() {
	cases := flag.Int("cases", 400, "how many cases")
	seed := flag.Uint64("seed", 1, "of what is made")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "fill: name one ledger: a directory, or sqlite:FILE")
		os.Exit(2)
	}
	if err := fill(context.Background(), flag.Arg(0), sample.Options{Seed: *seed, Cases: *cases, End: time.Now()}); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func fill(ctx context.Context, where string, o sample.Options) error {
	var led ledger.Ledger
	var err error
	if strings.HasPrefix(where, "sqlite:") {
		db, err := sqlledger.Open(ctx, where, true)
		if err != nil {
			return err
		}
		defer db.Close()
		led = db
	} else if led, err = ledger.OpenPath(where); err != nil {
		return err
	}
	for s := range sample.Cases(o) {
		if _, err := led.Append(ctx, s.Key, "", s.Events); err != nil {
			return err
		}
	}
	requests := sample.FeedbackRequests(sample.FeedbackRequestOptions{Seed: o.Seed, Repo: "acme/shop", N: 30, Start: o.End.Add(-48 * time.Hour)})
	if _, err := led.Append(ctx, requests.Key, "", requests.Events); err != nil {
		return err
	}
	outages := sample.Incidents{Repo: "acme/shop", At: o.End.Add(-30 * time.Hour)}
	outages.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 1, 8)
	outages.File(901)
	outages.End("mona")
	outages.At = o.End.Add(-time.Hour)
	outages.Fail("dial tcp: lookup db.internal: no such host", 9, 14)
	outages.File(902)
	incidents := outages.Stream()
	if _, err := led.Append(ctx, incidents.Key, "", incidents.Events); err != nil {
		return err
	}
	for i, n := range []int{24, 9} {
		for _, s := range sample.Plan(sample.PlanOptions{Seed: o.Seed, Repo: "acme/shop", Name: fmt.Sprint("plan-", i+1), Ports: n, Begun: n * 2 / 3, Start: o.End.Add(-10 * time.Hour)}) {
			if _, err := led.Append(ctx, s.Key, "", s.Events); err != nil {
				return err
			}
		}
	}
	return nil
}
