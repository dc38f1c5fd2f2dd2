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

// repoLedger is the ledger of one repository in the App. Its cases and its register of escalations are
// in the App's database. What workflows write, ports and surveys, is on the repository's branch.
type repoLedger struct {
	repo   string // the repository's name
	name   string // the name under which its streams are stored: the first one known
	own    ledger.Ledger
	branch ledger.Ledger
	now    *regexp.Regexp // matches repo as a whole name
	then   *regexp.Regexp

	shown func(context.Context, eventstream.Stream) // is called with what is written to the branch; nil: nobody
	mu    sync.Mutex
	reads map[string]readStream
}

var _ ledger.Ledger = (*repoLedger)(nil)

func newRepoLedger(repo, name string, own, branch ledger.Ledger) *repoLedger {
	return &repoLedger{repo: repo, name: name, own: own, branch: branch, now: whole(repo), then: whole(name)}
}

// whole matches a repository's name, but not as a part of a longer one.
func whole(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^A-Za-z0-9._-])` + regexp.QuoteMeta(name) + `($|[^A-Za-z0-9._~-])`)
}

// written reports whether a stream is written by workflows.
func written(repo, key string) bool {
	rest, ok := strings.CutPrefix(key, repo+"!")
	name, _, _ := strings.Cut(rest, "/")
	return ok && name != routing.StreamEscalations && name != routing.StreamIncidents
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
		return seen, err // rename would turn events of other streams into this one's
	}
	events, err := rename(events, key, b.kept(key), b.now, b.name)
	if err != nil {
		return seen, err
	}
	return b.own.Append(ctx, b.kept(key), seen, events)
}

// Blobs implements ledger.BlobKeeper: those of the repository's cases, which are in the database.
func (b *repoLedger) Blobs() ledger.Blobs {
	own := ledger.BlobsOf(b.own)
	if own == nil {
		return nil
	}
	return repoBlobs{own, b}
}

// repoBlobs are the blobs of one repository, stored under the name of their streams.
type repoBlobs struct {
	own ledger.Blobs
	of  *repoLedger
}

// Put implements ledger.Blobs.
func (r repoBlobs) Put(ctx context.Context, stream string, data []byte) (string, error) {
	if err := r.of.check(stream); err != nil {
		return "", err
	}
	return r.own.Put(ctx, r.of.kept(stream), data)
}

// Get implements ledger.Blobs.
func (r repoBlobs) Get(ctx context.Context, stream, name string) ([]byte, error) {
	if err := r.of.check(stream); err != nil {
		return nil, err
	}
	return r.own.Get(ctx, r.of.kept(stream), name)
}

// List implements ledger.Blobs: by the folders of the streams under their present names.
func (r repoBlobs) List(ctx context.Context) (map[string][]string, error) {
	all, err := r.own.List(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := r.of.ownKeys(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, key := range keys {
		if names := all[ledger.BlobFolder(r.of.kept(key))]; len(names) > 0 {
			out[ledger.BlobFolder(key)] = names
		}
	}
	return out, nil
}

// Delete implements ledger.Blobs.
func (r repoBlobs) Delete(ctx context.Context, folder, name string) error {
	keys, err := r.of.ownKeys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if ledger.BlobFolder(key) == folder {
			return r.own.Delete(ctx, ledger.BlobFolder(r.of.kept(key)), name)
		}
	}
	return nil
}

// Keys implements ledger.Ledger: those of the repository.
func (b *repoLedger) Keys(ctx context.Context) ([]string, error) {
	out, err := b.ownKeys(ctx)
	if err != nil {
		return nil, err
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

// ownKeys returns the keys of the repository's streams in the database.
func (b *repoLedger) ownKeys(ctx context.Context) ([]string, error) {
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
	return out, nil
}

// check returns an error for the stream of another repository.
func (b *repoLedger) check(key string) error {
	if rest, ok := strings.CutPrefix(key, b.repo); !ok || rest == "" || !strings.Contains("#@!", rest[:1]) {
		return fmt.Errorf("%q is no stream of %s", key, b.repo)
	}
	return nil
}

// kept is the key under which a stream of the repository is stored.
func (b *repoLedger) kept(key string) string {
	return b.name + strings.TrimPrefix(key, b.repo)
}

// rename returns the events of the stream from as those of the stream to, with one name of the
// repository in place of the other.
func rename(events []routing.Event, from, to string, old *regexp.Regexp, name string) ([]routing.Event, error) {
	if len(events) == 0 {
		return events, nil
	}
	events = slices.Clone(events)
	for i := range events {
		events[i].Stream = "" // Decode sets the stream's
	}
	data, err := ledger.Encode(from, "", events)
	if err != nil {
		return nil, err
	}
	text := string(data)
	for range 2 { // two names with one byte between them share it
		text = old.ReplaceAllString(text, "${1}"+strings.ReplaceAll(name, "$", "$$")+"${2}")
	}
	return ledger.Decode(to, []byte(text))
}

// asKept returns the events of a stream as they are under the name that it is stored under.
func (b *repoLedger) asKept(key string, events []routing.Event) ([]routing.Event, error) {
	if b.repo == b.name {
		return events, nil
	}
	return rename(events, key, b.kept(key), b.now, b.name)
}

// readStream is a stream of the branch as it was read.
type readStream struct {
	version ledger.Version
	events  []routing.Event
}

// read keeps what was read of the branch, so that additions can be published.
func (b *repoLedger) read(key string, v ledger.Version, events []routing.Event) {
	if b.shown == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reads == nil {
		b.reads = map[string]readStream{}
	}
	b.reads[key] = readStream{v, events}
}

// show publishes what was appended to a stream of the branch. A stream that was not read before is left
// to the next look at the branch.
func (b *repoLedger) show(ctx context.Context, key string, seen, now ledger.Version, added []routing.Event) {
	if b.shown == nil || len(added) == 0 {
		return
	}
	b.mu.Lock()
	was := b.reads[key]
	b.mu.Unlock()
	if was.version != seen {
		return
	}
	data, err := ledger.Encode(key, "", added)
	if err == nil {
		added, err = ledger.Decode(key, data)
	}
	if err != nil {
		return // unreachable: the events were encoded before
	}
	events := slices.Concat(was.events, added)
	b.read(key, now, events)
	if events, err = b.asKept(key, events); err == nil {
		b.shown(ctx, eventstream.Stream{Key: b.kept(key), Events: events, State: string(now)})
	}
}

// importLedger copies the cases that the Action recorded on the branch, and its escalations, to the
// database. A stream that exists there stays as it is, so that an interrupted import starts again
// from the beginning.
func importLedger(ctx context.Context, b *repoLedger) (streams int, err error) {
	keys, err := b.branch.Keys(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the ledger's branch: %w", err)
	}
	var cases []string
	for _, key := range keys {
		if b.check(key) != nil || written(b.repo, key) {
			continue
		}
		cases = append(cases, key)
		events, _, err := b.branch.Load(ctx, key)
		if err != nil {
			return streams, fmt.Errorf("reading the ledger's branch: %w", err)
		}
		if len(events) == 0 {
			// Without it the stream would be lost: the branch is read once.
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
	if streams == 0 {
		return 0, nil
	}
	return streams, ledger.CopyBlobs(ctx, b.branch, b, cases)
}

// recordedByAction reports whether the Action has recorded cases on the branch.
func recordedByAction(ctx context.Context, b *repoLedger) (bool, error) {
	keys, err := b.branch.Keys(ctx)
	return slices.ContainsFunc(keys, func(k string) bool {
		return b.check(k) == nil && !routing.IsRepositoryStream(k)
	}), err
}
