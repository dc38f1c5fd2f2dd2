package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
)

func opened(tb testing.TB, open func(string) (*ledger.Dir, error), path string) *ledger.Dir {
	tb.Helper()
	d, err := open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestDir(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(string) (*ledger.Dir, error){
		"plain": ledger.Open, "as on Windows": ledger.OpenLockingReads,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledgertest.Run(t, func(tb testing.TB) ledger.Ledger {
				path := filepath.Join(tb.TempDir(), "made", "on demand")
				return ledgertest.Alternate(opened(tb, open, path), opened(tb, open, path))
			})
		})
	}
}

func TestOpenRefusesAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(path); err == nil || !strings.Contains(err.Error(), "a ledger is a directory") {
		t.Errorf("Open of a file: %v", err)
	}
	if _, err := ledger.Open(""); err == nil {
		t.Error("Open of an empty path succeeds")
	}
}

func TestDirReadsMakeNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	d := opened(t, ledger.OpenLockingReads, path)
	if _, _, err := d.Load(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if _, err := d.Keys(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a read made the directory: %v", err)
	}
}

func TestDirNamesTheBadLine(t *testing.T) {
	t.Parallel()
	good := `{"type":"lease","at":"2026-01-01T00:00:00Z","stream":"a"}` + "\n"
	stored := slices.Collect(strings.Lines(string(ledger.Chain("a", nil, []byte(strings.Repeat(good, 3))))))
	one, two, three := stored[0], stored[1], stored[2]
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":       {one + "garbage\n" + two, "a.jsonl:2: is not an event"},
		"torn":          {one + two + three[:20], "a.jsonl:3: the last line is not complete"},
		"blank":         {one + "\n" + two, "a.jsonl:2: is not an event"},
		"no type":       {"{}\n", "a.jsonl:1: is not an event: it has no type"},
		"another case":  {one + strings.Replace(two, `"a"`, `"b"`, 1), `a.jsonl:2: is of stream "b", in the stream of "a"`},
		"conflict mark": {one + "<<<<<<< HEAD\n" + two, "a.jsonl:2: is not an event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir()
			writeCase(t, path, "a.jsonl", tc.text)
			d := opened(t, ledger.Open, path)
			_, _, err := d.Load(t.Context(), "a")
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "restore the file") {
				t.Errorf("Load: %v\nwant %s and a remedy", err, tc.want)
			}
			if _, err := ledger.Case(d, "a").Update(t.Context(), func(routing.Case) ([]routing.Event, error) {
				return []routing.Event{ledgertest.Note("a", "")}, nil
			}); err == nil {
				t.Error("Update goes on after a bad line")
			}
		})
	}
}

func writeCase(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "cases"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cases", name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDirKeysPassOverOtherFiles(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := opened(t, ledger.Open, path)
	if err := ledgertest.AppendAnyhow(t.Context(), d, "acme/app#1", ledgertest.Note("", "")); err != nil {
		t.Fatal(err)
	}
	writeCase(t, path, "README.md", "text")
	writeCase(t, path, "acme+app=1 (copy).jsonl", "text")
	if keys, err := d.Keys(t.Context()); err != nil || !slices.Equal(keys, []string{"acme/app#1"}) {
		t.Errorf("Keys = %q, %v", keys, err)
	}
	writeCase(t, path, strings.Repeat("x", 60)+"~~"+strings.Repeat("0", 32)+".jsonl", `{"type":"lease","stream":"b"}`+"\n")
	if _, err := d.Keys(t.Context()); err == nil || !strings.Contains(err.Error(), `jsonl:1: is of stream "b", whose file is b.jsonl`) {
		t.Errorf("Keys with a wrong name: %v", err)
	}
}

