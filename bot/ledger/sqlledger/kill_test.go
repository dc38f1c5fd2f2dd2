package sqlledger_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing"
)

func notes(texts ...string) []routing.Event {
	var out []routing.Event
	for _, s := range texts {
		out = append(out, ledgertest.Note("", s))
	}
	return out
}

// TestKilled runs this test binary again as a process that appends.
const (
	childWhere  = "SWITCHBACK_SQLLEDGER"
	childName   = "SWITCHBACK_SQLLEDGER_CHILD"
	childStream = "acme/app#1"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(childWhere); where != "" {
		os.Exit(appendForever(where, os.Getenv(childName)))
	}
	os.Exit(m.Run())
}

// appendForever appends pairs of events, and prints each once acknowledged.
func appendForever(where, name string) int {
	l, err := sqlledger.Open(context.Background(), where, true)
	for i := 0; err == nil; i++ {
		note := fmt.Sprintf("%s.%d", name, i)
		if err = ledgertest.AppendAnyhow(context.Background(), l, childStream, notes(note+"a", note+"b")...); err == nil {
			fmt.Println(note)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// Two processes append to one stream, and one of them is killed, again and
// again: what it said is written is there, of the append it died in there is
// all or nothing, and nothing is there twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	const rounds = 12
	onEach(t, func(t *testing.T, where string) {
		acked := map[string]int{}
		for i := range rounds {
			first, second := fmt.Sprint("one", i), fmt.Sprint("two", i)
			done := make(chan int)
			go func() { done <- killOne(t, where, second) }()
			acked[first] = killOne(t, where, first)
			acked[second] = <-done
		}
		events, _, err := opened(t, where).Load(t.Context(), childStream)
		if err != nil {
			t.Fatal(err)
		}
		written := pairs(t, ledgertest.Notes(events))
		unsaid := 0
		for name, n := range acked {
			switch written[name] - n {
			case 0:
			case 1:
				unsaid++ // killed between the commit and the word of it
			default:
				t.Errorf("%s: %d appends, %d acknowledged", name, written[name], n)
			}
		}
		t.Logf("%d kills, %d events, %d appends not acknowledged", len(acked), len(events), unsaid)
	})
}

// pairs checks that the stream consists of whole appends, each process's in
// order and without gap, and returns how many there are of each.
func pairs(t *testing.T, notes []string) map[string]int {
	t.Helper()
	seen := map[string]int{}
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

// killOne starts a writer and kills it within a few milliseconds of a few
// acknowledgements, and returns how many it made.
func killOne(t *testing.T, where, name string) (acked int) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childWhere+"="+where, childName+"="+name)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return 0
	}
	out := bufio.NewReader(pipe)
	killAt := 1 + rand.N(4)
	for {
		if _, err := out.ReadString('\n'); err != nil {
			break // killed
		}
		if acked++; acked == killAt {
			time.AfterFunc(rand.N(8*time.Millisecond), func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%s: %v", name, err)
	}
	return acked
}
