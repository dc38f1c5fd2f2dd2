package plans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// JournalDir is the folder of a port's artifact that holds the events of its job, as a ledger.
const JournalDir = "journal"

// maxJournalBytes bounds what is read of one stream of a job, in bytes: what two workers may record,
// and as much again for the rest.
const maxJournalBytes = 64 << 20

// ErrNoJournal says that a job left no events.
var ErrNoJournal = errors.New("the job left no journal")

// Artifacts are the artifacts of a run's jobs, as they were downloaded.
type Artifacts struct {
	Dir  string // has one folder for each artifact, or the content of the only one
	Name string // of the plan
}

// journal opens the folder with the events of a port. Its content is hostile: nothing is read through
// it that lies outside.
func (a Artifacts) journal(port string) (*os.Root, error) {
	for _, dir := range []string{filepath.Join(ArtifactName(a.Name, port), a.Name, port), filepath.Join(a.Name, port)} {
		root, err := os.OpenRoot(a.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNoJournal
		}
		if err != nil {
			return nil, err
		}
		journal, err := root.OpenRoot(filepath.Join(dir, JournalDir, "cases"))
		_ = root.Close()
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return journal, err
		}
	}
	return nil, ErrNoJournal
}

// ArtifactName is the name of the artifact of a port's job.
func ArtifactName(plan, port string) string { return "switchback-port-" + plan + "-" + port }

// readStream reads a stream of a job.
func readStream(dir *os.Root, key string) ([]routing.Event, error) {
	name := ledger.FileName(key)
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", name)
	case info.Size() > maxJournalBytes:
		return nil, fmt.Errorf("%s has %d bytes; a job may leave %d", name, info.Size(), maxJournalBytes)
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxJournalBytes))
	if err != nil {
		return nil, err
	}
	return ledger.Decode(key, data)
}

// Import appends what the jobs of this run recorded of their ports to the ledger, once it is checked
// (see worker.CheckJournal), and sends the feedback of their workers. build is the build that assigned
// the ports, "" for a workflow without rounds. It may be done again. refused says of which ports
// nothing was taken, and why.
func (d *Runner) Import(ctx context.Context, a Artifacts, build string) (refused map[string]error, err error) {
	reg, err := d.Store().State(ctx)
	if err != nil {
		return nil, err
	}
	refused = map[string]error{}
	for _, id := range d.Plan.Order() {
		dir, err := a.journal(id)
		if errors.Is(err, ErrNoJournal) {
			continue
		}
		if err == nil {
			err = journalImport{d}.port(ctx, dir, reg, build, id)
			_ = dir.Close()
		}
		var failed ledgerError
		if errors.As(err, &failed) || ctx.Err() != nil {
			return refused, err
		}
		if err != nil {
			refused[id] = err
		}
	}
	return refused, nil
}

// ledgerError is an error of the ledger, and not of what a job left.
type ledgerError struct{ error }

// Unwrap returns the cause.
func (e ledgerError) Unwrap() error { return e.error }

// journalImport takes over what the jobs of a run recorded.
type journalImport struct{ runner *Runner }

// port imports the journal of one port.
func (i journalImport) port(ctx context.Context, dir *os.Root, reg plan.BuildState, build, id string) error {
	d := i.runner
	if k := reg.Ports[id]; build != "" && (k.Build != build || k.Run != d.Run) {
		return fmt.Errorf("run %s was not assigned the port in build %s", d.Run, build)
	}
	spec, ok := d.Plan.Port(id)
	if !ok {
		return errors.New("it is not in the plan")
	}
	events, err := readStream(dir, d.Store().portKey(id))
	if err != nil || len(events) == 0 {
		return err
	}
	sent, err := readStream(dir, routing.StreamKey(d.Repo.String(), routing.StreamFeedbackRequests))
	if err != nil {
		return err
	}
	store, err := i.requests(ctx, reg, build)
	if err != nil {
		return ledgerError{err}
	}
	have, _, err := d.Ledger.Load(ctx, d.Store().portKey(id))
	if err != nil {
		return ledgerError{err}
	}
	if holds(have, events) { // an artifact of an earlier round
		return i.send(ctx, store, id, sent)
	}
	before, err := store.Before(ctx, id)
	if err != nil {
		return ledgerError{err}
	}
	own := ownBuild(d)
	assigned := worker.Assignment{
		Port: id, Builds: []string{build, own, "run-" + d.Run}, Run: d.Run, Spec: spec, Settings: d.Settings, Requests: before.Requests, Now: d.Now(),
	}
	if build != "" {
		assigned.Builds = []string{build}
	}
	if err := i.append(ctx, assigned, events); err != nil {
		return err
	}
	return i.send(ctx, store, id, sent) // messages that were sent before are known by their keys
}

