package github

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/e2e"
)

// entry is a file of an archive as nobody should make it.
type entry struct {
	name, text string
	mode       fs.FileMode
}

func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name}
		if e.text != "" {
			h.Method = zip.Deflate
		}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err == nil && !strings.HasSuffix(e.name, "/") {
			_, err = io.WriteString(f, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// understate makes every size the archive gives for unpacked files 1.
func understate(data []byte) []byte {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("PK\x01\x02"))
		if i < 0 {
			return data
		}
		at += i
		binary.LittleEndian.PutUint32(data[at+24:], 1)
		at += 4
	}
}

func TestHostileArchives(t *testing.T) {
	t.Parallel()
	var many []entry
	for i := range 10_001 {
		many = append(many, entry{name: fmt.Sprint(i)})
	}
	big := strings.Repeat("a", 2000)
	small := Limits{File: 1000, Total: 1500}
	for name, c := range map[string]struct {
		zip    []byte
		limits Limits
		want   error
		calls  int
	}{
		"climbs":           {archiveOf(t, entry{name: "ok.xml"}, entry{name: "../../etc/passwd"}), Limits{}, ErrUnsafe, 0},
		"climbs inside":    {archiveOf(t, entry{name: "a/../../b"}), Limits{}, ErrUnsafe, 0},
		"climbs at end":    {archiveOf(t, entry{name: "a/.."}), Limits{}, ErrUnsafe, 0},
		"absolute":         {archiveOf(t, entry{name: "/etc/passwd"}), Limits{}, ErrUnsafe, 0},
		"drive":            {archiveOf(t, entry{name: "C:/x"}), Limits{}, ErrUnsafe, 0},
		"backslash":        {archiveOf(t, entry{name: `..\..\x`}), Limits{}, ErrUnsafe, 0},
		"link":             {archiveOf(t, entry{name: "l", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), Limits{}, ErrUnsafe, 0},
		"device":           {archiveOf(t, entry{name: "l", mode: fs.ModeDevice}), Limits{}, ErrUnsafe, 0},
		"twice":            {archiveOf(t, entry{name: "a"}, entry{name: "./a"}), Limits{}, ErrUnsafe, 0},
		"zero byte":        {archiveOf(t, entry{name: "a\x00b"}), Limits{}, ErrUnsafe, 0},
		"not a zip":        {[]byte("PK nothing"), Limits{}, ErrUnsafe, 0},
		"empty":            {[]byte{}, Limits{}, ErrUnsafe, 0},
		"truncated":        {archiveOf(t, entry{name: "a", text: big})[:60], Limits{}, ErrUnsafe, 0},
		"many":             {archiveOf(t, many...), Limits{Files: 10_000}, ErrTooLarge, 0},
		"large file":       {archiveOf(t, entry{name: "a", text: big}), small, ErrTooLarge, 0},
		"large in all":     {archiveOf(t, entry{name: "a", text: big[:900]}, entry{name: "b", text: big[:900]}), small, ErrTooLarge, 2},
		"bomb":             {understate(archiveOf(t, entry{name: "a", text: big})), small, ErrUnsafe, 1},
		"plain":            {archiveOf(t, entry{name: "d/"}, entry{name: "d/a", text: "x"}, entry{name: "./b"}), Limits{}, nil, 2},
		"untaken is large": {archiveOf(t, entry{name: "no", text: big}, entry{name: "a", text: "x"}), small, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := readAll(t, c.zip, c.limits, func(n string) bool { return n != "no" }, func(_ string, r io.Reader) error {
				calls++
				_, err := io.Copy(io.Discard, r)
				return err
			})
			if !errors.Is(err, c.want) || calls != c.calls {
				t.Errorf("%v after %d calls, want %v after %d", err, calls, c.want, c.calls)
			}
			if err != nil {
				wantKind(t, err, advice.Fail)
			}
		})
	}
}

// readAll reads the files of one archive, as those of a run are read, until one fails.
func readAll(t testing.TB, data []byte, l Limits, match func(string) bool, fn func(string, io.Reader) error) error {
	path := filepath.Join(t.TempDir(), "1.zip")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	arc := &archive{path: path, op: "op", run: &Archives{limits: l.withDefaults()}}
	if err := arc.acquire(); err != nil {
		t.Fatal(err)
	}
	files, err := arc.list(int64(len(data)), match)
	_ = arc.release()
	for _, f := range files {
		rc, bad := f.Open()
		if bad == nil {
			bad = errors.Join(fn(f.Name, rc), rc.Close())
		}
		if err = bad; err != nil {
			break
		}
	}
	return err
}

func TestArchiveTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	data := archiveOf(t, entry{name: "a", text: "x"}, entry{name: "../b"})
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), Artifacts: []e2e.Artifact{{Name: "n", Zip: data}}})
	a := ok(w.Artifacts.List(context.Background(), w.r, x.ID))(t)[0]
	all := func(string) bool { return true }
	if _, err := w.Artifacts.Archives(w.r, t.TempDir()).Open(context.Background(), a, all); !errors.Is(err, ErrUnsafe) {
		t.Errorf("%v", err)
	}
	w.core.o.Limits.Download = 100
	for _, size := range []int64{a.Size, 1} { // as listed, and understated
		a.Size = size
		if _, err := w.Artifacts.Archives(w.r, t.TempDir()).Open(context.Background(), a, all); !errors.Is(err, ErrTooLarge) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// bomb is an archive of a few KiB that unpacks to 4 MiB.
func bomb(t testing.TB) []byte {
	t.Helper()
	return archiveOf(t, entry{name: "junit.xml", text: strings.Repeat(" ", 4<<20)})
}

// TestS6_7_ArtifactsOfARunShareABudget is S6-7: twelve archives that are small as downloads and
// large as files share the budget of their run, and only the downloads are ever on the disk.
func TestS6_7_ArtifactsOfARunShareABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.core.o.Limits = Limits{Total: 16 << 20, Archives: 12}.withDefaults()
	data := bomb(t)
	var arts []e2e.Artifact
	for i := range 13 {
		arts = append(arts, e2e.Artifact{Name: fmt.Sprint("n", i), Zip: data})
	}
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), Artifacts: arts})
	dir := t.TempDir()
	archives := w.Artifacts.Archives(w.r, dir)
	onDisk := func() (sum int64) {
		entries := ok(os.ReadDir(dir))(t)
		for _, e := range entries {
			sum += ok(e.Info())(t).Size()
		}
		return sum
	}
	var files []ArchiveFile
	peak, opened := int64(0), 0
	for _, a := range ok(w.Artifacts.List(t.Context(), w.r, x.ID))(t) {
		got, err := archives.Open(t.Context(), a, func(string) bool { return true })
		if err == nil {
			opened++
		} else if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "more than 12 artifacts, which is the most") {
			t.Error(err)
		}
		files = append(files, got...)
	}
	unpacked, failed := int64(0), 0
	for _, f := range files {
		rc := ok(f.Open())(t)
		peak = max(peak, onDisk())
		n, err := io.Copy(io.Discard, rc)
		peak = max(peak, onDisk())
		unpacked += n
		if err != nil {
			failed++
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "more than 16777216 bytes unpacked") || !strings.Contains(err.Error(), "upload only reports") {
				t.Error(err)
			}
		}
		rc.Close()
	}
	t.Logf("%d archives of %d bytes: at most %d bytes on disk, %d unpacked, %d files failed", opened, len(data), peak, unpacked, failed)
	if opened != 12 || failed != 8 || unpacked > 16<<20 || peak > 12*int64(len(data)) {
		t.Errorf("%d opened, %d failed, %d unpacked, %d on disk", opened, failed, unpacked, peak)
	}
}

// TestS6_7_DownloadsOfARunShareABudget is S6-7: downloads and names of files are counted over
// the run, and an archive of which nothing is read is not kept.
func TestS6_7_DownloadsOfARunShareABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	data := archiveOf(t, entry{name: "a"}, entry{name: "b"}, entry{name: "c"})
	var arts []e2e.Artifact
	for i := range 5 {
		arts = append(arts, e2e.Artifact{Name: fmt.Sprint("n", i), Zip: data})
	}
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), Artifacts: arts})
	list := ok(w.Artifacts.List(t.Context(), w.r, x.ID))(t)
	for name, c := range map[string]struct {
		limits Limits
		match  bool
		opened int
		kept   int
		says   string
	}{
		"bytes":   {Limits{Download: 3*int64(len(data)) + 1}, true, 3, 3, "bytes of archives"},
		"files":   {Limits{Files: 7}, true, 2, 2, "more than 7 files"},
		"no need": {Limits{}, false, 5, 0, ""},
	} {
		for _, understated := range []bool{false, true} {
			w.core.o.Limits = c.limits.withDefaults()
			dir := t.TempDir()
			archives := w.Artifacts.Archives(w.r, dir)
			opened := 0
			for _, a := range list {
				if understated {
					a.Size = 1
				}
				if _, err := archives.Open(t.Context(), a, func(string) bool { return c.match }); err == nil {
					opened++
				} else if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if kept := ok(os.ReadDir(dir))(t); opened != c.opened || len(kept) != c.kept {
				t.Errorf("%s: %d opened, %d kept", name, opened, len(kept))
			}
		}
	}
}

// TestLargeDirectory has an archive whose list alone would take much memory.
func TestLargeDirectory(t *testing.T) {
	t.Parallel()
	var entries []entry
	for i := range 80_000 {
		entries = append(entries, entry{name: fmt.Sprintf("%0200d", i)})
	}
	err := readAll(t, archiveOf(t, entries...), Limits{Files: 100_000}, nil, nil)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "lists of files") {
		t.Errorf("%v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archiveOf(f, entry{name: "a/b.xml", text: "<x/>"}, entry{name: "../c"}))
	f.Add(understate(archiveOf(f, entry{name: "a", text: strings.Repeat("a", 5000)})))
	l := Limits{File: 1000, Total: 2000, Files: 10}
	f.Fuzz(func(t *testing.T, data []byte) {
		total := int64(0)
		_ = readAll(t, data, l, func(string) bool { return true }, func(name string, r io.Reader) error {
			if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") || strings.Contains(name, `\`) {
				t.Errorf("unsafe name %q", name)
			}
			n, err := io.Copy(io.Discard, r)
			total += n
			return err
		})
		if total > l.Total {
			t.Errorf("%d bytes unpacked", total)
		}
	})
}
