package server

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// repoLedger is the ledger of one repository as the App has it. Its cases and its
// register of escalations are in the App's database. What workflows write, the
// ports and the prompts, stays where they do: on the repository's branch.
type repoLedger struct {
	repo   string // the repository's name
	name   string // the name under which its streams are kept: the first one known
	own    ledger.Ledger
	branch ledger.Ledger
	now    *regexp.Regexp // repo, where it is a name and not a part of one
	then   *regexp.Regexp

	shown func(context.Context, eventstream.Stream) // is told of what is written to the branch; nil: nobody
	mu    sync.Mutex
	reads map[string]readStream
}

var _ ledger.Ledger = (*repoLedger)(nil)

func newRepoLedger(repo, name string, own, branch ledger.Ledger) *repoLedger {
	return &repoLedger{repo: repo, name: name, own: own, branch: branch, now: whole(repo), then: whole(name)}
}

// whole matches a repository's name where neither side of it goes on.
func whole(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^A-Za-z0-9._-])` + regexp.QuoteMeta(name) + `($|[^A-Za-z0-9._~-])`)
}

// written reports whether a stream is written by workflows.
func written(repo, key string) bool {
	rest, ok := strings.CutPrefix(key, repo+"!")
	name, _, _ := strings.Cut(rest, "/")
	return ok && name != routing.RegisterEscalations
}

// Load implements ledger.Ledger.
func (b *repoLedger) Load(ctx context.Context, key string) ([]routing.Event, ledger.Version, error) {
	if err := b.check(key); err != nil {
		return nil, "", err
	}
	if written(b.repo, key) {
		events, v, err := b.branch.Load(ctx, key)
		if err == nil {
			b.read(key, v, events)
		}
		return events, v, err
	}
	events, v, err := b.own.Load(ctx, b.kept(key))
	if err != nil || b.repo == b.name {
		return events, v, err
	}
	events, err = rename(events, b.kept(key), key, b.then, b.repo)
	return events, v, err
}

// Append implements ledger.Ledger.
func (b *repoLedger) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (ledger.Version, error) {
	if err := b.check(key); err != nil {
		return seen, err
	}
	if written(b.repo, key) {
		now, err := b.branch.Append(ctx, key, seen, events)
		if err == nil {
			b.show(ctx, key, seen, now, events)
		}
		return now, err
	}
	if b.repo == b.name {
		return b.own.Append(ctx, key, seen, events)
	}
	if _, err := ledger.Encode(key, "", events); err != nil {
		return seen, err // rename would make events of other streams this one's
	}
	events, err := rename(events, key, b.kept(key), b.now, b.name)
	if err != nil {
		return seen, err
	}
	return b.own.Append(ctx, b.kept(key), seen, events)
}

// Keys implements ledger.Ledger: those of the repository.
func (b *repoLedger) Keys(ctx context.Context) ([]string, error) {
	own, err := b.own.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, k := range own {
		if rest, ok := strings.CutPrefix(k, b.name); ok && rest != "" && strings.Contains("#@!", rest[:1]) {
			out = append(out, b.repo+rest)
		}
	}
	theirs, err := b.branch.Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range theirs {
		if written(b.repo, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out, nil
}

// check refuses the stream of another repository.
func (b *repoLedger) check(key string) error {
	if rest, ok := strings.CutPrefix(key, b.repo); !ok || rest == "" || !strings.Contains("#@!", rest[:1]) {
		return fmt.Errorf("%q is no stream of %s", key, b.repo)
	}
	return nil
}

// kept is the key under which a stream of the repository is kept.
func (b *repoLedger) kept(key string) string {
	return b.name + strings.TrimPrefix(key, b.repo)
}

// rename gives the events of the stream from as those of the stream to, with
// one name of the repository in place of another wherever it stands.
func rename(events []routing.Event, from, to string, old *regexp.Regexp, name string) ([]routing.Event, error) {
	if len(events) == 0 {
		return events, nil
	}
	events = slices.Clone(events)
	for i := range events {
		events[i].Stream = "" // becomes the stream's
	}
	data, err := ledger.Encode(from, "", events)
	if err != nil {
		return nil, err
	}
	text := string(data)
	for range 2 { // names with one byte between them share it
		text = old.ReplaceAllString(text, "${1}"+strings.ReplaceAll(name, "$", "$$")+"${2}")
	}
	return ledger.Decode(to, []byte(text))
}

// importLedger takes over the cases that the Action recorded on the branch, and
// who is held by which issue. A stream that is there already stays as it is, so
// that what was cut off is done again from the beginning.
func importLedger(ctx context.Context, b *repoLedger) (streams int, err error) {
	keys, err := b.branch.Keys(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the ledger's branch: %w", err)
	}
	for _, key := range keys {
		if b.check(key) != nil || written(b.repo, key) {
			continue
		}
		events, _, err := b.branch.Load(ctx, key)
		if err != nil {
			return streams, fmt.Errorf("reading the ledger's branch: %w", err)
		}
		if len(events) == 0 {
			// To go on without it would lose it: the branch is read once.
			return streams, fmt.Errorf("reading the ledger's branch: it lists %s, and does not have it", key)
		}
		switch _, err = b.Append(ctx, key, "", events); {
		case errors.Is(err, ledger.ErrConflict):
		case err != nil:
			return streams, err
		default:
			streams++
		}
	}
	return streams, nil
}

// recordedByAction reports whether the Action has recorded cases on the branch.
func recordedByAction(ctx context.Context, b *repoLedger) (bool, error) {
	keys, err := b.branch.Keys(ctx)
	return slices.ContainsFunc(keys, func(k string) bool {
		return b.check(k) == nil && !routing.IsRegister(k)
	}), err
}
