package handler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/evidence"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// ChangeCache keeps what changes do to tests between events: several workflows run for one commit. The
// zero value is empty; it is safe for concurrent use.
type ChangeCache struct {
	mu    sync.Mutex
	known map[string]change
	order []string
}

// mostChanges is how many changes a ChangeCache keeps.
const mostChanges = 128

// change is what a pull request changes.
type change struct {
	workflows []string // files of CI itself
	reading   evidence.Reading
}

// of returns the change of a key, which read reads if it is not kept.
func (c *ChangeCache) of(key string, read func() (change, error)) (change, error) {
	if c == nil || key == "" {
		return read()
	}
	c.mu.Lock()
	known, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	found, err := read()
	if err != nil {
		return found, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[key]; !ok {
		if c.known == nil {
			c.known = map[string]change{}
		}
		if len(c.order) >= mostChanges {
			delete(c.known, c.order[0])
			c.order = slices.Delete(c.order, 0, 1)
		}
		c.order = append(c.order, key)
		c.known[key] = found
	}
	return found, nil
}

// edited returns the verdict of a green run with what its pull request does to tests and to what runs
// them.
func edited(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (routing.Verdict, error) {
	if v.Result != routing.Pass || t.Subject.Number == 0 || t.Review != nil {
		return v, nil
	}
	key := ""
	if t.Head == t.Run.SHA && t.Head != "" { // GitHub lists the files of the head as it is now
		key = fmt.Sprint(d.Repo, " ", t.Subject.Number, " ", t.Head)
	}
	ch, err := d.Changes.of(key, func() (change, error) { return readChange(ctx, d, t.Subject.Number) })
	if err != nil {
		return v, err
	}
	v.Workflows = ch.workflows
	return routing.Edited(v, ch.reading), nil
}

// readChange reads the files of a pull request.
func readChange(ctx context.Context, d Deps, number int) (change, error) {
	files, whole, err := d.GitHub.PullRequests.ChangedFiles(ctx, d.Repo, number)
	if err != nil {
		return change{}, err
	}
	var out change
	read := make([]evidence.File, len(files))
	for i, f := range files {
		for _, name := range []string{f.Path, f.Was} {
			if name != "" && evidence.IsWorkflow(name) {
				out.workflows = append(out.workflows, name)
			}
		}
		read[i] = evidence.File{Path: f.Path, Was: f.Was, Status: f.Status, Patch: f.Patch, Edited: f.Lines > 0}
	}
	out.reading = evidence.Read(read, whole)
	for i := range out.reading.Changes {
		c := &out.reading.Changes[i]
		c.File, c.Text, c.Was = redact.Text(c.File), redact.Text(c.Text), redact.Text(c.Was)
	}
	return out, nil
}

// mostGreenBlobs is how many inventories are read to find out what became of tests that failed.
const mostGreenBlobs = 1

// follow completes the verdict of a green run by what became of the tests that failed before it. now
// are its own tests.
func (b base) follow(d Deps, now func() history.Ran) func(ctx context.Context, c routing.Case, v routing.Verdict) (routing.Verdict, error) {
	return func(ctx context.Context, c routing.Case, v routing.Verdict) (routing.Verdict, error) {
		return Follow(ctx, d.Ledger, c, v, now, b.cases, d.Config.Policy(v.Checkpoint, "", nil))
	}
}

// Follow returns the verdict of a green run with what became of the tests that failed in its case
// before. The inventory of the newest run whose event does not hold it is read.
func Follow(ctx context.Context, led ledger.Ledger, c routing.Case, v routing.Verdict, now func() history.Ran, base routing.Case, p routing.Policy) (routing.Verdict, error) {
	blobs := ledger.BlobsOf(led)
	for i, name := range routing.UnreadSinceGreen(c, v, p) {
		if blobs == nil || i == mostGreenBlobs {
			break
		}
		data, err := blobs.Get(ctx, c.Key, name)
		why, err := permanent(err)
		if err != nil {
			return v, err
		}
		if why != nil || data == nil {
			continue // the run then does not say what is new
		}
		c = routing.WithInventory(c, v.Checkpoint, name, data)
	}
	v = v.Follows(c, now, base, p)
	if v.Green != nil {
		for i := range v.Green.Earlier { // names of tests of this run, which are not in the verdict otherwise
			t := &v.Green.Earlier[i]
			t.Now = truncate.Counted(redact.Text(t.Now), 500)
		}
	}
	return v, nil
}

// size returns v with the size of the base's run that it is compared with. The merge base is asked for
// only if v ran far fewer tests than some run of the base.
func (b base) size(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (routing.Verdict, error) {
	if b.branch == "" || b.lost != nil || v.Result != routing.Pass || !routing.Shrinks(v, b.cases, d.Config.Policy(t.Checkpoint, "", nil)) {
		return v, nil
	}
	at, err := b.mergeBase(ctx, d, t)
	why, err := permanent(err)
	if err != nil || why != nil || at.SHA == "" {
		return v, err
	}
	return routing.SizedBy(v, b.cases, at, nil), nil
}

// PusherOf returns the login of who pushed the commit of a run, "" if nobody did: a run that was
// started otherwise says nothing of it.
func PusherOf(event, actor string) string {
	switch event {
	case "push", "pull_request", "pull_request_target", "merge_group", "":
		return strings.TrimSpace(actor)
	}
	return ""
}
