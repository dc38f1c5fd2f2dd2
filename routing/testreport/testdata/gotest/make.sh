#!/bin/sh
# Makes the .txt and ../gotestjson/*.jsonl files here: the output of the real
# go test over a few packages that pass, fail, panic, hang and do not build.
# Paths of the machine are replaced. Needs go and, for -race, a C compiler.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf 'module example.com/m\n\ngo 1.24\n' > go.mod

pkg() { mkdir -p "$1"; printf 'package %s\n\n' "$1"; }

{ pkg pass; cat <<'G'
import "testing"

func TestOne(t *testing.T)   { t.Log("a note") }
func TestTwo(t *testing.T)   { t.Run("sub", func(t *testing.T) {}) }
func TestSkip(t *testing.T)  { t.Skip("not here") }
func BenchmarkOne(b *testing.B) { for b.Loop() {} }
G
} > pass.tmp; mv pass.tmp pass/a_test.go

{ pkg fail; cat <<'G'
import "testing"

func TestGotWant(t *testing.T) { t.Log("a note"); t.Errorf("Add(1, 1) = %d, want %d", 3, 2) }
func TestTable(t *testing.T) {
	for _, n := range []string{"good", "bad one", "deep"} {
		t.Run(n, func(t *testing.T) {
			if n == "bad one" {
				t.Fatal("broken\nover two lines")
			}
			if n == "deep" {
				t.Run("er", func(t *testing.T) { t.Error("expected 5, got 6") })
			}
		})
	}
}
func TestParallel(t *testing.T) {
	for _, n := range []string{"a", "b"} {
		t.Run(n, func(t *testing.T) { t.Parallel(); t.Log("log", n); if n == "b" { t.Error("b is wrong") } })
	}
}
func TestPass(t *testing.T) {}
G
} > fail.tmp; mv fail.tmp fail/a_test.go

{ pkg panics; cat <<'G'
import "testing"

func TestBefore(t *testing.T) {}
func TestPanic(t *testing.T) { t.Run("sub", func(t *testing.T) { var m map[string]int; m["a"] = 1 }) }
func TestAfter(t *testing.T) {}
G
} > panics.tmp; mv panics.tmp panics/a_test.go

{ pkg goroutine; cat <<'G'
import (
	"testing"
	"time"
)

func TestParallelIdle(t *testing.T) { t.Parallel(); time.Sleep(time.Second) }
func TestSpawns(t *testing.T) { t.Parallel(); go func() { panic("in a goroutine") }(); time.Sleep(time.Second) }
G
} > goroutine.tmp; mv goroutine.tmp goroutine/a_test.go

{ pkg hangs; cat <<'G'
import "testing"

func TestQuick(t *testing.T) {}
func TestHangs(t *testing.T) { select {} }
G
} > hangs.tmp; mv hangs.tmp hangs/a_test.go

{ pkg nobuild; printf 'func F() int { return "a" }\nfunc G() { undefined() }\n'; } > nobuild.tmp; mv nobuild.tmp nobuild/a.go
printf 'package nobuild\n\nimport "testing"\n\nfunc TestF(t *testing.T) { F() }\n' > nobuild/a_test.go

{ pkg vet; cat <<'G'
import (
	"fmt"
	"testing"
)

func TestF(t *testing.T) { fmt.Printf("%d\n", "a") }
G
} > vet.tmp; mv vet.tmp vet/a_test.go

{ pkg race; cat <<'G'
import "testing"

func TestRace(t *testing.T) {
	x, done := 0, make(chan bool)
	go func() { x++; close(done) }()
	x++
	<-done
}
func TestFine(t *testing.T) {}
G
} > race.tmp; mv race.tmp race/a_test.go

{ pkg mainexit; cat <<'G'
import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) { m.Run(); fmt.Println("the database is down"); os.Exit(3) }
func TestFine(t *testing.T) {}
G
} > mainexit.tmp; mv mainexit.tmp mainexit/a_test.go

{ pkg osexit; cat <<'G'
import (
	"os"
	"testing"
)

func TestFine(t *testing.T) {}
func TestExits(t *testing.T) { os.Exit(0) }
G
} > osexit.tmp; mv osexit.tmp osexit/a_test.go

{ pkg initpanic; printf 'import "testing"\n\nfunc init() { panic("no configuration") }\nfunc TestF(t *testing.T) {}\n'; } > initpanic.tmp; mv initpanic.tmp initpanic/a_test.go
{ pkg nodep; printf 'import (\n\t"testing"\n\n\t"example.org/missing/dep"\n)\n\nfunc TestF(t *testing.T) { dep.F() }\n'; } > nodep.tmp; mv nodep.tmp nodep/a_test.go
{ pkg syntax; printf 'func F( {\n'; } > syntax.tmp; mv syntax.tmp syntax/a_test.go
{ pkg counted; printf 'import "testing"\n\nvar n int\n\nfunc TestOdd(t *testing.T) { n++; if n == 2 { t.Error("the second run fails") } }\n'; } > counted.tmp; mv counted.tmp counted/a_test.go
{ pkg loud; printf 'import (\n\t"fmt"\n\t"strings"\n\t"testing"\n)\n\nfunc TestLoud(t *testing.T) { fmt.Print("no newline"); fmt.Println(strings.Repeat("x", 3000)); t.Error("loud") }\nfunc TestInline(t *testing.T) { fmt.Print("text") }\n'; } > loud.tmp; mv loud.tmp loud/a_test.go
{ pkg notests; printf 'func F() {}\n'; } > notests.tmp; mv notests.tmp notests/a.go

export GOFLAGS=-mod=mod GOPROXY=off NO_COLOR=1
goroot=$(go env GOROOT)
scrub() { sed -e "s#$work#/src/m#g" -e "s#$goroot#/usr/local/go#g" -e "s#$HOME#/home/ci#g" -e 's#cpu: [^"\\]*#cpu: some CPU#'; }
run() { # name, arguments: plain, verbose and JSON
	name=$1; shift
	go test "$@" 2>&1 | scrub > "$here/$name.txt"
	go test -v "$@" 2>&1 | scrub > "$here/$name-v.txt"
	go test -json "$@" 2>&1 | scrub > "$here/../gotestjson/$name.jsonl"
}
run pass -bench . -benchtime 10x ./pass ./notests
run fail ./fail ./pass
run panic ./panics
run goroutine ./goroutine
run timeout -timeout 1s ./hangs
run nobuild ./nobuild ./pass
run vet ./vet
run race -race ./race
run mainexit ./mainexit
run osexit ./osexit
run initpanic ./initpanic
run nodep ./nodep ./syntax
run count -count 3 ./counted
run loud ./loud
run shuffle -shuffle 7 -cover ./pass
go build ./... 2>&1 | scrub > "$here/build.txt"
go vet ./vet 2>&1 | scrub > "$here/govet.txt"
