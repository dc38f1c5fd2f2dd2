package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
)

// blobs are the blobs of a ledger's branch: a file each, in a folder for each stream. To put or get
// one is one request.
type blobs struct{ *Git }

var _ ledger.BlobKeeper = (*Git)(nil)

// Blobs implements ledger.BlobKeeper.
func (g *Git) Blobs() ledger.Blobs { return blobs{g} }

// Put implements ledger.Blobs.
func (b blobs) Put(ctx context.Context, stream string, data []byte) (string, error) {
	if err := errors.Join(ctx.Err(), ledger.CheckKey(stream)); err != nil {
		return "", err
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	name := ledger.BlobName(data)
	file := path.Join(ledger.BlobsDir, ledger.BlobFolder(stream), name)
	now := content{ledger.ContentVersion(data), data}
	if err := b.swap(ctx, file, content{}, now, fmt.Sprintf("%s: inventory\n\n[skip ci]\n", ledger.BlobFolder(stream))); err != nil {
		return "", b.failed("write", file, err)
	}
	return name, nil
}

// Get implements ledger.Blobs.
func (b blobs) Get(ctx context.Context, stream, name string) ([]byte, error) {
	if err := errors.Join(ctx.Err(), ledger.CheckKey(stream)); err != nil || path.Base(name) != name {
		return nil, err
	}
	file := path.Join(ledger.BlobsDir, ledger.BlobFolder(stream), name)
	now, err := b.get(ctx, file)
	if err != nil {
		return nil, b.failed("read", file, err)
	}
	if now.version == "" {
		return nil, nil
	}
	return now.data, ledger.CheckBlob(name, now.data)
}

// List implements ledger.Blobs, with one request.
func (b blobs) List(ctx context.Context) (map[string][]string, error) {
	files, err := b.files(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, f := range files {
		if folder, name, ok := blobAt(f.Path); ok {
			out[folder] = append(out[folder], name)
		}
	}
	return out, nil
}

// files lists the files of the branch, sorted. GitHub lists a branch that does not exist as none.
func (b blobs) files(ctx context.Context) ([]github.TreeFile, error) {
	files, err := b.github.Files(ctx, b.repo, b.branch)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, b.failed("list", ledger.BlobsDir, err)
	}
	return files, nil
}

func blobAt(file string) (folder, name string, ok bool) {
	parts := strings.Split(file, "/")
	if len(parts) != 3 || parts[0] != ledger.BlobsDir {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// Delete implements ledger.Blobs: with two requests, as GitHub wants to be told what it deletes. A
// branch that others move meanwhile is tried again by the next reconcile.
func (b blobs) Delete(ctx context.Context, folder, name string) error {
	file := path.Join(ledger.BlobsDir, folder, name)
	now, err := b.get(ctx, file)
	if err != nil || now.version == "" {
		return err
	}
	err = b.github.DeleteFile(ctx, b.repo, b.branch, file, string(now.version), fmt.Sprintf("%s: forget an inventory\n\n[skip ci]\n", folder))
	if s := statusOf(err); s == http.StatusConflict || s == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return b.failed("delete", file, err)
	}
	return nil
}
