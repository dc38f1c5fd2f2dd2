package github

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// Limits bound what is read from one artifact. Zero fields have defaults.
type Limits struct {
	Download int64 // bytes of the archive; 256 MiB
	File     int64 // bytes of one file, unpacked; 256 MiB
	Total    int64 // bytes of all files taken, unpacked; 1 GiB
	Files    int   // in the archive, taken or not; 10,000
}

func (l Limits) withDefaults() Limits {
	l.Download = cmp.Or(l.Download, 256<<20)
	l.File = cmp.Or(l.File, 256<<20)
	l.Total = cmp.Or(l.Total, 1<<30)
	l.Files = cmp.Or(l.Files, 10_000)
	return l
}

// Artifact is an artifact of a run: always a zip archive.
type Artifact struct {
	ID        int64
	Name      string
	Size      int64 // of the archive, in bytes
	Expired   bool
	CreatedAt time.Time // tells the attempts of a run apart
}

// ArtifactsService reads the artifacts of workflow runs.
type ArtifactsService struct {
	*core
	files *downloader
}

// List lists all artifacts of a run, of all attempts.
func (s *ArtifactsService) List(ctx context.Context, r Repo, runID int64) ([]Artifact, error) {
	return list(fmt.Sprintf("list the artifacts of run %d of %s", runID, r), func(o github.ListOptions) (page[Artifact], *github.Response, error) {
		l, res, err := s.gh.Actions.ListWorkflowRunArtifacts(ctx, r.Owner, r.Name, runID, &o)
		if err != nil {
			return page[Artifact]{}, res, err
		}
		p := page[Artifact]{total: -1}
		if l.TotalCount != nil {
			p.total = int(*l.TotalCount)
		}
		for _, a := range l.Artifacts {
			p.items = append(p.items, Artifact{ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Expired: a.GetExpired(), CreatedAt: a.GetCreatedAt().Time})
		}
		return p, res, nil
	})
}

// Newest returns the newest artifact of each name, because a run also lists the artifacts of its
// earlier attempts.
func Newest(arts []Artifact) []Artifact {
	var out []Artifact
	for _, a := range arts {
		i := slices.IndexFunc(out, func(b Artifact) bool { return b.Name == a.Name })
		switch {
		case i < 0:
			out = append(out, a)
		case a.ID > out[i].ID:
			out[i] = a
		}
	}
	return out
}

// EachFile calls fn for every file of a whose name matches, in the archive's order. The
// archive is untrusted: one with an unsafe name, a link, a duplicate name, or too much content is
// rejected before fn is called (ErrUnsafe, ErrTooLarge). If a file turns out larger than declared,
// fn's reader fails with that error, and EachFile returns it whatever fn returns.
func (s *ArtifactsService) EachFile(ctx context.Context, r Repo, a Artifact, match func(name string) bool, fn func(name string, r io.Reader) error) error {
	op := fmt.Sprintf("read artifact %q of %s", a.Name, r)
	limits := s.o.Limits
	switch {
	case a.Expired:
		return &Error{Kind: advice.Gone, Op: op, Message: "it has expired", err: ErrNotFound}
	case a.Size > limits.Download:
		return failf(op, ErrTooLarge, "the archive has %d bytes, the limit is %d", a.Size, limits.Download)
	}
	f, err := os.CreateTemp("", "switchback-artifact-*.zip")
	if err != nil {
		return Wrap(op, err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	size, err := s.files.fetch(ctx, op, fmt.Sprintf("repos/%s/actions/artifacts/%d/zip", r, a.ID), f)
	if err != nil {
		return err
	}
	return unpack(f, size, limits, match, fn, op)
}