// requests returns the feedback requests that the job of a port used.
func (i journalImport) requests(ctx context.Context, reg plan.BuildState, build string) (requests.Store, error) {
	d := i.runner
	store := d.requests().of(reg)
	if build == "" && reg.Build.ID != ownBuild(d) {
		name, err := d.requests().nameFor(ctx, reg, ownBuild(d))
		store.Build = name
		return store, err
	}
	return store, nil
}

// append appends the events of a job, unless that was done before.
func (i journalImport) append(ctx context.Context, a worker.Assignment, events []routing.Event) error {
	d := i.runner
	key := d.Store().portKey(a.Port)
	for {
		have, version, err := d.Ledger.Load(ctx, key)
		if err != nil {
			return ledgerError{err}
		}
		if holds(have, events) {
			return nil
		}
		if a.Ledger, err = plan.FoldJournal(have); err != nil {
			return ledgerError{err}
		}
		if newer(a.Ledger.Runner, d.Run) {
			return fmt.Errorf("run %s has run the port since", a.Ledger.Runner.Run)
		}
		if err := worker.CheckJournal(events, a); err != nil {
			return err
		}
		if _, err := plan.FoldJournal(slices.Concat(have, events)); err != nil {
			return err
		}
		if _, err = d.Ledger.Append(ctx, key, version, events); err == nil {
			return nil
		} else if !errors.Is(err, ledger.ErrConflict) {
			return ledgerError{err}
		}
	}
}

// newer reports whether a later run than the given one runs a port.
func newer(r *plan.Runner, run string) bool {
	if r == nil {
		return false
	}
	have, err1 := strconv.ParseInt(r.Run, 10, 64)
	own, err2 := strconv.ParseInt(run, 10, 64)
	return err1 == nil && err2 == nil && have > own
}

// holds reports whether a stream holds the events of a job already. The first of them, which names
// the job's process, is found once at most.
func holds(have, events []routing.Event) bool {
	return slices.ContainsFunc(have, func(e routing.Event) bool {
		return e.Type == events[0].Type && e.At.Equal(events[0].At) && reflect.DeepEqual(e.Data, events[0].Data)
	})
}

// maxSent bounds what the workers of one job send to other ports.
const maxSent = 300

// send sends the feedback and the answers of a job's workers, as if they had sent them now. What
// else the job recorded of requests follows from that and from its result.
func (i journalImport) send(ctx context.Context, store requests.Store, id string, events []routing.Event) error {
	if len(events) > maxSent {
		return fmt.Errorf("its workers sent %d messages to other ports; at most %d are taken", len(events), maxSent)
	}
	for _, e := range events {
		var m *feedback.Message
		switch e.Type {
		case feedback.EventQueued:
			if q, err := routing.PayloadOf[feedback.RequestQueued](e); err == nil && q.Escalates == "" {
				m = q.Message
			}
		case feedback.EventRejected:
			if q, err := routing.PayloadOf[feedback.RequestRejected](e); err == nil {
				m = q.Message
			}
		case feedback.EventVerifying:
			if err := answer(ctx, store, id, e); err != nil {
				return err
			}
		}
		if m == nil || m.From != id || m.Key == "" {
			continue
		}
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := store.Send(ctx, bytes.TrimSpace(data)); err != nil {
			return ledgerError{err}
		}
	}
	return nil
}

// answer gives the answer of a port to a question that it was asked.
func answer(ctx context.Context, store requests.Store, id string, e routing.Event) error {
	q, err := routing.PayloadOf[feedback.RequestProcessed](e)
	if err != nil || q.Outcome == nil || q.Outcome.Answer == "" || q.Target != id {
		return nil //nolint:nilerr // no answer of this port
	}
	all, err := store.State(ctx)
	if err != nil {
		return ledgerError{err}
	}
	if x, ok := all.ByID(q.ID); !ok || x.Message.To != id || x.Status != feedback.Processing {
		return nil
	}
	_, err = store.Answer(ctx, id, q.ID, q.Outcome.Answer, q.Outcome.Files)
	return err
}
