// Package replays decides the runs of a ledger again under another
// configuration, and says what of a configuration that can show.
package replays

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/replay"
)

// Rules returns how a configuration decides recorded runs.
func Rules(f config.File) replay.Rules {
	return replay.Rules{
		Policy: func(ref, checkpoint string, label *int) routing.Policy { return f.Policy(checkpoint, ref, label) },
		Unmet: func(checkpoint string, v routing.Verdict) []string {
			return f.CriteriaOf(checkpoint).Unmet(v.Counts)
		},
	}
}

// Question is what is asked: what would be different under New than it was
// under Old, or than what was recorded if Old is nil.
type Question struct {
	Old  *config.File
	New  config.File
	Most int // cases looked at, those with the highest numbers first; 0: all
	// Events bounds the events of the cases looked at; 0: all. The case that exceeds it is the last
	// of those looked at. It needs Most.
	Events int
}

// Report is the answer.
type Report struct {
	Sum      replay.Sum `json:"sum"`
	Recorded int        `json:"recorded_cases"` // that the ledger has, looked at or not
	// Ignored says what of the configuration cannot be shown by runs that are
	// recorded: by key, with the reason.
	Ignored []Ignored `json:"not_replayed"`
}

// Ask decides the cases of a ledger again and calls fn, if it is not nil, with
// the result of each in which anything differs, sorted by key.
func Ask(ctx context.Context, led ledger.Ledger, q Question, fn func(key string, r replay.Result) error) (Report, error) {
	rep := Report{Ignored: NotReplayed(q.Old, q.New)}
	rules := Rules(q.New)
	var old *replay.Rules
	if q.Old != nil {
		o := Rules(*q.Old)
		old = &o
	}
	one := func(key string, events []routing.Event) error {
		if routing.IsRepositoryStream(key) || len(events) == 0 {
			return nil
		}
		rep.Recorded++
		res, err := replay.Case(key, events, old, rules)
		if err != nil {
			return err
		}
		rep.Sum.Add(res)
		if fn != nil && len(res.Differences)+len(res.Left) > 0 {
			return fn(key, res)
		}
		return nil
	}
	var err error
	if q.Most == 0 {
		err = ledger.Each(ctx, led, one)
	} else {
		err = newest(ctx, led, q, &rep.Recorded, one)
	}
	rep.Sum = rep.Sum.Sorted()
	return rep, err
}

// newest calls fn with the cases that have the highest numbers, sorted by key,
// and counts all.
func newest(ctx context.Context, led ledger.Ledger, q Question, all *int, fn func(string, []routing.Event) error) error {
	keys, err := led.Keys(ctx)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, routing.IsRepositoryStream)
	recorded, seen := len(keys), 0
	slices.SortStableFunc(keys, func(a, b string) int { return numberOf(b) - numberOf(a) })
	keys = keys[:min(len(keys), q.Most)]
	slices.Sort(keys)
	for _, key := range keys {
		events, _, err := led.Load(ctx, key)
		if err == nil {
			err = fn(key, events)
		}
		if err != nil {
			return err
		}
		if seen += len(events); q.Events > 0 && seen >= q.Events {
			break
		}
	}
	*all = recorded
	return nil
}

// numberOf is the number of a case's pull request. A branch lives on, so it
// comes before all of them.
func numberOf(key string) int {
	_, rest, ok := strings.Cut(key, "#")
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return int(^uint32(0) >> 1)
	}
	return n
}

// Ignored is a key of a configuration that recorded runs do not show, and why.
type Ignored struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

func (i Ignored) String() string { return fmt.Sprintf("%s: %s", i.Key, i.Why) }
