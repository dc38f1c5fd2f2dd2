#!/bin/sh
# Makes the files beside it with Ginkgo 2 (a module of Go).
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
scrub() { sed -e "s#$dir#/project#g" -e "s#$(go env GOROOT)#/go#g" -e "s#$(go env GOPATH)#/gopath#g"; }
go mod init example.com/sample 2>/dev/null
mkdir sum setup build
cat > sum/sum_test.go <<'X'
package sum

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSum(t *testing.T) { RegisterFailHandler(Fail); RunSpecs(t, "Sum Suite") }

var n = 0

var _ = Describe("sum", func() {
	It("adds", func() { Expect(1 + 2).To(Equal(3)) })
	It("fails", func() { Expect(1 + 2).To(Equal(4)) })
	It("panics", func() { GinkgoWriter.Println("before the panic"); var m map[string]int; m["a"] = 1 })
	It("is slow", func(ctx SpecContext) { <-ctx.Done() }, NodeTimeout(50*time.Millisecond))
	PIt("is pending", func() {})
	It("is skipped", func() { Skip("not today") })
	It("passes in the end", FlakeAttempts(3), func() { n++; Expect(n).To(BeNumerically(">", 1)) })
	DescribeTable("table", func(a, b int) { Expect(a).To(Equal(b)) }, Entry("same", 1, 1), Entry("other", 1, 2))
	Context("with a broken BeforeEach", func() {
		BeforeEach(func() { Fail("no database") })
		It("needs the database", func() {})
	})
})
X
cat > setup/setup_test.go <<'X'
package setup

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSetup(t *testing.T) { RegisterFailHandler(Fail); RunSpecs(t, "Setup Suite") }

var _ = BeforeSuite(func() { Expect("up").To(Equal("down"), "the server") })
var _ = It("never runs", func() {})
X
go get github.com/onsi/ginkgo/v2@latest github.com/onsi/gomega@latest >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go install github.com/onsi/ginkgo/v2/ginkgo
PATH=$(go env GOPATH)/bin:$PATH
ginkgo run --json-report r.json --keep-going ./sum ./setup >/dev/null 2>&1 || true
scrub < r.json > "$out/failing.json"
ginkgo run --json-report g.json --focus adds ./sum >/dev/null 2>&1 || true
scrub < g.json > "$out/green.json"
printf 'package build\n\nimport "testing"\n\nfunc TestX(t *testing.T) { return 1 }\n' > build/b_test.go
ginkgo run --json-report b.json --keep-going ./build ./sum >/dev/null 2>&1 || true
scrub < b.json > "$out/build.json" || true
rm -rf "$dir"
