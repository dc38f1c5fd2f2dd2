package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"
)

// Limits bound what is read of the artifacts of one run, all of them together. Zero fields have
// defaults.
type Limits struct {
	Archives int   // artifacts; 500
	Download int64 // bytes of the archives, and with them of the disk; 512 MiB
	File     int64 // bytes of one file, unpacked; 256 MiB
	Total    int64 // bytes that are unpacked, of all files read; 1 GiB
	Files    int   // entries, read or not; 20,000
}

func (l Limits) withDefaults() Limits {
	l.Archives = cmp.Or(l.Archives, 500)
	l.Download = cmp.Or(l.Download, 512<<20)
	l.File = cmp.Or(l.File, 256<<20)
	l.Total = cmp.Or(l.Total, 1<<30)
	l.Files = cmp.Or(l.Files, 20_000)
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
