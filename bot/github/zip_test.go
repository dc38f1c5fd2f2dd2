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

func archive(t testing.TB, entries ...entry) []byte {
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
		"climbs":           {archive(t, entry{name: "ok.xml"}, entry{name: "../../etc/passwd"}), Limits{}, ErrUnsafe, 0},
		"climbs inside":    {archive(t, entry{name: "a/../../b"}), Limits{}, ErrUnsafe, 0},
		"climbs at end":    {archive(t, entry{name: "a/.."}), Limits{}, ErrUnsafe, 0},
		"absolute":         {archive(t, entry{name: "/etc/passwd"}), Limits{}, ErrUnsafe, 0},
		"drive":            {archive(t, entry{name: "C:/x"}), Limits{}, ErrUnsafe, 0},
		"backslash":        {archive(t, entry{name: `..\..\x`}), Limits{}, ErrUnsafe, 0},
		"link":             {archive(t, entry{name: "l", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), Limits{}, ErrUnsafe, 0},
		"device":           {archive(t, entry{name: "l", mode: fs.ModeDevice}), Limits{}, ErrUnsafe, 0},
		"twice":            {archive(t, entry{name: "a"}, entry{name: "./a"}), Limits{}, ErrUnsafe, 0},
		"zero byte":        {archive(t, entry{name: "a\x00b"}), Limits{}, ErrUnsafe, 0},
		"not a zip":        {[]byte("PK nothing"), Limits{}, ErrUnsafe, 0},
		"empty":            {[]byte{}, Limits{}, ErrUnsafe, 0},
		"truncated":        {archive(t, entry{name: "a", text: big})[:60], Limits{}, ErrUnsafe, 0},
		"many":             {archive(t, many...), Limits{}, ErrTooLarge, 0},
		"large file":       {archive(t, entry{name: "a", text: big}), small, ErrTooLarge, 0},
		"large in all":     {archive(t, entry{name: "a", text: big[:900]}, entry{name: "b", text: big[:900]}), small, ErrTooLarge, 0},
		"bomb":             {understate(archive(t, entry{name: "a", text: big})), small, ErrUnsafe, 1},
		"plain":            {archive(t, entry{name: "d/"}, entry{name: "d/a", text: "x"}, entry{name: "./b"}), Limits{}, nil, 2},
		"untaken is large": {archive(t, entry{name: "no", text: big}, entry{name: "a", text: "x"}), small, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			take := func(_ string, r io.Reader) error {
				calls++
				_, _ = io.Copy(io.Discard, r) // a reader that hides the error
				return nil
			}
			l := c.limits.withDefaults()

			err := unpack(bytes.NewReader(c.zip), int64(len(c.zip)), l, func(n string) bool { return n != "no" }, take, "op")
			if !errors.Is(err, c.want) || calls != c.calls {
				t.Errorf("%v after %d calls, want %v after %d", err, calls, c.want, c.calls)
			}
			if err != nil {
				wantKind(t, err, advice.Fail)
			}
		})
	}
}

func TestArchiveTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	data := archive(t, entry{name: "a", text: "x"}, entry{name: "../b"})
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), Artifacts: []e2e.Artifact{{Name: "n", Zip: data}}})
	a := ok(w.Artifacts.List(context.Background(), w.r, x.ID))(t)[0]
	never := func(string, io.Reader) error { t.Error("called"); return nil }
	all := func(string) bool { return true }
	if err := w.Artifacts.EachFile(context.Background(), w.r, a, all, never); !errors.Is(err, ErrUnsafe) {
		t.Errorf("%v", err)
	}
	w.core.o.Limits.Download = 100
	for _, size := range []int64{a.Size, 1} { // as listed, and understated
		a.Size = size
		if err := w.Artifacts.EachFile(context.Background(), w.r, a, all, never); !errors.Is(err, ErrTooLarge) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// TestLargeDirectory has an archive whose list alone would take much memory.
func TestLargeDirectory(t *testing.T) {
	t.Parallel()
	var entries []entry
	for i := range 60_000 {
		entries = append(entries, entry{name: fmt.Sprintf("%0200d", i)})
	}
	data := archive(t, entries...)
	err := unpack(bytes.NewReader(data), int64(len(data)), Limits{}.withDefaults(), nil, nil, "op")
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "directory") {
		t.Errorf("%v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, entry{name: "a/b.xml", text: "<x/>"}, entry{name: "../c"}))
	f.Add(understate(archive(f, entry{name: "a", text: strings.Repeat("a", 5000)})))
	l := Limits{File: 1000, Total: 2000, Files: 10}.withDefaults()
	f.Fuzz(func(t *testing.T, data []byte) {
		total := int64(0)
		_ = unpack(bytes.NewReader(data), int64(len(data)), l, func(string) bool { return true }, func(name string, r io.Reader) error {
			if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") || strings.Contains(name, `\`) {
				t.Errorf("unsafe name %q", name)
			}
			n, err := io.Copy(io.Discard, r)
			total += n
			return err
		}, "op")
		if total > l.Total {
			t.Errorf("%d bytes unpacked", total)
		}
	})
}