// The tests below run this test binary again as a process that appends.
const (
	childDir    = "SWITCHBACK_LEDGER_DIR"
	childName   = "SWITCHBACK_LEDGER_CHILD"
	childCount  = "SWITCHBACK_LEDGER_COUNT"
	childStream = "acme/app#1"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(appendForever(dir, os.Getenv(childName), os.Getenv(childCount)))
	}
	os.Exit(m.Run())
}

// appendForever appends count pairs of events and prints each once it is
// acknowledged.
func appendForever(dir, name, count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		return 2
	}
	d, err := ledger.Open(dir)
	if err != nil {
		return 3
	}
	for i := range n {
		note := fmt.Sprintf("%s.%d", name, i)
		err := ledgertest.AppendAnyhow(context.Background(), d, childStream, ledgertest.Note("", note+"a"), ledgertest.Note("", note+"b"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 4
		}
		fmt.Println(note)
	}
	return 0
}

func child(t *testing.T, dir, name string, count int) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childName+"="+name, childCount+"="+strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	const count = 60
	dir := t.TempDir()
	one, outOne := child(t, dir, "one", count)
	two, outTwo := child(t, dir, "two", count)
	for _, out := range []io.Reader{outOne, outTwo} {
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(one.Wait(), two.Wait()); err != nil {
		t.Fatal(err)
	}
	seen := pairs(t, dir)
	for name, n := range seen {
		if n != count {
			t.Errorf("process %s: %d appends of %d", name, n, count)
		}
	}
	if len(seen) != 2 {
		t.Errorf("appends of %v", seen)
	}
}

// pairs checks that the stream consists of whole appends, each process's in
// order and without gap, and returns how many there are of each.
func pairs(t *testing.T, dir string) map[string]int {
	t.Helper()
	events, _, err := opened(t, ledger.Open, dir).Load(t.Context(), childStream)
	if err != nil {
		t.Fatal(err)
	}
	notes, seen := ledgertest.Notes(events), map[string]int{}
	for i := 0; i < len(notes); i += 2 {
		name, _, _ := strings.Cut(notes[i], ".")
		want := fmt.Sprintf("%s.%d", name, seen[name])
		if i+1 == len(notes) || notes[i] != want+"a" || notes[i+1] != want+"b" {
			t.Fatalf("%q at %d, want %s", notes[i:min(i+2, len(notes))], i, want)
		}
		seen[name]++
	}
	return seen
}

// TestKilled kills a writing process a hundred times at any moment: what it
// said is written is there, of the append it died in there is all or nothing,
// and the next process goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	const kills = 100
	dir := t.TempDir()
	t.Run("S4-72", func(t *testing.T) {
		unsaid, midway := 0, 0
		for i := range kills {
			name := fmt.Sprint("p", i)
			acked := killOne(t, dir, name)
			if _, err := os.Stat(filepath.Join(dir, ".append")); err == nil {
				midway++ // a half-made file stays until the next append
			}
			switch n := pairs(t, dir)[name]; n {
			case acked:
			case acked + 1:
				unsaid++
			default:
				t.Fatalf("kill %d: %d appends, %d acknowledged", i, n, acked)
			}
		}
		t.Logf("%d kills: %d while a file was made, %d between an append and its acknowledgement", kills, midway, unsaid)
	})
	l := flock.New(filepath.Join(dir, ".lock"))
	if free, err := l.TryLock(); !free || err != nil {
		t.Errorf("the lock of a killed process holds: %v, %v", free, err)
	}
	_ = l.Close()
}

// killOne starts a writer and kills it within a few milliseconds of a few
// acknowledgements, and returns how many it made.
func killOne(t *testing.T, dir, name string) (acked int) {
	t.Helper()
	cmd, out := child(t, dir, name, 1_000_000)
	for range rand.N(4) {
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		acked++
	}
	time.AfterFunc(rand.N(4*time.Millisecond), func() { _ = cmd.Process.Kill() })
	for {
		if _, err := out.ReadString('\n'); err != nil {
			break // killed
		}
		acked++
	}
	_ = cmd.Wait() // "signal: killed"
	return acked
}
