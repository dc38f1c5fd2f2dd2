package github

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/switchback-ci/switchback/bot/advice"
)

// Archives are the artifacts of one run, whose budget they share: each Limits field is spent by all
// of them. Only the archives are on the disk, compressed as they were downloaded; a file is
// unpacked while it is read. Safe for use by many goroutines.
type Archives struct {
	files *downloader
	repo  Repo
	dir   string
	names int

	mu     sync.Mutex
	limits Limits // of the run
	used   Limits // so far; File is not used
	listed int64  // bytes read of the archives' directories
}

// ArchiveFile is a file in an archive. Open fails once the Archives' directory is removed.
type ArchiveFile struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Archives returns the artifacts of a run of r, none of them downloaded. The archives are kept in
// dir, an existing directory that the caller removes when nothing is read of them any more.
func (s *ArtifactsService) Archives(r Repo, dir string) *Archives {
	return &Archives{files: s.files, repo: r, dir: dir, limits: s.o.Limits}
}

// Open downloads an artifact and returns its files whose names match, in the archive's order. The
// archive is untrusted: one with an unsafe name, a link or a duplicate name is ErrUnsafe, and one
// that exceeds what is left of the run's budget ErrTooLarge. Sizes that an archive states are not
// believed: the bytes that are unpacked are counted over the whole run, and the reader of the file
// that exceeds the budget, and every one after it, fails with ErrTooLarge.
func (a *Archives) Open(ctx context.Context, art Artifact, match func(name string) bool) ([]ArchiveFile, error) {
	op := fmt.Sprintf("read artifact %q of %s", art.Name, a.repo)
	if art.Expired {
		return nil, &Error{Kind: advice.Gone, Op: op, Message: "it has expired", err: ErrNotFound}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.limits.Download - a.used.Download
	switch {
	case a.used.Archives >= a.limits.Archives:
		return nil, exceeded(op, "artifacts", strconv.Itoa(a.limits.Archives))
	case art.Size > left:
		return nil, exceeded(op, "bytes of archives", strconv.FormatInt(a.limits.Download, 10))
	}
	a.used.Archives++
	a.names++
	arc := &archive{path: filepath.Join(a.dir, fmt.Sprintf("%d.zip", a.names)), run: a, op: op}
	files, err := a.open(ctx, arc, art, left, match)
	if err != nil || len(files) == 0 {
		_ = os.Remove(arc.path)
	}
	return files, err
}

func (a *Archives) open(ctx context.Context, arc *archive, art Artifact, left int64, match func(string) bool) ([]ArchiveFile, error) {
	f, err := os.OpenFile(arc.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, Wrap(arc.op, err)
	}
	defer f.Close()
	size, err := a.files.fetch(ctx, arc.op, fmt.Sprintf("repos/%s/actions/artifacts/%d/zip", a.repo, art.ID), f, left)
	if info, statErr := f.Stat(); statErr == nil {
		a.used.Download += info.Size() // also of one that turned out too large
	}
	if err != nil {
		return nil, err
	}
	arc.f = f
	files, err := arc.list(size, match)
	arc.f = nil
	return files, err
}

// exceeded says which budget of a run is used up, and what to do.
func exceeded(op, what, limit string) *Error {
	return failf(op, ErrTooLarge, "the artifacts of this run have more than %s %s, which is the most that is read of one run; upload only reports as artifacts of the workflow, or split it into several workflows", limit, what)
}

// unpacked counts n bytes that were unpacked, and returns an error if they are too many.
func (a *Archives) unpacked(n int, op string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used.Total += int64(n); a.used.Total > a.limits.Total {
		return exceeded(op, "bytes unpacked", strconv.FormatInt(a.limits.Total, 10))
	}
	return nil
}

// archive is a downloaded archive. Its file is open only while something is read of it, so that a
// run of many artifacts does not take as many descriptors.
type archive struct {
	path string
	op   string
	run  *Archives

	mu      sync.Mutex
	f       *os.File
	readers int
}

// ReadAt implements io.ReaderAt, between acquire and release.
func (r *archive) ReadAt(p []byte, at int64) (int, error) { return r.f.ReadAt(p, at) }

func (r *archive) acquire() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readers == 0 {
		f, err := os.Open(r.path)
		if err != nil {
			return err
		}
		r.f = f
	}
	r.readers++
	return nil
}

func (r *archive) release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readers--; r.readers > 0 {
		return nil
	}
	return r.f.Close()
}
